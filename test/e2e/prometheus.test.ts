import { expectRefusal } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, listTools, resultOf, sentenceOf } from '../support/mcpRequest';
import { PROMETHEUS, startPrometheus, type RunningPrometheus } from '../support/prometheus';
import { publishContract, type TestSurface } from '../support/publish';
import { rawHttp } from '../support/rawHttp';
import { requireService } from '../support/services';

interface Listed {
  items: Record<string, unknown>[];
  returned: number;
  truncated: boolean;
  next: null;
  [more: string]: unknown;
}

const DAY = 86_400;
const describeWithPrometheus = requireService('prometheus', PROMETHEUS) ? describe : describe.skip;

describeWithPrometheus('a real Prometheus', () => {
  let prometheus: RunningPrometheus;
  beforeAll(async () => {
    prometheus = await startPrometheus();
  });
  afterAll(async () => {
    await prometheus.stop();
  });

  describe.each(hosts())('behind n8n $version', (host) => {
    let surface: TestSurface;
    const now = () => Math.floor(Date.now() / 1_000);
    const call = async (tool: string, args: object = {}) =>
      await callTool(surface, `prometheus_${tool}`, args);
    const listed = async (tool: string, args: object = {}) => {
      const response = await call(tool, args);
      expect([codeOf(response), sentenceOf(response)]).toEqual(['ok', expect.any(String)]);
      return resultOf(response)?.structuredContent as Listed;
    };

    beforeAll(async () => {
      surface = await publishContract(host, {
        applicationId: 'web-app-prometheus',
        slug: 'prometheus',
        upstream: { baseUrl: prometheus.url, authentication: 'none' },
      });
    });
    afterAll(async () => {
      await surface.remove();
    });

    it('lists the five tools, all of them read-only', async () => {
      const tools = await listTools(surface);
      expect(tools.map(({ name }) => name)).toEqual([
        'prometheus_query',
        'prometheus_query_range',
        'prometheus_get_targets',
        'prometheus_list_labels',
        'prometheus_get_metadata',
      ]);
      for (const { annotations } of tools) expect(annotations?.['readOnlyHint']).toBe(true);
    });

    it('answers an instant query with the present state', async () => {
      const { items, returned, truncated, result_type } = await listed('query', { query: 'up' });
      expect({ returned, truncated, result_type }).toEqual({
        returned: 1,
        truncated: false,
        result_type: 'vector',
      });
      expect(items[0]).toMatchObject({
        metric: { __name__: 'up', job: 'prometheus' },
        value: [expect.any(Number), '1'],
      });
    });

    it('answers scalars and strings in the same shape as series', async () => {
      const [text, scalar] = await Promise.all([
        listed('query', { query: '"hello"' }),
        listed('query', { query: '42' }),
      ]);
      expect(text).toMatchObject({
        result_type: 'string',
        items: [{ metric: {}, value: [expect.any(Number), 'hello'] }],
      });
      expect(scalar).toMatchObject({
        result_type: 'scalar',
        items: [{ metric: {}, value: [expect.any(Number), '42'] }],
      });
    });

    it('answers a range query with points', async () => {
      const end = now();
      const { items } = await listed('query_range', {
        query: 'up',
        start: String(end - 60),
        end: String(end),
        step: '1s',
      });
      const values = items[0]?.['values'] as [number, string][];
      expect(values.length).toBeGreaterThan(1);
      expect(values.at(-1)?.[1]).toBe('1');
    });

    it('refuses a day at one-second resolution and names the smallest step that fits, which then works', async () => {
      const end = now();
      const range = { query: 'vector(1)', start: String(end - DAY), end: String(end) };
      const refused = await call('query_range', { ...range, step: '1s' });
      expectRefusal(refused, { status: 200, code: 'range_too_wide', forbidden: [prometheus.url] });
      const step = /step of at least (\d+)s/.exec(sentenceOf(refused))?.[1];
      expect(Number(step)).toBe(Math.ceil(DAY / 499));
      const fits = await listed('query_range', { ...range, step: `${step ?? ''}s` });
      expect((fits.items[0]?.['values'] as unknown[]).length).toBeLessThanOrEqual(500);
      const smaller = await call('query_range', { ...range, step: `${String(Number(step) - 1)}s` });
      expect(codeOf(smaller)).toBe('range_too_wide');
    });

    it.each([
      ['a range in brackets', 'query', { query: 'count_over_time(up[60d])' }],
      ['an offset', 'query', { query: 'up offset 60d' }],
      ['an @ modifier', 'query', { query: 'up @ 1000' }],
      ['an early time', 'query', { query: 'up', time: '2001-01-01T00:00:00Z' }],
      ['an early start', 'list_labels', { start: '1000' }],
    ])('refuses to look back too far by %s', async (_how, tool, args) => {
      expectRefusal(await call(tool, args), { status: 200, code: 'lookback_too_far' });
    });

    it('lists targets without their scrape addresses', async () => {
      const { items } = await listed('get_targets');
      expect(items[0]).toMatchObject({
        scrapePool: 'prometheus',
        health: 'up',
        labels: { job: 'prometheus' },
      });
      expect(Object.keys(items[0] ?? {})).not.toEqual(
        expect.arrayContaining(['scrapeUrl', 'discoveredLabels']),
      );
      expect((await listed('get_targets', { scrape_pool: 'nobody' })).returned).toBe(0);
    });

    it('lists label names and explains metrics', async () => {
      const [labels, narrow, one] = await Promise.all([
        listed('list_labels'),
        listed('list_labels', { match: 'up' }),
        listed('get_metadata', { metric: 'prometheus_build_info' }),
      ]);
      expect(labels.items).toEqual(expect.arrayContaining(['__name__', 'job', 'instance']));
      expect(narrow.items).toEqual(['__name__', 'instance', 'job']);
      expect(one.items).toEqual([
        {
          metric: 'prometheus_build_info',
          metadata: [{ type: 'gauge', help: expect.stringContaining('version') as string, unit: '' }],
        },
      ]);
    });

    it('says that a list was cut at the limit', async () => {
      const { returned, truncated } = await listed('query', { query: '{__name__=~".+"}', limit: 5 });
      expect({ returned, truncated }).toEqual({ returned: 5, truncated: true });
    });

    it('passes on Prometheus’ own sentence about a query that it cannot parse', async () => {
      expectRefusal(await call('query', { query: 'sum(up' }), {
        status: 200,
        code: 'upstream_rejected',
        sentence: /parse error|unclosed left parenthesis/,
        forbidden: [prometheus.url, prometheus.url.slice(7)],
      });
    });

    it('reaches no administrative path, whatever an argument says', async () => {
      const before = await fetchStatus(`${prometheus.url}/-/healthy`);
      const tries = await Promise.all([
        call('get_targets', { scrape_pool: '../../-/quit' }),
        call('get_metadata', { metric: '../admin/tsdb/snapshot' }),
        call('list_labels', { match: 'up&x=/-/reload' }),
        call('query', { query: 'up', path: '/-/quit' }),
        call('query', { query: 'up', method: 'POST' }),
        callTool(surface, 'prometheus_quit'),
      ]);
      const codes = tries.map(codeOf);
      expect(codes).toEqual([
        'ok',
        'ok',
        'upstream_rejected',
        'arguments_invalid',
        'arguments_invalid',
        'tool_unknown',
      ]);
      expect([before, await fetchStatus(`${prometheus.url}/-/healthy`)]).toEqual([200, 200]);
    });

    itKeepsTheLogClean(host, () => [surface.bearer]);
  });
});

async function fetchStatus(url: string): Promise<number> {
  return (await rawHttp({ url, method: 'GET', headers: [] })).status;
}
