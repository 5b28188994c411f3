import fc from 'fast-check';
import type { OperationDefinition } from '../../../core/contract/definition';
import { PolicyError } from '../../../core/policy/errors';
import { boundPrometheusCall, normalizePrometheusBody } from '../../../core/upstream/prometheus';
import { operationNamed } from '../contract/checkedIn';
import { refusalOf as refusal } from '../policy/refusal';

const NOW = 1_767_225_600;
const DAY = 86_400;
const MONTH = 31 * DAY;

const range = operationNamed('prometheus_query_range').definition;
const instant = operationNamed('prometheus_query').definition;
const labels = operationNamed('prometheus_list_labels').definition;

const withCeiling = (definition: OperationDefinition, samples_per_series: number): OperationDefinition => {
  const { adapter } = definition;
  if (adapter.type !== 'prometheus_readonly') throw new Error('This is no Prometheus contract.');
  return { ...definition, adapter: { ...adapter, samples_per_series } };
};

const refusalOf = (definition: OperationDefinition, args: Record<string, unknown>) =>
  refusal(() => boundPrometheusCall(definition, args, NOW));

const lastDay = { query: 'up', start: String(NOW - DAY), end: String(NOW) };
const namedStep = ({ message }: PolicyError): number => Number(/at least (\d+)s/.exec(message)?.[1]);

describe('points of a range query', () => {
  it('refuses a day at one second and names the smallest step that fits', () => {
    const refusal = refusalOf(range, { ...lastDay, step: '1' });
    expect(refusal).toMatchObject({ code: 'range_too_wide', pointer: '/step' });
    expect(refusal.message).toContain('86401 points per series and 500 are allowed');
    expect(namedStep(refusal)).toBe(174);
  });

  // Document 003: "a day at one-minute resolution asks for 1441 points against a ceiling of 100".
  it('names an 873-second step for a day at one minute under a ceiling of 100', () => {
    const refusal = refusalOf(withCeiling(range, 100), { ...lastDay, step: '60s' });
    expect(refusal.message).toContain('1441 points');
    expect(namedStep(refusal)).toBe(873);
  });

  it('names a step that fits and that is the smallest whole one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: MONTH * 1_000 - 1_000 }),
        fc.integer({ min: 2, max: 11_000 }),
        fc.constantFrom('1ms', '0.25', '1', '7s', '1m'),
        (milliseconds, ceiling, step) => {
          const definition = withCeiling(range, ceiling);
          const args = { query: 'up', start: String(NOW - milliseconds / 1_000), end: String(NOW) };
          let smallest: number;
          try {
            smallest = namedStep(refusalOf(definition, { ...args, step }));
          } catch {
            return; // It was within the ceiling.
          }
          expect(() =>
            boundPrometheusCall(definition, { ...args, step: `${String(smallest)}s` }, NOW),
          ).not.toThrow();
          const smaller = smallest - 1;
          if (smaller > 0) {
            expect(refusalOf(definition, { ...args, step: String(smaller) }).code).toBe('range_too_wide');
          }
        },
      ),
    );
  });

  it('asks for a shorter range where no step would fit', () => {
    const refusal = refusalOf(withCeiling(range, 1), { ...lastDay, step: '1h' });
    expect(refusal.message).not.toMatch(/step of at least/);
    expect(refusal.message).toContain('shorter range');
  });

  it.each([
    ['the same moment twice', { start: String(NOW), end: String(NOW), step: '1' }],
    ['RFC 3339', { start: '2025-12-31T00:00:00Z', end: '2026-01-01T00:00:00Z', step: '5m' }],
    ['exactly the ceiling', { start: String(NOW - 499), end: String(NOW), step: '1s' }],
  ])('accepts %s and sends the arguments as they are', (_what, times) => {
    const args = { query: 'up', ...times };
    expect(boundPrometheusCall(range, args, NOW)).toEqual(args);
  });

  it.each([
    ['/end', 'an end before the start', { start: String(NOW), end: String(NOW - 1), step: '1' }],
    ['/start', 'a start in words', { start: 'yesterday', end: String(NOW), step: '60' }],
    ['/end', 'an end in words', { start: String(NOW), end: 'now()', step: '60' }],
    ['/step', 'a step of zero', { start: String(NOW), end: String(NOW), step: '0' }],
    ['/step', 'a negative step', { start: String(NOW), end: String(NOW), step: '-5' }],
    ['/step', 'a step in words', { start: String(NOW), end: String(NOW), step: 'auto' }],
    ['/step', 'an endless step', { start: String(NOW), end: String(NOW), step: '1e400' }],
    ['/start', 'a time that overflows', { start: '1e400', end: '1e400', step: '1' }],
  ])('refuses at %s what cannot be measured: %s', (pointer, _what, times) => {
    expect(refusalOf(range, { query: 'up', ...times })).toMatchObject({ code: 'range_unreadable', pointer });
  });
});

