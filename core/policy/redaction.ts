import { parsePath, type PathSegment } from '../contract/paths';

export const REDACTED = '[redacted]';

/**
 * Replaces what stands at each path by {@link REDACTED}, in place. A path that leads nowhere is no fault: upstream
 * may leave a field out. `null` stays `null`, since it says that nothing is there.
 */
export function redactPaths(value: unknown, paths: readonly string[]): void {
  for (const path of paths) redactAt(value, parsePath(path), 0);
}

function redactAt(value: unknown, path: readonly PathSegment[], depth: number): void {
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
    if (depth < path.length - 1) redactAt(container[key], path, depth + 1);
    else if (container[key] !== null) container[key] = REDACTED;
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
