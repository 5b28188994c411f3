import { PolicyError } from '../policy/errors';

const UNIT_SECONDS: Record<string, number> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};
const DURATION = /^(?:\d+(?:ms|[smhdwy]))+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Seconds of a Prometheus duration (`1h30m`) or of a plain number of seconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  if (NUMBER.test(text)) return Number(text);
  if (!DURATION.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|[smhdwy])/g)) {
    seconds += Number(amount) * (UNIT_SECONDS[unit ?? ''] ?? 0);
  }
  return seconds;
}

/** Unix seconds of a Prometheus time: a number of seconds, or RFC 3339; `undefined` for anything else. */
export function parseTime(text: string): number | undefined {
  if (NUMBER.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1_000;
}

export interface QueryReach {
  /** Most seconds that the expression can look back from its evaluation time: ranges, subqueries and offsets summed. */
  readonly seconds: number;
  /** Unix seconds named by `@`, which evaluate there whatever the evaluation time is. */
  readonly instants: readonly number[];
}

/**
 * How far back a PromQL expression reaches by itself: a range selector, a subquery, `offset` and `@` all look
 * further back than `start`. An upper bound from the tokens, not an evaluation.
 *
 * @throws PolicyError `range_unreadable` when a range is not a literal, since what cannot be measured cannot be bounded
 */
export function queryReach(query: string): QueryReach {
  const code = withoutStringsAndComments(query);
  let seconds = 0;
  for (const [, inside = ''] of code.matchAll(/\[([^\]]*)\]/g)) {
    const [range = '', resolution] = inside.split(':').map((part) => part.trim());
    const length = parseDuration(range);
    if (
      length === undefined ||
      (resolution !== undefined && resolution !== '' && parseDuration(resolution) === undefined)
    ) {
      throw unreadable('a range in brackets must be a literal duration such as [5m] or [1h:1m]');
    }
    seconds += length;
  }
  for (const [, sign, amount = ''] of code.matchAll(/\boffset\s*([+-]?)\s*([^\s)\],]*)/gi)) {
    const length = parseDuration(amount);
    // `offset` without a duration is somebody's label name, as in by (offset).
    if (length !== undefined && sign !== '-') seconds += length;
    else if (length === undefined && amount.startsWith('('))
      throw unreadable('offset must be a literal duration');
  }
  const instants: number[] = [];
  for (const [, at = ''] of code.matchAll(/@\s*([^\s)\],[]*)/g)) {
    if (/^(?:start|end)\(?$/.test(at)) continue;
    const instant = NUMBER.test(at) ? Number(at) : undefined;
    if (instant === undefined)
      throw unreadable('@ must be followed by a number of seconds, start() or end()');
    instants.push(instant);
  }
  return { seconds, instants };
}

function unreadable(reason: string): PolicyError {
  return new PolicyError('range_unreadable', `The query cannot be bounded: ${reason}.`, {
    pointer: '/query',
  });
}

function withoutStringsAndComments(query: string): string {
  return query.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|#[^\n]*/g, '""');
}
