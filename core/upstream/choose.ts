import type { Operation } from '../contract/operation';
import { parsePaths, type PathSegment } from '../contract/paths';
import { choicesOf } from '../contract/request';

type Arguments = Readonly<Record<string, unknown>>;

/** Whether an argument is answered here because upstream has no parameter for it. */
export function isLocal(operation: Operation, argument: string | null): boolean {
  return argument !== null && operation.request.arguments[argument]?.in === 'result';
}

/**
 * The records that match every given choice, regardless of case.
 *
 * @param records as upstream sent them, before anything is dropped
 */
export function chooseRecords(
  records: readonly unknown[],
  operation: Operation,
  args: Arguments,
): readonly unknown[] {
  let chosen = records;
  for (const [name, { match, at }] of choicesOf(operation.request)) {
    const wanted = args[name];
    if (wanted === undefined || wanted === null || match === 'limit' || match === 'offset') continue;
    const text = textOf(wanted);
    const paths = parsePaths(at);
    chosen = chosen.filter((record) =>
      paths.some((path) => valuesAt(record, path).some((value) => MATCHES[match](textOf(value), text))),
    );
  }
  return chosen;
}

const MATCHES = {
  contains: (value: string, wanted: string) => value.includes(wanted),
  equals: (value: string, wanted: string) => value === wanted,
  prefix: (value: string, wanted: string) => value.startsWith(wanted),
};

/** Lists and objects match nothing by themselves; their values do. */
function textOf(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return '';
  return String(value).normalize('NFC').toLowerCase();
}

function valuesAt(value: unknown, [segment, ...rest]: readonly PathSegment[]): unknown[] {
  if (!segment) return [value];
  if (value === null || typeof value !== 'object') return [];
  if (segment.kind === 'each') return Object.values(value).flatMap((entry) => valuesAt(entry, rest));
  if (!Object.hasOwn(value, segment.key)) return [];
  return valuesAt((value as Record<string, unknown>)[segment.key], rest);
}
