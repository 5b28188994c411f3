import { timingSafeEqual } from 'node:crypto';
import { PolicyError } from '../policy/errors';
import { BEARER_TOKEN, sha256 } from './bearer';
import type { Consumer } from './consumers';

/** Characters of a header with a bearer of ours. */
const LONGEST_HEADER = 4_096;
/** The scheme is compared without case (RFC 9110, section 11.1). */
const BEARER = new RegExp(`^bearer +(${BEARER_TOKEN})$`, 'i');

/**
 * Finds the consumer that a request's bearer names.
 *
 * Every digest is compared in constant time and none is skipped, so neither the position of a consumer in the list
 * nor whether one matched shows in the time taken.
 *
 * @param authorization every value of the `Authorization` header as received, doubled ones included
 * @param now milliseconds since the epoch
 * @throws PolicyError `bearer_missing`, `bearer_malformed`, `bearer_invalid` or `bearer_expired`
 */
export function authenticate(
  authorization: readonly string[],
  consumers: readonly Consumer[],
  now: number,
): Consumer {
  const presented = sha256(bearerOf(authorization, LONGEST_HEADER));
  let found: Consumer | undefined;
  for (const consumer of consumers) {
    for (const digest of consumer.digests) {
      if (timingSafeEqual(digest, presented)) found = consumer;
    }
  }
  if (!found)
    throw new PolicyError(
      'bearer_invalid',
      'The bearer is not known here; ask the operator for a valid one.',
    );
  if (found.expiresAt !== null && now >= found.expiresAt) {
    throw new PolicyError('bearer_expired', 'The bearer has expired; ask the operator for a new one.');
  }
  return found;
}

/**
 * The one bearer of a request.
 *
 * @param longest characters of the whole header
 * @throws PolicyError `bearer_missing` or `bearer_malformed`
 */
export function bearerOf(authorization: readonly string[], longest: number): string {
  const [header, second] = authorization;
  if (header === undefined || header.trim() === '') {
    throw new PolicyError('bearer_missing', 'Send the header Authorization: Bearer <token>.');
  }
  const token =
    second === undefined && header.length <= longest ? BEARER.exec(header.trim())?.[1] : undefined;
  if (token === undefined) {
    throw new PolicyError('bearer_malformed', 'Send exactly one header Authorization: Bearer <token>.');
  }
  return token;
}
