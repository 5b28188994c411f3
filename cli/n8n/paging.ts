import { N8nApiError } from './errors';
import { isObject, notAList } from './shapes';

/** The most that every supported release gives at once. */
export const PAGE_SIZE = 250;

/** More pages than this are no list of things that people have made. */
const MOST_PAGES = 400;

/**
 * Everything on all pages of a list. n8n counts its pages by position, so what is added while they are read moves an
 * entry to the next page: an entry that comes twice is kept once, as it was last.
 *
 * @param fetchPage asks for one page; `query` holds its size and, from the second page on, the cursor
 * @param what plural, for sentences
 * @throws N8nApiError `not_the_public_api`, `page_size_differs`, `page_cursor_repeated`
 */
export async function readAllPages<T extends { readonly id: string }>(
  fetchPage: (query: Readonly<Record<string, string>>) => Promise<unknown>,
  what: string,
  read: (value: unknown) => T,
): Promise<T[]> {
  const found = new Map<string, T>();
  const cursors = new Set<string>();
  let cursor: string | null = null;
  do {
    const answer: unknown = await fetchPage({
      limit: String(PAGE_SIZE),
      ...(cursor === null ? {} : { cursor }),
    });
    const page = pageOf(answer, what);
    const before = found.size;
    for (const item of page.data.map(read)) found.set(item.id, item);
    cursor = page.nextCursor;
    if (cursor === null) break;
    if (cursors.has(cursor) || found.size === before || cursors.size >= MOST_PAGES) {
      throw new N8nApiError(
        0,
        `n8n answered with the same page of ${what} twice, or the pages do not end; is a proxy between that caches?`,
        'page_cursor_repeated',
      );
    }
    cursors.add(cursor);
  } while (cursor);
  return [...found.values()];
}

function pageOf(answer: unknown, what: string): { data: readonly unknown[]; nextCursor: string | null } {
  const { data, nextCursor = null } = isObject(answer) ? answer : {};
  if (!Array.isArray(data)) throw notAList(what);
  if (nextCursor !== null && typeof nextCursor !== 'string') throw notAList(what);
  if (data.length > PAGE_SIZE) {
    throw new N8nApiError(
      0,
      `n8n answered with ${data.length} ${what} on a page for ${PAGE_SIZE}; that is not how its public API counts pages.`,
      'page_size_differs',
    );
  }
  return { data, nextCursor: nextCursor === '' ? null : nextCursor };
}
