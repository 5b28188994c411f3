import { PolicyError } from '../policy/errors';

/**
 * A value as upstream reads it. A list or object has no such form, and is in no slot that lint lets pass.
 *
 * @throws PolicyError `arguments_invalid`
 */
export function scalarText(value: unknown, argument: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new PolicyError('arguments_invalid', `Argument /${argument} must be text, a number, true or false.`, {
    pointer: `/${argument}`,
  });
}

/**
 * Separators, dot segments and what cannot be encoded. Encoded separators count although they would be encoded once
 * more: a proxy that decodes before it routes would climb with them.
 */
const NO_SEGMENT = /^\.{0,2}$|[/\\\p{Cc}\p{Cs}]|%2e|%2f|%5c|%00/iu;

export const isSegment = (text: string): boolean => !NO_SEGMENT.test(text);

/**
 * A value as exactly one path segment.
 *
 * @throws PolicyError `arguments_invalid`
 */
export function pathSegment(value: string, argument: string): string {
  if (isSegment(value)) return encodeURIComponent(value);
  throw new PolicyError(
    'arguments_invalid',
    `Argument /${argument} must be one plain path segment without slashes or dot segments.`,
    { pointer: `/${argument}` },
  );
}

/**
 * A value with slashes, such as the path of a file: every part is a plain segment, so that none of them climbs.
 *
 * @param join what stands between the parts upstream
 * @throws PolicyError `arguments_invalid`
 */
export function pathSegments(value: string, argument: string, join: string): string {
  const parts = value.split('/');
  if (parts.every(isSegment)) return parts.map(encodeURIComponent).join(join);
  throw new PolicyError(
    'arguments_invalid',
    `Argument /${argument} must be a plain path: no slash at its ends, no empty parts, no dot segments.`,
    { pointer: `/${argument}` },
  );
}
