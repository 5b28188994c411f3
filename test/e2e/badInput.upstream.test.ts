import { auditLinesOf, expectRefusal, type ExpectedRefusal } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, resultOf, textOf, type Endpoint } from '../support/mcpRequest';
import { newBearer, publishContract, type TestSurface } from '../support/publish';
import type { RawResponse } from '../support/rawHttp';
import * as upstream from '../support/upstreamDouble';

const SECRET = newBearer();
const RESPONSE_BYTES = 20_000;
const WAVE = 4;
const summary = (surface: Endpoint, id: string, signal?: AbortSignal) =>
  callTool(surface, 'n8n_get_workflow_summary', { workflow_id: id }, signal ? { signal } : {});
const good = {
  id: 'good',
  name: 'Good',
  nodes: [{ name: 'A', type: 'b', typeVersion: 1, parameters: { a: 1 } }],
};

interface Row {
  upstream: string;
  answer: (origin: string) => upstream.Answer;
  code: string;
  sentence?: RegExp;
}

/** Every way to fail has a workflow id of its own, so that they can be asked for at the same time. */
const ROWS: Record<string, Row> = {
  'moved-here': {
    upstream: 'redirects to itself',
    answer: (origin) => upstream.redirect(`${origin}/api/v1/workflows/good`),
    code: 'upstream_redirect_refused',
  },
  'moved-away': {
    upstream: 'redirects elsewhere',
    answer: () => upstream.redirect('http://169.254.169.254/latest/meta-data', 307),
    code: 'upstream_redirect_refused',
  },
  hangs: {
    upstream: 'never answers',
    answer: () => upstream.hang,
    code: 'upstream_timeout',
    sentence: /2 seconds/,
  },
  stalls: { upstream: 'stops in the middle', answer: () => upstream.stall, code: 'upstream_timeout' },
  drops: { upstream: 'drops the connection', answer: () => upstream.drop, code: 'upstream_unreachable' },
  'drops-midway': {
    upstream: 'drops the connection in the middle',
    answer: () => upstream.dropMidway,
    code: 'upstream_unreachable',
  },
  html: { upstream: 'answers HTML', answer: () => upstream.html(), code: 'upstream_not_json' },
  'html-500': { upstream: 'fails in HTML', answer: () => upstream.html(500), code: 'upstream_unavailable' },
  endless: {
    upstream: 'never stops',
    answer: () => upstream.endless,
    code: 'response_too_large',
    sentence: /20000 bytes/,
  },
  'no-json': {
    upstream: 'answers broken JSON',
    answer: () => upstream.body('{"id":'),
    code: 'upstream_not_json',
  },
  empty: { upstream: 'answers nothing', answer: () => upstream.body(''), code: 'upstream_not_json' },
  list: {
    upstream: 'answers a list for a record',
    answer: () => upstream.json([]),
    code: 'upstream_unexpected_shape',
  },
  types: {
    upstream: 'answers other types',
    answer: () => upstream.json({ id: 5, name: {} }),
    code: 'upstream_unexpected_shape',
  },
  's-401': {
    upstream: 'answers 401',
    answer: () => upstream.json({ message: SECRET }, 401),
    code: 'upstream_auth_failed',
  },
  's-403': { upstream: 'answers 403', answer: () => upstream.json({}, 403), code: 'upstream_auth_failed' },
  's-404': { upstream: 'answers 404', answer: () => upstream.json({}, 404), code: 'upstream_not_found' },
  's-429': {
    upstream: 'answers 429',
    answer: () => upstream.json({}, 429, { 'retry-after': '7' }),
    code: 'upstream_rate_limited',
  },
  's-500': {
    upstream: 'answers 500',
    answer: () => upstream.json({ stack: 'at x (/srv/a.js:1:2)' }, 500),
    code: 'upstream_unavailable',
  },
  's-503': { upstream: 'answers 503', answer: () => upstream.html(503), code: 'upstream_unavailable' },
  's-400': {
    upstream: 'explains a 400 with things that are nobody’s business',
    answer: (origin) =>
      upstream.json({ message: `no\u0000 \u202esuch field ${SECRET} at ${origin}/x\nline two` }, 400),
    code: 'upstream_rejected',
    sentence: /such field/,
  },
};

