import { PolicyError } from '../policy/errors';
import { isCredentialHeader, isHeaderValue } from '../policy/headers';

/** What an upstream credential holds, as its fields are named in n8n. */
export interface UpstreamCredential {
  readonly baseUrl: string;
  readonly authentication: 'none' | 'bearer' | 'header' | 'basic' | 'query';
  /** Header name, user name or parameter name; unused by none and bearer. */
  readonly name?: string | undefined;
  /** Token, header value, password or parameter value; unused by none. */
  readonly secret?: string | undefined;
}

/** The fixed part of every request: origin, path prefix and how we show who we are. */
export interface UpstreamAccess {
  readonly base: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Texts that must never appear in an answer or a log line. */
  readonly secrets: readonly string[];
}

/** Neither a header nor a parameter can carry these: control characters and halves of surrogate pairs. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;

/** @throws PolicyError `credential_missing` that names the field to correct, never its value */
export function upstreamAccess(credential: UpstreamCredential): UpstreamAccess {
  const base = baseUrl(credential.baseUrl);
  if (credential.authentication === 'none') return { base, headers: {}, query: {}, secrets: [] };
  const name = (credential.name ?? '').trim();
  const secret = credential.secret ?? '';
  if (secret === '') throw incomplete('the secret is empty');
  if (UNFIT.test(secret)) {
    throw incomplete('the secret holds a control character, a line break or broken Unicode');
  }
  switch (credential.authentication) {
    case 'bearer':
      return { base, headers: { authorization: `Bearer ${inHeader(secret)}` }, query: {}, secrets: [secret] };
    case 'header': {
      const header = name.toLowerCase();
      if (!isCredentialHeader(header)) throw incomplete('the header name cannot be used');
      return { base, headers: { [header]: inHeader(secret) }, query: {}, secrets: [secret] };
    }
    case 'basic': {
      if (name === '' || name.includes(':')) throw incomplete('the user name is empty or holds a colon');
      const encoded = Buffer.from(`${name}:${secret}`, 'utf8').toString('base64');
      return { base, headers: { authorization: `Basic ${encoded}` }, query: {}, secrets: [secret, encoded] };
    }
    case 'query': {
      if (name === '') throw incomplete('the name of the query parameter is empty');
      const sent = new URLSearchParams({ '': secret }).toString().slice(1);
      return {
        base,
        headers: {},
        query: { [name]: secret },
        secrets: [secret, encodeURIComponent(secret), sent],
      };
    }
    default:
      throw incomplete('the authentication kind is unknown');
  }
}

function inHeader(secret: string): string {
  if (!isHeaderValue(secret)) throw incomplete('the secret holds characters that no header can carry');
  return secret;
}

function baseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw incomplete('the base address is not an address such as https://app.example.com');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw incomplete('the base address must be http or https');
  if (url.username !== '' || url.password !== '')
    throw incomplete('the base address must not hold a user or password');
  if (url.search !== '' || url.hash !== '')
    throw incomplete('the base address must not hold a query or fragment');
  return url;
}

function incomplete(reason: string): PolicyError {
  return new PolicyError('credential_missing', `The upstream credential cannot be used: ${reason}.`);
}
