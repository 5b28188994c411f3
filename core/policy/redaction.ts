import { parsePaths, type PathSegment } from '../contract/paths';

export const REDACTED = '[redacted]';

/**
 * Replaces what stands at each path by {@link REDACTED}, in place. A path that leads nowhere is no fault: upstream
 * may leave a field out. `null` stays `null`, since it says that nothing is there.
 */
export function redactPaths(value: unknown, paths: readonly string[]): void {
  replacePaths(value, paths, (found) => (found === null ? null : REDACTED));
}

/** Replaces what stands at each path by what `replacement` makes of it, in place. */
export function replacePaths(
  value: unknown,
  paths: readonly string[],
  replacement: (found: unknown) => unknown,
): void {
  for (const path of parsePaths(paths)) replaceAt(value, path, 0, replacement);
}

function replaceAt(
  value: unknown,
  path: readonly PathSegment[],
  depth: number,
  replacement: (found: unknown) => unknown,
): void {
  const segment = path[depth];
  if (segment === undefined || value === null || typeof value !== 'object') return;
  const container = value as Record<string, unknown>;
  const keys =
    segment.kind === 'key'
      ? Object.hasOwn(container, segment.key)
        ? [segment.key]
        : []
      : Object.keys(container);
  for (const key of keys) {
    if (depth < path.length - 1) replaceAt(container[key], path, depth + 1, replacement);
    else container[key] = replacement(container[key]);
  }
}

/**
 * What could forge a log line, turn text around or hide text in it: control, format, tag and filler characters,
 * variation selectors, line separators, halves of surrogate pairs.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/**
 * Foreign text made fit for an answer or a log line: one line, no invisible characters, at most `maximum`
 * characters, and none of `secrets` in it, in whatever case.
 */
export function foreignText(text: string, maximum: number, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) if (secret.length > 3) clean = clean.replace(literally(secret), REDACTED);
  clean = clean.replace(UNSAFE, ' ').trim();
  return clean.length <= maximum ? clean : `${headOf(clean, maximum - 1)}…`;
}

function literally(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'gi');
}

/** The first `maximum` characters; half of a surrogate pair at the end is left out. */
export function headOf(text: string, maximum: number): string {
  const head = text.slice(0, maximum);
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}

/** A token of a sentence that names a host: an address with or without a scheme, user and password, an IP address. */
const NAMES_A_HOST = [
  /\/\//,
  /:[^:@]{0,256}@/,
  /(?:^|[^\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/,
  /^[[(]?(?=[^:]*:[^:]*:)[\da-f:.]{2,45}[\])]?/i,
];

/**
 * The sentence of a foreign error without the addresses that such sentences hold ("connect ECONNREFUSED 10.0.0.5:80").
 * Whole tokens are taken out: n8n cuts some messages at their colons, so a scheme may be missing. The time taken grows
 * with the length of what is looked at, which is bounded, and with nothing else.
 */
export function withoutAddresses(sentence: string, maximum: number): string {
  const tokens = headOf(sentence, LOOKED_AT).split(/([\s"'<>]+)/);
  const clean = tokens.map((token) => (NAMES_A_HOST.some((host) => host.test(token)) ? REDACTED : token));
  return foreignText(clean.join(''), maximum);
}

const LOOKED_AT = 2_000;
