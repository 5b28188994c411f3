import type { z } from 'zod';
import { PolicyError } from '../policy/errors';

/**
 * Parses a JSON parameter against its schema.
 *
 * @throws PolicyError `surface_unconfigured` that names the parameter, the path in it and the reason
 */
export function parseJson<T>(schema: z.ZodType<T>, text: string, parameter: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text, finite);
  } catch {
    throw new PolicyError('surface_unconfigured', `${parameter} is not valid JSON.`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.map(String).join('.') ?? '';
  throw new PolicyError(
    'surface_unconfigured',
    `${parameter} cannot be used: ${at === '' ? '' : `${at} `}${issue?.message ?? 'does not match its schema'}.`,
  );
}

/** `1e999` reads as Infinity, which has no canonical form and so no pin. */
function finite(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('The number is too large.');
  return value;
}
