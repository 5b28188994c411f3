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
const UNSIGNED = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** `undefined` for what is no decimal number or overflows; Prometheus also reads hexadecimal, which nobody needs here. */
function parseNumber(text: string): number | undefined {
  const value = UNSIGNED.test(text.replace(/^[+-]/, '')) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** Seconds of a Prometheus duration (`1h30m`) or of an unsigned number of seconds; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  if (UNSIGNED.test(text)) return parseNumber(text);
  if (!DURATION.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|[smhdwy])/g)) {
    seconds += Number(amount) * (UNIT_SECONDS[unit ?? ''] ?? 0);
  }
  return Number.isFinite(seconds) ? seconds : undefined;
}

/** Unix seconds of a Prometheus time: a number of seconds, or RFC 3339; `undefined` for anything else. */
export function parseTime(text: string): number | undefined {
  const seconds = parseNumber(text);
  if (seconds !== undefined) return seconds;
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
  for (const length of [...ranges(code), ...offsets(code)]) seconds += length;
  return { seconds, instants: [...instants(code)] };
}

function* ranges(code: string): Generator<number> {
  for (const [, inside = ''] of code.matchAll(/\[([^\]]*)\]/g)) {
    const [range = '', resolution = '', ...more] = inside.split(':').map((part) => part.trim());
    const length = parseDuration(range);
    const readable = more.length === 0 && (resolution === '' || parseDuration(resolution) !== undefined);
    if (length === undefined || !readable) {
      throw unreadable('a range in brackets must be a literal duration such as [5m] or [1h:1m]');
    }
    yield length;
  }
}

/** What follows a label or metric of that name; `offset` as a keyword is followed by a duration. */
const AFTER_A_NAME = /^[),=!{}[*/%^<>]?$/;

function* offsets(code: string): Generator<number> {
  const keyword = /(?<![\w:])offset(?![\w:])\s*([+-]?)\s*([\w.]*)(.?)/gis;
  for (const [, sign = '', amount = '', next = ''] of code.matchAll(keyword)) {
    if (sign + amount === '' && AFTER_A_NAME.test(next)) continue;
    const length = parseDuration(amount);
    if (length === undefined) throw unreadable('offset must be a literal duration such as 1h');
    if (sign !== '-') yield length;
  }
}

function* instants(code: string): Generator<number> {
  for (const [, at = ''] of code.matchAll(/@\s*([^\s)\],[]*)/g)) {
    if (/^(?:start|end)\(?$/.test(at)) continue;
    const instant = parseNumber(at);
    if (instant === undefined)
      throw unreadable('@ must be followed by a number of seconds, start() or end()');
    yield instant;
  }
}

function unreadable(reason: string): PolicyError {
  return new PolicyError('range_unreadable', `The query cannot be bounded: ${reason}.`, {
    pointer: '/query',
  });
}

/** A comment ends at a line feed or a carriage return, as in the lexer of Prometheus. */
function withoutStringsAndComments(query: string): string {
  const token = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|#[^\r\n]*/g;
  return query.replace(token, (found) => (found.startsWith('#') ? ' ' : '""'));
}
