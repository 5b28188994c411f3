import { createHash } from 'node:crypto';
import { parseConsumers, type Consumer } from './consumers';

/** So many different credentials are kept; a process rarely serves more surfaces. */
const KEPT = 200;
const known = new Map<string, readonly Consumer[]>();

/**
 * As {@link parseConsumers}, but remembers what the same credential was parsed into: it comes with every request, and
 * checking and hashing a list costs more than the rest of a ping. It is known by its hash, so that no bearer is kept.
 * Failures are not remembered.
 */
export function rememberedConsumers(credential: unknown): readonly Consumer[] {
  const key = createHash('sha256')
    .update(JSON.stringify(credential ?? null))
    .digest('base64');
  const hit = known.get(key);
  if (hit) return hit;
  const parsed = parseConsumers(credential);
  const oldest = known.keys().next();
  if (known.size >= KEPT && !oldest.done) known.delete(oldest.value);
  known.set(key, parsed);
  return parsed;
}
