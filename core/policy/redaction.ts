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

/** Control characters and the Unicode line and direction marks that could forge a log line or hide text. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g;

/**
 * Foreign text made fit for an answer or a log line: one line, no invisible characters, at most `maximum`
 * characters, and none of `secrets` in it.
 */
export function foreignText(text: string, maximum: number, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) if (secret.length > 3) clean = clean.split(secret).join(REDACTED);
  clean = clean.replace(UNSAFE, ' ').trim();
  return clean.length <= maximum ? clean : `${clean.slice(0, maximum - 1)}…`;
}