describe.each(hosts())('bad upstreams on n8n $version', (host) => {
  let double: upstream.UpstreamDouble;
  let surface: TestSurface;
  let narrow: TestSurface;
  let closed: TestSurface;
  let metadata: TestSurface;
  const surfaces = () => [surface, narrow, closed, metadata];

  beforeAll(async () => {
    double = await upstream.UpstreamDouble.start();
    double.on('/api/v1/workflows/good', upstream.json(good));
    for (const [id, { answer }] of Object.entries(ROWS)) {
      double.on(`/api/v1/workflows/${id}`, answer(double.origin));
    }
    const publish = (
      slug: string,
      baseUrl: string,
      limits: { timeout_seconds: number; concurrent_requests: number },
    ) =>
      publishContract(host, {
        applicationId: 'web-app-n8n',
        slug,
        upstream: { baseUrl, authentication: 'bearer', secret: SECRET },
        change: (contract) => Object.assign(contract.limits, { response_bytes: RESPONSE_BYTES, ...limits }),
      });
    const usual = { timeout_seconds: 2, concurrent_requests: 64 };
    [surface, narrow, closed, metadata] = await Promise.all([
      publish('upstream', double.origin, usual),
      publish('upstream-narrow', double.origin, { timeout_seconds: 20, concurrent_requests: 1 }),
      publish('upstream-closed', 'http://127.0.0.1:9', usual),
      publish('upstream-metadata', 'http://169.254.169.254', usual),
    ]);
  });
  afterAll(async () => {
    await Promise.all([
      ...surfaces().map(async (one) => {
        await one.remove();
      }),
      double.stop(),
    ]);
  });
  const expected = ({ code, sentence }: Pick<Row, 'code' | 'sentence'>): ExpectedRefusal => ({
    status: 200,
    code,
    ...(sentence ? { sentence } : {}),
    forbidden: [
      SECRET,
      surface.bearer,
      double.origin,
      double.origin.slice(7),
      '169.254.169.254',
      '127.0.0.1',
      '/srv/',
    ],
  });

  describe('several at once, with good requests among them', () => {
    const answers = new Map<string, { bad: RawResponse; good: RawResponse }>();
    beforeAll(async () => {
      const ask = async (id: string) => {
        const [bad, fine] = await Promise.all([summary(surface, id), summary(surface, 'good')]);
        answers.set(id, { bad, good: fine });
      };
      // In waves: a slow machine must not make time-outs of good answers.
      const ids = Object.keys(ROWS);
      while (ids.length > 0) await Promise.all(ids.splice(0, WAVE).map(ask));
    });

    it.each(Object.entries(ROWS).map(([id, row]) => ({ id, ...row })))(
      'answers with $code when upstream $upstream',
      async ({ id, ...row }) => {
        const { bad, good: fine } = answers.get(id) ?? fail(id);
        expectRefusal(bad, expected(row));
        expect(await auditLinesOf(host, bad)).toMatchObject([
          {
            code: row.code,
            status: 'error',
            tool: 'n8n_get_workflow_summary',
            consumer_application_id: 'client-inspector',
          },
        ]);
        expect([codeOf(fine), textOf(fine)]).toEqual(['ok', expect.stringContaining('Good')]);
      },
    );
  });

  it('passes on how long to wait, when upstream says so', async () => {
    const response = await summary(surface, 's-429');
    expect(resultOf(response)?._meta?.['mcp-curated/error']).toMatchObject({ retry_after_seconds: 7 });
  });

  it('answers with upstream_unreachable when nothing listens there', async () => {
    expectRefusal(await summary(closed, 'good'), expected({ code: 'upstream_unreachable' }));
  });

  it('answers with upstream_address_refused when the credential points at cloud metadata', async () => {
    expectRefusal(await summary(metadata, 'good'), expected({ code: 'upstream_address_refused' }));
  });

  it('shows upstream its own secret and never the bearer of the consumer', async () => {
    await summary(surface, 'good');
    const { headers, query } = double.lastRequest;
    expect(headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(JSON.stringify([headers, query])).not.toContain(surface.bearer);
  });

  it('returns what the contract keeps and nothing else', async () => {
    expect(resultOf(await summary(surface, 'good'))?.structuredContent).toEqual({
      id: 'good',
      name: 'Good',
      nodes: [{ name: 'A', type: 'b', typeVersion: 1 }],
    });
  });

  it('says that a list was cut', async () => {
    const data = Array.from({ length: 150 }, (_, index) => ({ id: String(index), name: 'w' }));
    double.on('/api/v1/workflows', upstream.json({ data, nextCursor: 'more' }));
    const result = resultOf(await callTool(surface, 'n8n_list_workflows'));
    expect(result?.structuredContent).toMatchObject({ returned: 25, truncated: true, next: null });
  });

  it('ends the request upstream when its time is over', async () => {
    double.requests.length = 0;
    await summary(surface, 'hangs');
    await double.requests.find(({ path }) => path.endsWith('/hangs'))?.socketClosed;
  });

  it('ends the request upstream when the caller goes away, and takes the next call', async () => {
    double.requests.length = 0;
    const patience = new AbortController();
    const lost = summary(narrow, 'hangs', patience.signal);
    const refused = expect(lost).rejects.toThrow();
    const asked = await seen(double, '/hangs');

    const busy = await summary(narrow, 'good');
    expectRefusal(busy, { ...expected({ code: 'too_many_requests' }), status: 429 });
    expect(Number(busy.headers['retry-after'])).toBeGreaterThan(0);

    patience.abort();
    await refused;
    await asked.socketClosed;
    expect(codeOf(await summary(narrow, 'good'))).toBe('ok');
  });

  itKeepsTheLogClean(host, () => [SECRET, ...surfaces().map(({ bearer }) => bearer)]);
});

function fail(id: string): never {
  throw new Error(`${id} was not asked for`);
}

async function seen(double: upstream.UpstreamDouble, end: string): Promise<upstream.RecordedRequest> {
  for (;;) {
    const request = double.requests.find(({ path }) => path.endsWith(end));
    if (request) return request;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
