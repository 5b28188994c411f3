import { PolicyError } from '../policy/errors';

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

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Headers that frame the request; a credential that sets one could change what is asked. */
const FRAMING = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'cookie',
  'accept',
]);
 
const HEADER_VALUE = /^[^\u0000-\u001f\u007f]+$/;

/** @throws PolicyError `credential_missing` that names the field to correct, never its value */
export function upstreamAccess(credential: UpstreamCredential): UpstreamAccess {
  const base = baseUrl(credential.baseUrl);
  if (credential.authentication === 'none') return { base, headers: {}, query: {}, secrets: [] };
  const name = (credential.name ?? '').trim();
  const secret = credential.secret ?? '';
  if (secret === '') throw incomplete('the secret is empty');
  if (!HEADER_VALUE.test(secret)) throw incomplete('the secret holds a control character or a line break');
  switch (credential.authentication) {
    case 'bearer':
      return { base, headers: { authorization: `Bearer ${secret}` }, query: {}, secrets: [secret] };
    case 'header': {
      const header = name.toLowerCase();
      if (!HEADER_NAME.test(header) || FRAMING.has(header))
        throw incomplete('the header name cannot be used');
      return { base, headers: { [header]: secret }, query: {}, secrets: [secret] };
    }
    case 'basic': {
      if (name === '' || name.includes(':')) throw incomplete('the user name is empty or holds a colon');
      const encoded = Buffer.from(`${name}:${secret}`, 'utf8').toString('base64');
      return { base, headers: { authorization: `Basic ${encoded}` }, query: {}, secrets: [secret, encoded] };
    }
    case 'query': {
      if (name === '') throw incomplete('the name of the query parameter is empty');
      return { base, headers: {}, query: { [name]: secret }, secrets: [secret, encodeURIComponent(secret)] };
    }
    default:
      throw incomplete('the authentication kind is unknown');
  }
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
