import { putBounded } from '../policy/boundedMap';

/**
 * Remembers what a parameter text was parsed into. A node is asked for the same text on every request, and parsing
 * and hashing a contract costs more than answering a list. Failures are not remembered.
 *
 * @param limit most texts kept; when it is reached the oldest is dropped
 * @param keyOf under what a text is known; a hash for one that must not be kept
 */
export function rememberParsed<T>(
  parse: (text: string) => T,
  limit = 200,
  keyOf: (text: string) => string = (text) => text,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const key = keyOf(text);
    const hit = known.get(key);
    if (hit !== undefined) return hit;
    const parsed = parse(text);
    putBounded(known, key, parsed, limit);
    return parsed;
  };
}