describe('lookback', () => {
  it.each<[what: string, definition: OperationDefinition, args: Record<string, unknown>]>([
    ['an early start', range, { query: 'up', start: String(NOW - MONTH - 1), end: String(NOW), step: '1d' }],
    ['an early time', instant, { query: 'up', time: String(NOW - MONTH - 1) }],
    ['an early start of a label list', labels, { start: String(NOW - MONTH - 1) }],
    ['a long range', instant, { query: 'rate(up[32d])' }],
    ['a long subquery', instant, { query: 'max_over_time(up[32d:1h])' }],
    ['a range and a subquery together', instant, { query: 'max_over_time(rate(up[1h])[31d:1h])' }],
    ['a long offset', instant, { query: 'up offset 32d' }],
    ['an offset behind a comment', instant, { query: 'up offset # 1s\n 32d' }],
    ['an offset behind a comment that ends in a carriage return', instant, { query: 'up # a\r offset 32d' }],
    ['a long offset in seconds', instant, { query: 'up offset 1e9' }],
    ['an early @', instant, { query: 'up @ 0' }],
    ['an @ and a range', instant, { query: `rate(up[31d] @ ${String(NOW - 60)})` }],
    ['a start and an offset', range, { ...lastDay, query: 'up offset 31d', step: '1h' }],
    ['a range from an earlier time', instant, { query: 'rate(up[31d])', time: String(NOW - 1) }],
  ])('refuses %s', (_what, definition, args) => {
    const refusal = refusalOf(definition, args);
    expect(refusal.code).toBe('lookback_too_far');
    expect(refusal.message).toContain('31 days');
  });

  it.each<[what: string, definition: OperationDefinition, args: Record<string, unknown>]>([
    ['the present', instant, { query: 'up' }],
    ['exactly the bound', instant, { query: 'rate(up[31d])' }],
    ['an offset into the future', instant, { query: 'up offset -32d' }],
    ['an @ within it', instant, { query: `up @ ${String(NOW - DAY)}` }],
    ['an @ of the query itself', instant, { query: 'up @ start()' }],
  ])('accepts %s', (_what, definition, args) => {
    expect(boundPrometheusCall(definition, args, NOW)).toEqual(args);
  });

  it('bounds a label list whose start was left out, so that it does not scan everything', () => {
    expect(boundPrometheusCall(labels, {}, NOW + 0.4)).toEqual({ start: String(NOW - MONTH + 1) });
  });

  it('leaves operations of other adapters alone', () => {
    const { definition } = operationNamed('n8n_list_workflows');
    const args = { name: 'rate(up[9y])' };
    expect(boundPrometheusCall(definition, args, NOW)).toBe(args);
  });
});

describe('shape of results', () => {
  it.each(['scalar', 'string'])('makes one record of a %s', (resultType) => {
    const body = { status: 'success', data: { resultType, result: [NOW, '1'] }, warnings: ['w'] };
    expect(normalizePrometheusBody(body)).toEqual({
      ...body,
      data: { resultType, result: [{ metric: {}, value: [NOW, '1'] }] },
    });
  });

  it.each([
    [{ data: { resultType: 'vector', result: [] } }],
    [{ data: ['a'] }],
    [{ data: null }],
    [null],
    ['x'],
    [7],
  ])('leaves %j as it is', (body) => {
    expect(normalizePrometheusBody(body)).toBe(body);
  });
});
