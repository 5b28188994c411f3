/** Keeps a value under its key; a map that holds `limit` entries already loses its oldest. */
export function putBounded<T>(map: Map<string, T>, key: string, value: T, limit: number): void {
  const oldest = map.keys().next();
  if (map.size >= limit && !oldest.done) map.delete(oldest.value);
  map.set(key, value);
}
