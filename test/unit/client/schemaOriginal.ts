import type { JsonSchema } from '../../../core/contract/pin';

/** What is left of a schema for models when everything is taken away that the original does not say. */
export function withoutAdditions(shown: unknown, original: unknown): unknown {
  if (Array.isArray(shown) && Array.isArray(original))
    return shown.map((entry, index) => withoutAdditions(entry, original[index]));
  if (!isObject(shown) || !isObject(original)) return shown;
  return Object.fromEntries(
    Object.entries(shown)
      .filter(([key, value]) => Object.hasOwn(original, key) || !isAddition(key, value))
      .map(([key, value]) => [key, withoutAdditions(value, original[key])]),
  );
}

/** All that may be added: what JSON Schema means anyway. */
function isAddition(key: string, value: unknown): boolean {
  return (
    (key === 'type' && value === 'object') ||
    (['items', 'properties'].includes(key) && JSON.stringify(value) === '{}')
  );
}

const isObject = (value: unknown): value is JsonSchema =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
