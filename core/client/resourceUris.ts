import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';

/**
 * `{name}` stands for one part of a path: no slash, no query, no way up, and no escape behind which one of them could
 * stand, `%25` included, since some servers decode twice.
 */
const VARIABLE = /\{[A-Za-z_][A-Za-z0-9_]{0,63}\}/;
const ONE = '[^/?#%\\\\\\s\\p{C}]';
const ESCAPE = '%(?!2[eEfF]|5[cC]|23|25|3[fF]|[01]|[cC][01])[0-9a-fA-F]{2}';
const PART = `(?!\\.{1,2}(?:[/?#]|$))(?:${ONE}|${ESCAPE})+`;
const LONGEST_URI = 4_096;

/**
 * Whether a resource may be read.
 *
 * @param allowed exact URIs, or templates such as `wiki://{page}`
 * @throws PolicyError `allowlist_empty`, `pin_malformed`, `resource_not_allowed`
 */
export function checkResourceUri(allowed: unknown, uri: string): void {
  if (!Array.isArray(allowed) || allowed.length === 0) {
    throw new PolicyError('allowlist_empty', 'No resource is allowed; list the URIs that may be read.');
  }
  if (!allowed.some((entry) => matches(entry, uri))) {
    throw new PolicyError(
      'resource_not_allowed',
      `The resource ${foreignText(uri, 200)} is not one of those that may be read.`,
    );
  }
}

function matches(entry: unknown, uri: string): boolean {
  if (typeof entry !== 'string' || entry.trim() === '') {
    throw new PolicyError('pin_malformed', 'The list of allowed resources has an empty or unreadable entry.');
  }
  if (entry === uri) return true;
  const fixed = entry.split(VARIABLE);
  if (fixed.length === 1 || uri.length > LONGEST_URI) return false;
  return new RegExp(`^${fixed.map(literally).join(PART)}$`, 'u').test(uri);
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
