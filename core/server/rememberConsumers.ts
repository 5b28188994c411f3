import { createHash } from 'node:crypto';
import { rememberParsed } from '../contract/rememberParsed';
import { parseConsumers, type Consumer } from './consumers';

/** So many different credentials are kept; a process rarely serves more surfaces. */
const KEPT = 200;

const ofJson = rememberParsed(
  (json): readonly Consumer[] => parseConsumers(JSON.parse(json)),
  KEPT,
  (json) => createHash('sha256').update(json).digest('base64'),
);

/**
 * As {@link parseConsumers}, but remembers what the same credential was parsed into: it comes with every request, and
 * checking and hashing a list costs more than the rest of a ping. It is known by its hash, so that no bearer is kept.
 * Failures are not remembered.
 */
export function rememberedConsumers(credential: unknown): readonly Consumer[] {
  return ofJson(JSON.stringify(credential ?? null));
}
