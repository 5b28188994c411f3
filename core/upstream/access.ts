import { PolicyError } from '../policy/errors';
import type { AUTHENTICATION_KINDS } from '../contract/schema';
import { isCredentialHeader, isHeaderValue } from '../policy/headers';
import { parseSettings, type UpstreamSettings } from './settings';

type AuthenticationKind = (typeof AUTHENTICATION_KINDS)[number];

/** What an upstream credential holds, as its fields are named in n8n. */
export interface UpstreamCredential {
  readonly baseUrl: string;
  readonly authentication: AuthenticationKind;
  /** Header name, user name or parameter name; unused by none, bearer, body and the signatures. */
  readonly name?: string | undefined;
  /** Token, header value, password, parameter value or signing secret; unused by none. */
  readonly secret?: string | undefined;
  /** Lines of `name = value`. */
  readonly settings?: string | undefined;
}

/** The fixed part of every request: origin, path prefix and how we show who we are. */
export interface UpstreamAccess {
  readonly base: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Texts that must never appear in an answer or a log line. */
  readonly secrets: readonly string[];
  readonly kind: AuthenticationKind;
  /** User name; empty where the kind has none. */
  readonly account: string;
  /** The secret itself, for kinds that send it neither as a header nor as a parameter; else empty. */
  readonly secret: string;
  readonly settings: UpstreamSettings;
}

type Address = Pick<UpstreamAccess, 'base'>;

/** The path under which the application is served; empty at the root. */
export const prefixOf = ({ base }: Address): string => base.pathname.replace(/\/+$/, '');

/** The address of a path of the application. */
export function addressBelow(access: Address, path: string): URL {
  const url = new URL(access.base);
  url.pathname = prefixOf(access) + path;
  return url;
}

/** Neither a header nor a parameter can carry these: control characters and halves of surrogate pairs. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;

/** @throws PolicyError `credential_missing` that names the field to correct, never its value */
export function upstreamAccess(credential: UpstreamCredential): UpstreamAccess {
  const kind = credential.authentication;
  const common = {
    base: baseUrl(credential.baseUrl),
    headers: {},
    query: {},
    secrets: [],
    kind,
    account: '',
    secret: '',
    settings: parseSettings(credential.settings ?? ''),
  };
  if (kind === 'none') return common;
  const name = (credential.name ?? '').trim();
  const secret = credential.secret ?? '';
  if (secret === '') throw incomplete('the secret is empty');
  if (UNFIT.test(secret)) {
    throw incomplete('the secret holds a control character, a line break or broken Unicode');
  }
  const sent = new URLSearchParams({ '': secret }).toString().slice(1);
  const secrets = [...new Set([secret, encodeURIComponent(secret), sent])];
  switch (kind) {
    case 'bearer':
      return { ...common, headers: { authorization: `Bearer ${inHeader(secret)}` }, secrets };
    case 'header': {
      const header = name.toLowerCase();
      if (!isCredentialHeader(header)) throw incomplete('the header name cannot be used');
      return {
        ...common,
        headers: { [header]: inHeader(secret) },
        secrets: [...secrets, ...partsOf(secret)],
      };
    }
    case 'basic': {
      if (name === '' || name.includes(':')) throw incomplete('the user name is empty or holds a colon');
      const encoded = Buffer.from(`${name}:${secret}`, 'utf8').toString('base64');
      const headers = { authorization: `Basic ${encoded}` };
      return { ...common, headers, secrets: [...secrets, encoded], account: name };
    }
    case 'query':
      if (name === '') throw incomplete('the name of the query parameter is empty');
      return { ...common, query: { [name]: secret }, secrets };
    case 'body':
    case 'session':
    case 'bigbluebutton':
    case 'yourls':
      return { ...common, secrets, account: name, secret };
    default:
      throw incomplete('the authentication kind is unknown');
  }
}

/** A header value such as `token abc` holds the token as a part. */
function partsOf(secret: string): string[] {
  return secret.split(/[\s"'=:,]+/).filter((part) => part.length >= 8);
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
