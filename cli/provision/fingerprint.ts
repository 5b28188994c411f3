import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { canonicalJson } from '../../core/contract/canonical';

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

/**
 * Slow enough that a weak secret is guessed from a ledger some hundred times per second at most, and fast enough that a
 * plan over sixty surfaces takes three.
 */
const COST = { N: 2_048, r: 8, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const FORM = /^scrypt\$(?<salt>[\w-]{22})\$(?<hash>[\w-]{43})$/;

/** A salted slow hash of what a credential holds: it says whether that has changed, and nothing else. */
export async function fingerprintOf(data: unknown): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(canonicalJson(data), salt, HASH_BYTES, COST);
  return `scrypt$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

/** Whether `data` is what a fingerprint was made of. An unreadable fingerprint matches nothing. */
export async function matchesFingerprint(data: unknown, fingerprint: string): Promise<boolean> {
  const { salt, hash } = FORM.exec(fingerprint)?.groups ?? {};
  if (salt === undefined || hash === undefined) return false;
  const found = await derive(canonicalJson(data), Buffer.from(salt, 'base64url'), HASH_BYTES, COST);
  return timingSafeEqual(found, Buffer.from(hash, 'base64url'));
}
