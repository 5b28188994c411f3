import type { OperationDefinition } from '../contract/definition';
import { parsePath, readPointer, type PathSegment } from '../contract/paths';
import { PolicyError } from '../policy/errors';
import { headOf, redactPaths } from '../policy/redaction';
import { base64Texts } from './base64';
import { chooseRecords, isLocal } from './choose';
import { positionOf } from './position';

/** What a caller gets: one record, or the envelope around a list. */
export type Projected = Record<string, unknown>;

/**
 * Cuts an upstream body down to what the contract keeps: paths, redaction, long texts, number of records.
 *
 * @param asked the page size that was sent; `undefined` without one
 * @param args the call's arguments, for the position of the next page
 * @throws PolicyError `upstream_unexpected_shape` when the list is not where the contract says; `upstream_not_found` when
 * nothing stands where the one record should
 */
export function project(
  body: unknown,
  { operation, limits }: OperationDefinition,
  asked: number | undefined,
  args: Readonly<Record<string, unknown>>,
): Projected {
  const { response, pagination } = operation;
  const keep = keeperOf(response.keep);
  const record = (value: unknown): unknown => {
    const kept = keep(value);
    redactPaths(kept, response.redact);
    base64Texts(kept, response.base64 ?? []);
    return cutTexts(kept, response.text_characters);
  };
  if (response.items === null) return oneRecord(record(recordAt(body, response.record)));
  const sent = listAt(body, response);
  const given = pagination.position_argument === null ? undefined : args[pagination.position_argument];
  const skipped = isLocal(operation, pagination.position_argument) ? Number(given ?? 0) : 0;
  const chosen = chooseRecords(sent, operation, args).slice(skipped);
  // An upstream that does not know the size argument sends more than it was asked for.
  const shown = chosen.slice(0, Math.min(limits.result_items, asked ?? limits.result_items));
  const askedUpstream = !isLocal(operation, pagination.size_argument);
  const page = { body, sent, chosen: chosen.length, shown, asked, askedUpstream, given };
  const envelope = Object.entries(response.envelope).flatMap(([name, { pointer }]) => {
    const value = readPointer(body, pointer);
    return value === undefined || value === null ? [] : [[name, cutTexts(value, response.text_characters)]];
  });
  return {
    items: shown.map(record),
    returned: shown.length,
    ...positionOf(pagination, page),
    ...(Object.fromEntries(envelope) as Projected),
  };
}

/** Nothing where the record should be is how some upstreams say that there is none. */
function recordAt(body: unknown, pointer: string | undefined): unknown {
  if (pointer === undefined) return body;
  const found = readPointer(body, pointer);
  if (found !== undefined && found !== null) return found;
  // What does not even begin as the contract says is another answer, such as that of a sign-in. A list without records
  // begins as it should.
  const [, first = ''] = pointer.split('/');
  const isList = Array.isArray(body) && /^\d+$/.test(first);
  if (!isList && readPointer(body, `/${first}`) === undefined) throw unexpected('one record');
  throw new PolicyError('upstream_not_found', 'Upstream has nothing under that identifier.');
}

function oneRecord(kept: unknown): Projected {
  if (kept === null || typeof kept !== 'object' || Array.isArray(kept)) throw unexpected('one record');
  if (Object.keys(kept).length === 0) throw unexpected('a record of the expected fields');
  return kept as Projected;
}

function listAt(
  body: unknown,
  { items, map, format }: OperationDefinition['operation']['response'],
): unknown[] {
  const pointer = items ?? '';
  const found = readPointer(body, pointer);
  // Go and PHP write null for an empty list. No list at all is no empty list: it may be a sign-in answer.
  if (found === null || (found === undefined && holdsNone(body, pointer, format === 'xml'))) return [];
  // PHP writes an empty object as an empty list.
  if (map !== null && Array.isArray(found) && found.length === 0) return [];
  if (map === null) {
    if (!Array.isArray(found)) throw unexpected('a list of records');
    return found;
  }
  if (typeof found !== 'object' || Array.isArray(found)) throw unexpected('records keyed by name');
  return Object.entries(found).map(([key, value]) => ({ [map.key]: key, [map.value]: value as unknown }));
}

/**
 * Whether what should hold the list is there and is empty: an XML element without the elements that would be the
 * records, or a list without the inner list.
 */
function holdsNone(body: unknown, pointer: string, isXml: boolean): boolean {
  const end = pointer.lastIndexOf('/');
  const holder = readPointer(body, pointer.slice(0, Math.max(end, 0)));
  if (!isXml) return Array.isArray(holder) && holder.length === 0 && /^\d+$/.test(pointer.slice(end + 1));
  const isElement = typeof holder === 'object' && holder !== null && !Array.isArray(holder);
  return end > 0 && (holder === '' || isElement);
}

interface KeepNode {
  whole: boolean;
  readonly keys: Map<string, KeepNode>;
  each: KeepNode | undefined;
}

const keepers = new WeakMap<readonly string[], (value: unknown) => unknown>();

/** Compiles the paths of one contract once. The result copies; what upstream sent is not touched. */
function keeperOf(paths: readonly string[]): (value: unknown) => unknown {
  const known = keepers.get(paths);
  if (known) return known;
  const root = emptyNode();
  for (const path of paths) insert(root, parsePath(path));
  const keeper = (value: unknown): unknown => pick(value, root);
  keepers.set(paths, keeper);
  return keeper;
}

function emptyNode(): KeepNode {
  return { whole: false, keys: new Map(), each: undefined };
}

function insert(root: KeepNode, path: readonly PathSegment[]): void {
  let node = root;
  for (const segment of path) {
    if (segment.kind === 'each') node = node.each ??= emptyNode();
    else {
      const child = node.keys.get(segment.key) ?? emptyNode();
      node.keys.set(segment.key, child);
      node = child;
    }
  }
  node.whole = true;
}

function pick(value: unknown, node: KeepNode): unknown {
  if (node.whole) return structuredClone(value);
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) {
    const { each } = node;
    return each ? value.map((entry) => pick(entry, each)) : [];
  }
  const kept: Projected = {};
  for (const [key, entry] of Object.entries(value)) {
    const child = node.keys.get(key) ?? node.each;
    // defineProperty: an upstream key named __proto__ stays an ordinary key.
    if (child) Object.defineProperty(kept, key, { value: pick(entry, child), ...PLAIN });
  }
  return kept;
}

const PLAIN = { enumerable: true, writable: true, configurable: true };

/** Cuts texts that are longer than `maximum` characters and says so where they were cut. */
function cutTexts(value: unknown, maximum: number): unknown {
  if (typeof value === 'string') {
    if (value.length <= maximum) return value;
    return `${headOf(value, maximum)}… [cut: ${String(value.length)} characters in total]`;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((entry) => cutTexts(entry, maximum));
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, cutTexts(entry, maximum)]));
}

function unexpected(what: string): PolicyError {
  return new PolicyError(
    'upstream_unexpected_shape',
    `Upstream did not answer with ${what}; its version may differ from the one this contract was tested with.`,
  );
}
