import { sha256Of } from '../contract/canonical';
import { PolicyError } from '../policy/errors';
import { isCredentialHeader, isHeaderValue } from '../policy/headers';
import { egressPolicy, type EgressPolicy } from './networks';

export type TransportChoice = 'auto' | 'httpStreamable' | 'sse';

/** What the credential of a foreign MCP server holds, as its fields are named in n8n. */
export interface ServerCredential {
  readonly endpoint: string;
  readonly transport?: TransportChoice | undefined;
  readonly authentication: 'none' | 'bearer' | 'header' | 'headers' | 'clientCredentials' | 'privateKeyJwt';
  readonly token?: string | undefined;
  readonly headerName?: string | undefined;
  readonly headerSecret?: string | undefined;
  /** A JSON object of header names and values. */
  readonly secretHeaders?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** PKCS #8 in PEM. */
  readonly privateKey?: string | undefined;
  readonly algorithm?: string | undefined;
  /** The one authorization server that may be shown the secret. */
  readonly issuer?: string | undefined;
  readonly scope?: string | undefined;
  readonly allowedNetworks?: string | undefined;
}

/** How tokens are got, where the server wants OAuth 2 (RFC 6749, section 4.4; RFC 7523 for the private key). */
export interface ClientCredentials {
  readonly clientId: string;
  readonly issuer: string;
  readonly scope: string | undefined;
  readonly secret:
    { readonly clientSecret: string } | { readonly privateKey: string; readonly algorithm: string };
}

/** A foreign MCP server and how we show it who we are. */
export interface ServerAccess {
  readonly endpoint: URL;
  readonly transport: TransportChoice;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth: ClientCredentials | undefined;
  readonly policy: EgressPolicy;
  /** Texts that must never appear in an answer or a log line. */
  readonly secrets: readonly string[];
  /** The same for the same credential, and for no other. Not reversible. */
  readonly fingerprint: string;
}

const TRANSPORTS: readonly unknown[] = ['auto', 'httpStreamable', 'sse'];
const ALGORITHMS = new Set(['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA']);
const policies = new Map<string, EgressPolicy>();
const MOST_POLICIES = 200;

/**
 * Reads a credential. Everything in it is checked before anything is sent.
 *
 * @throws PolicyError `credential_missing` or `endpoint_invalid` that names the field to correct, never its value
 */
export function serverAccess(credential: ServerCredential): ServerAccess {
  const endpoint = endpointUrl(text(credential.endpoint));
  const transport = credential.transport ?? 'auto';
  if (!TRANSPORTS.includes(transport)) throw incomplete('the transport is unknown');
  const { headers, oauth, secrets } = authentication(credential);
  return {
    endpoint,
    transport,
    headers,
    oauth,
    secrets,
    policy: policyOf(text(credential.allowedNetworks)),
    fingerprint: sha256Of([
      endpoint.href,
      transport,
      headers,
      oauth ?? null,
      text(credential.allowedNetworks),
    ]),
  };
}

type Shown = Pick<ServerAccess, 'headers' | 'oauth' | 'secrets'>;

function authentication(credential: ServerCredential): Shown {
  switch (credential.authentication) {
    case 'none':
      return { headers: {}, oauth: undefined, secrets: [] };
    case 'bearer': {
      // People paste what they were shown, scheme included.
      const token = text(credential.token).replace(/^(?:bearer(?:\s+|$))+/i, '');
      if (token === '') throw incomplete('the token is empty');
      return shown({ authorization: `Bearer ${token}` }, [token]);
    }
    case 'header': {
      const value = text(credential.headerSecret);
      return shown({ [text(credential.headerName)]: value }, withoutScheme([value]));
    }
    case 'headers': {
      const headers = headersOf(text(credential.secretHeaders));
      return shown(headers, withoutScheme(Object.values(headers)));
    }
    case 'clientCredentials':
      return withOauth(credential, { clientSecret: required(credential.clientSecret, 'the client secret') });
    case 'privateKeyJwt': {
      const algorithm = text(credential.algorithm) || 'RS256';
      if (!ALGORITHMS.has(algorithm))
        throw incomplete('the algorithm is none of those that sign with a private key');
      return withOauth(credential, {
        privateKey: required(credential.privateKey, 'the private key'),
        algorithm,
      });
    }
    default:
      throw incomplete('the authentication kind is unknown');
  }
}

function withOauth(credential: ServerCredential, secret: ClientCredentials['secret']): Shown {
  const clientId = required(credential.clientId, 'the client ID');
  const issuer = required(credential.issuer, 'the issuer');
  if (!URL.canParse(issuer))
    throw incomplete('the issuer is not an address such as https://login.example.com');
  const scope = text(credential.scope) || undefined;
  return { headers: {}, oauth: { clientId, issuer, scope, secret }, secrets: Object.values(secret) };
}

function required(value: string | undefined, what: string): string {
  const given = text(value);
  if (given === '') throw incomplete(`${what} is empty`);
  return given;
}

/** Values of headers, and what follows a scheme such as `Token`: a server may repeat only that. */
function withoutScheme(values: readonly string[]): string[] {
  return values.flatMap((value) => [value, ...value.split(/\s+/).slice(1)]);
}

/** The transport sets these itself. */
const OF_THE_PROTOCOL = /^(?:mcp-.*|accept|content-type|last-event-id)$/;

function shown(given: Record<string, string>, secrets: readonly string[]): Shown {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const lower = name.trim().toLowerCase();
    if (!isCredentialHeader(lower) || OF_THE_PROTOCOL.test(lower)) {
      throw incomplete('a header name cannot be used');
    }
    if (value === '') throw incomplete('the value of a header is empty');
    if (!isHeaderValue(value)) throw incomplete('the secret holds characters that no header can carry');
    headers[lower] = value;
  }
  return { headers, oauth: undefined, secrets };
}

function headersOf(json: string): Record<string, string> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw incomplete('the headers are not valid JSON');
  }
  const entries =
    value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : [];
  if (entries.length === 0 || !entries.every(([, entry]) => typeof entry === 'string')) {
    throw incomplete('the headers must be a JSON object of names and texts');
  }
  return Object.fromEntries(entries);
}

function policyOf(allowed: string): EgressPolicy {
  const known = policies.get(allowed);
  if (known) return known;
  const policy = egressPolicy(allowed);
  // An expression in n8n could give another one each time.
  if (policies.size >= MOST_POLICIES) policies.clear();
  policies.set(allowed, policy);
  return policy;
}

/** @throws PolicyError `endpoint_invalid` */
export function endpointUrl(given: string): URL {
  if (!URL.canParse(given)) throw invalid('is not an address such as https://mcp.example.com/mcp');
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalid('must be http or https');
  if (url.username !== '' || url.password !== '') throw invalid('must not hold a user or password');
  url.hash = '';
  return url;
}

/** An expression in n8n can give anything, `undefined` and numbers included. */
function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function invalid(reason: string): PolicyError {
  return new PolicyError('endpoint_invalid', `The endpoint ${reason}.`);
}

function incomplete(reason: string): PolicyError {
  return new PolicyError('credential_missing', `The credential of the MCP server cannot be used: ${reason}.`);
}
