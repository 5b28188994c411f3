/**
 * Remembers what a parameter text was parsed into. A node is asked for the same text on every request, and parsing
 * and hashing a contract costs more than answering a list. Failures are not remembered.
 *
 * @param limit most texts kept; when it is reached the oldest is dropped
 */
export function rememberParsed<T>(parse: (text: string) => T, limit = 200): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const hit = known.get(text);
    if (hit !== undefined) return hit;
    const parsed = parse(text);
    const oldest = known.keys().next();
    if (known.size >= limit && !oldest.done) known.delete(oldest.value);
    known.set(text, parsed);
    return parsed;
  };
}
