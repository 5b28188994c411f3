import type { Operation } from '../contract/operation';
import { readPointer } from '../contract/paths';

/** What is known of one page when it has been read. */
export interface Page {
  readonly body: unknown;
  /** Records that upstream sent. */
  readonly sent: readonly unknown[];
  /** Records that are left after the caller's choice, from the caller's offset on. */
  readonly chosen: number;
  readonly shown: readonly unknown[];
  /** The page size that was asked for; `undefined` without one. */
  readonly asked: number | undefined;
  /** Whether upstream knows that size; else the answer is all it has. */
  readonly askedUpstream: boolean;
  /** The position that was asked for. */
  readonly given: unknown;
}

/**
 * Whether there is more, and how to ask for it, so that a part of the records is never presented as all of them. Where
 * nothing proves the end, a full page counts as "may have more".
 */
export function positionOf(
  pagination: Operation['pagination'],
  page: Page,
): { truncated: boolean; next: string | number | null } {
  const { chosen, shown, given } = page;
  const cut = shown.length < chosen;
  switch (pagination.style) {
    case 'none':
      return { truncated: cut || moreUpstream(pagination, page), next: null };
    case 'page': {
      const more = moreUpstream(pagination, page);
      const following = Number(given ?? pagination.first ?? 1) + 1;
      return { truncated: cut || more, next: more && !cut ? following : null };
    }
    case 'offset': {
      const truncated = cut || moreUpstream(pagination, page);
      return { truncated, next: truncated ? Number(given ?? 0) + shown.length : null };
    }
    case 'cursor': {
      const last = pagination.next_of_last;
      const found =
        last === undefined ? readPointer(page.body, pagination.next ?? '') : readPointer(shown.at(-1), last);
      const cursor = typeof found === 'string' || typeof found === 'number' ? String(found) : '';
      const more =
        cursor !== '' &&
        (last === undefined ? (saysMore(pagination, page) ?? true) : moreUpstream(pagination, page));
      // After a cut upstream's own cursor would skip what was cut off, so there is no honest next page.
      const next = cut ? (last === undefined ? '' : cursor) : more ? cursor : '';
      return { truncated: cut || more, next: next === '' ? null : next };
    }
  }
}

function moreUpstream(pagination: Operation['pagination'], page: Page): boolean {
  const said = saysMore(pagination, page);
  if (said !== undefined) return said;
  const { asked, askedUpstream, sent } = page;
  return askedUpstream && asked !== undefined && sent.length >= asked;
}

/** What upstream itself says about it; `undefined` where it says nothing. */
function saysMore(pagination: Operation['pagination'], page: Page): boolean | undefined {
  if (pagination.more !== undefined) return isYes(readPointer(page.body, pagination.more));
  if (pagination.total === undefined) return undefined;
  const total = readPointer(page.body, pagination.total);
  if (total === null || total === undefined || total === '' || Number.isNaN(Number(total))) return undefined;
  const before = recordsBefore(pagination, page);
  return before === undefined ? undefined : before + page.sent.length < Number(total);
}

function recordsBefore(pagination: Operation['pagination'], { given, asked }: Page): number | undefined {
  if (given === undefined || given === null) return 0;
  if (pagination.style === 'offset') return Number(given);
  if (pagination.style !== 'page') return undefined;
  return asked === undefined ? undefined : (Number(given) - (pagination.first ?? 1)) * asked;
}

/** A yes in JSON, in a header, or the address of the next page. */
function isYes(value: unknown): boolean {
  if (typeof value === 'string') return value !== '' && value !== 'false' && value !== '0';
  return value === true || (typeof value === 'number' && value > 0);
}
