import { PolicyError } from '../policy/errors';

/** Entries of one page. Clients that read the first page only still see what a curated surface has. */
export const LIST_PAGE = 100;

/** A page of a list, and where the next one starts. */
export interface ListPage<T> {
  readonly entries: readonly T[];
  readonly nextCursor?: string;
}

/**
 * Cuts a list into pages. A cursor is the position in a list that has a fixed order, so that any process can go on
 * where another one stopped.
 *
 * @throws PolicyError `cursor_invalid`
 */
export function pageOf<T>(entries: readonly T[], cursor: string | undefined): ListPage<T> {
  const start = cursor === undefined ? 0 : positionOf(cursor);
  if (start > 0 && start >= entries.length) throw invalid();
  const end = start + LIST_PAGE;
  return {
    entries: entries.slice(start, end),
    ...(end < entries.length ? { nextCursor: Buffer.from(`p${String(end)}`).toString('base64url') } : {}),
  };
}

function positionOf(cursor: string): number {
  const position = /^p([1-9]\d{0,6})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  if (position === undefined || Number(position) % LIST_PAGE !== 0) throw invalid();
  return Number(position);
}

function invalid(): PolicyError {
  return new PolicyError(
    'cursor_invalid',
    'This cursor is none of this list; read the list from its beginning.',
  );
}
