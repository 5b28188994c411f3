import { createHash, randomBytes } from 'node:crypto';

/** The characters of a bearer, as the source of a pattern: `b64token` of RFC 6750, section 2.1. */
export const BEARER_TOKEN = '[A-Za-z0-9\\-._~+/]+=*';

/** A new bearer, and the hash that n8n keeps of it. */
export interface NewBearer {
  /** 256 random bits, base64url. */
  readonly token: string;
  /** 64 hex digits. */
  readonly sha256: string;
}

export function makeBearer(): NewBearer {
  const token = randomBytes(32).toString('base64url');
  return { token, sha256: sha256(token).toString('hex') };
}

/** The digest of a bearer, 32 bytes. */
export function sha256(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}
