import type { OperationDefinition } from '../contract/definition';
import { readPointer } from '../contract/paths';
import { PolicyError } from '../policy/errors';
import { parseDuration, parseTime, queryReach } from './promql';
import { scalarText } from './segments';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Bounds a Prometheus call before it is made: points per series, and how far back it reaches (document 003,
 * "prometheus_readonly": explicit lookback and sample limits). A `start` that was left out becomes the earliest
 * allowed one, so that a label list does not scan the whole history.
 *
 * @param nowSeconds the present in Unix seconds
 * @returns the arguments to send
 * @throws PolicyError `range_too_wide` with the smallest step that fits, `lookback_too_far`, `range_unreadable`
 */
export function boundPrometheusCall(
  { adapter, operation }: OperationDefinition,
  args: Arguments,
  nowSeconds: number,
): Arguments {
  if (adapter.type !== 'prometheus_readonly') return args;
  const declares = (name: string) => operation.request.arguments[name] !== undefined;
  const isRange = declares('start') && declares('end') && declares('step');
  const start = timeArgument(args, 'start');
  const end = timeArgument(args, 'end');
  const time = timeArgument(args, 'time');

  if (isRange && start !== undefined && end !== undefined) {
    boundPoints(start, end, stepArgument(args), adapter.samples_per_series);
  }
  const earliest = nowSeconds - adapter.lookback_seconds;
  const reach = typeof args['query'] === 'string' ? queryReach(args['query']) : { seconds: 0, instants: [] };
  for (const from of [start ?? time ?? nowSeconds, ...reach.instants]) {
    if (from - reach.seconds < earliest) throw lookbackTooFar(adapter.lookback_seconds);
  }
  if (declares('start') && start === undefined) return { ...args, start: String(Math.ceil(earliest)) };
  return args;
}

function boundPoints(start: number, end: number, step: number, most: number): void {
  if (end < start) {
    throw new PolicyError('range_unreadable', 'The end of the range is before its start.', {
      pointer: '/end',
    });
  }
  const points = (end - start) / step + 1;
  if (points <= most) return;
  const advice =
    most > 1
      ? `use a step of at least ${String(Math.max(1, Math.ceil((end - start) / (most - 1))))}s or a shorter range`
      : 'ask for a shorter range';
  throw new PolicyError(
    'range_too_wide',
    `The range asks for ${String(Math.floor(points))} points per series and ${String(most)} are allowed; ${advice}.`,
    { pointer: '/step' },
  );
}

function timeArgument(args: Arguments, name: string): number | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  const seconds = parseTime(scalarText(value, name));
  if (seconds !== undefined) return seconds;
  throw new PolicyError(
    'range_unreadable',
    `Argument /${name} must be Unix seconds or an RFC 3339 time such as 2026-01-31T12:00:00Z.`,
    { pointer: `/${name}` },
  );
}

function stepArgument(args: Arguments): number {
  const step = parseDuration(scalarText(args['step'], 'step'));
  if (step !== undefined && step > 0) return step;
  throw new PolicyError(
    'range_unreadable',
    'Argument /step must be seconds or a duration such as 60s or 5m.',
    {
      pointer: '/step',
    },
  );
}

function lookbackTooFar(allowedSeconds: number): PolicyError {
  const days = allowedSeconds / 86_400;
  return new PolicyError(
    'lookback_too_far',
    `The query reaches further back than the ${days >= 1 ? `${String(Math.floor(days))} days` : `${String(allowedSeconds)} seconds`} ` +
      'this surface allows, ranges in brackets, offset and @ included; choose a later start or a shorter range.',
  );
}

/**
 * A scalar or string result is `[time, value]`, not a list of series. It becomes a list of one record, so that every
 * result has one shape.
 */
export function normalizePrometheusBody(body: unknown): unknown {
  const resultType = readPointer(body, '/data/resultType');
  if (resultType !== 'scalar' && resultType !== 'string') return body;
  const { data, ...rest } = body as { data: { result?: unknown } };
  return { ...rest, data: { ...data, result: [{ metric: {}, value: data.result }] } };
}
