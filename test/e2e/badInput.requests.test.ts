import { gzipSync } from 'node:zlib';

import { expectNothingLeaked, expectRefusal, type ExpectedRefusal } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { codeOf, listTools, post, rpc, type Endpoint } from '../support/mcpRequest';
import { ownApi, publishContract, type TestSurface } from '../support/publish';
import { rawHttp, type RawResponse } from '../support/rawHttp';

type Send = (surface: TestSurface) => Promise<RawResponse>;
type Row = [name: string, send: Send, expected: ExpectedRefusal];

const LIST = '{"jsonrpc":"2.0","id":2,"method":"tools/list"}';
const LIMIT = 65_536;

const list = (surface: Endpoint, ...headers: [string, string][]) => post(surface, LIST, { headers });
const body =
  (text: string): Send =>
  (surface) =>
    post(surface, text);
const padded = (bytes: number) => {
  const frame = '{"jsonrpc":"2.0","id":2,"method":"ping","params":{"pad":""}}';
  return frame.replace('""', `"${'a'.repeat(bytes - frame.length)}"`);
};
const nested = (levels: number) =>
  `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}}`;

const chunked: [string, string] = ['Transfer-Encoding', 'chunked'];
const gzip: [string, string] = ['Content-Encoding', 'gzip'];

const BODIES: Row[] = [
  [
    'too much in chunks, without a length',
    (s) => post(s, padded(LIMIT + 1), { headers: [chunked] }),
    { status: 413, code: 'request_too_large' },
  ],
  [
    'little that unpacks to too much',
    (s) => post(s, gzipSync(padded(4_000_000)), { headers: [gzip] }),
    { status: 413, code: 'request_too_large' },
  ],
  [
    'an id that is null',
    body('{"jsonrpc":"2.0","id":null,"method":"ping"}'),
    { status: 400, code: 'request_malformed' },
  ],
  ['a JSON string', body('"tools/list"'), { status: 400, code: 'request_malformed' }],
  ['a number', body('42'), { status: 400, code: 'request_malformed' }],
  ['null', body('null'), { status: 400, code: 'request_malformed' }],
  ['a batch', body(`[${LIST}]`), { status: 400, code: 'batch_not_supported' }],
  ['an empty batch', body('[]'), { status: 400, code: 'batch_not_supported' }],
  ['nothing', body(''), { status: 400, code: 'body_not_json' }],
  [
    'one byte more than the limit',
    body(padded(LIMIT + 1)),
    { status: 413, code: 'request_too_large', sentence: /65536/ },
  ],
  ['a megabyte', body(padded(1_048_576)), { status: 413, code: 'request_too_large' }],
  ['a hundred levels', body(nested(100)), { status: 400, code: 'request_too_deep' }],
  ['ten thousand levels', body(nested(10_000)), { status: 400, code: 'request_too_deep' }],
  ['no jsonrpc', body('{"id":1,"method":"tools/list"}'), { status: 400, code: 'request_malformed' }],
  [
    'a method that is no text',
    body('{"jsonrpc":"2.0","id":1,"method":7}'),
    { status: 400, code: 'request_malformed' },
  ],
  [
    'an id that is an object',
    body('{"jsonrpc":"2.0","id":{},"method":"ping"}'),
    { status: 400, code: 'request_malformed' },
  ],
  [
    'params that are a list',
    body('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'),
    { status: 400, code: 'request_malformed' },
  ],
  [
    'text/plain',
    (s) => list(s, ['Content-Type', 'text/plain']),
    { status: 415, code: 'media_type_unsupported' },
  ],
  [
    'a form',
    (s) => post(s, 'a=b', { headers: [['Content-Type', 'application/x-www-form-urlencoded']] }),
    { status: 415, code: 'media_type_unsupported' },
  ],
  [
    'no Content-Type',
    (s) => post(s, LIST, { without: ['content-type'] }),
    { status: 415, code: 'media_type_unsupported' },
  ],
  [
    'a version that is none',
    (s) => list(s, ['MCP-Protocol-Version', 'not-a-version']),
    { status: 400, code: 'protocol_version_unsupported' },
  ],
  [
    'a foreign Origin',
    (s) => list(s, ['Origin', 'https://evil.example']),
    { status: 403, code: 'origin_not_allowed' },
  ],
  ['the Origin null', (s) => list(s, ['Origin', 'null']), { status: 403, code: 'origin_not_allowed' }],
];

describe.each(hosts())('bad requests on n8n $version', (host) => {
  let surface: TestSurface;
  beforeAll(async () => {
    surface = await publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'bad-request',
      upstream: ownApi(host),
    });
  });
  afterAll(async () => {
    await surface.remove();
  });
  afterEach(async () => {
    // The next request works, whatever the one before was.
    expect((await rpc(surface, 'ping')).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it.each(BODIES)('refuses %s', async (_name, send, expected) => {
    expectRefusal(await send(surface), { ...expected, forbidden: [surface.bearer, host.apiKey] });
  });

  it('accepts a body of exactly the limit', async () => {
    expect(padded(LIMIT)).toHaveLength(LIMIT);
    expect((await post(surface, padded(LIMIT))).status).toBe(200);
  });

  it.each([
    ['cut short', '{"jsonrpc":"2.0","id":1,'],
    ['HTML', '<html></html>'],
    ['bytes that are no UTF-8 text', '\ufffe\u0000{'],
  ])(
    'answers a body that is %s without a stack trace, although n8n does it before us',
    async (_name, text) => {
      const response = await post(surface, text);
      expect([400, 422]).toContain(response.status);
      expectNothingLeaked(response, [surface.bearer]);
    },
  );

  it.each<[string, Send]>([
    ['in chunks', (s) => post(s, LIST, { headers: [chunked] })],
    ['packed', (s) => post(s, gzipSync(LIST), { headers: [gzip] })],
    ['with a charset', (s) => list(s, ['Content-Type', 'application/json; charset=utf-8'])],
  ])('accepts a good request %s', async (_how, send) => {
    const { status, text } = await send(surface);
    expect([status, text]).toEqual([200, expect.stringContaining('n8n_list_workflows')]);
  });

  it.each<[string, Send]>([
    ['another charset', (s) => list(s, ['Content-Type', 'application/json; charset=utf-16'])],
    ['a charset that does not exist', (s) => list(s, ['Content-Type', 'application/json; charset=klingon'])],
    ['an encoding that does not exist', (s) => list(s, ['Content-Encoding', 'klingon'])],
  ])('survives %s', async (_what, send) => {
    const response = await send(surface);
    expectNothingLeaked(response, [surface.bearer]);
  });

  it.each(['application/json', '*/*', 'text/event-stream', 'text/html', ''])(
    'answers with JSON to an Accept of "%s"',
    async (accept) => {
      const response = await list(surface, ['Accept', accept]);
      expect(response.status).toBe(200);
      expect(response.headers['content-type']).toMatch(/^application\/json/);
    },
  );

  it.each([
    ['2025-03-26', 200],
    ['2025-06-18', 200],
    ['2025-11-25', 200],
    ['1900-01-01', 400],
    ['2099-01-01', 400],
  ])('answers the version header %s with %d', async (version, status) => {
    const response = await list(surface, ['MCP-Protocol-Version', version]);
    expect(response.status).toBe(status);
    if (status === 400) expect(codeOf(response)).toBe('protocol_version_unsupported');
    expectNothingLeaked(response);
  });

  it.each(['GET', 'DELETE'])(
    'answers %s with 405 and Allow: POST, and 401 without a bearer',
    async (method) => {
      const headers: [string, string][] = [['Accept', 'text/event-stream']];
      const known = await rawHttp({
        url: surface.url,
        method,
        headers: [...headers, ['Authorization', `Bearer ${surface.bearer}`]],
      });
      expectRefusal(known, { status: 405, code: 'method_not_allowed' });
      expect(known.headers.allow).toBe('POST');
      expect((await rawHttp({ url: surface.url, method, headers })).status).toBe(401);
    },
  );

  it.each(['HEAD', 'PUT', 'PATCH'])('serves nothing under %s', async (method) => {
    const headers: [string, string][] = [['Authorization', `Bearer ${surface.bearer}`]];
    const response = await rawHttp({ url: surface.url, method, headers });
    expect([404, 405]).toContain(response.status);
    expectNothingLeaked(response, [surface.bearer]);
  });

  it('tells a preflight of a foreign page nothing that would let it call', async () => {
    const response = await rawHttp({
      url: surface.url,
      method: 'OPTIONS',
      headers: [
        ['Origin', 'https://evil.example'],
        ['Access-Control-Request-Method', 'POST'],
        ['Access-Control-Request-Headers', 'authorization,content-type'],
      ],
    });
    expect(response.status).toBeLessThan(500);
    expectNothingLeaked(response, [surface.bearer]);
  });

  it('answers a trailing slash alike or with a plain 404, and a foreign session id as if it were not there', async () => {
    const [slash, session] = await Promise.all([
      post({ ...surface, url: `${surface.url}/` }, LIST),
      list(surface, ['Mcp-Session-Id', 'made-on-another-replica']),
    ]);
    expect([200, 404]).toContain(slash.status);
    expect(session.status).toBe(200);
    expect(session.headers['mcp-session-id']).toBeUndefined();
    await expect(listTools(surface)).resolves.toHaveLength(3);
  });

  itKeepsTheLogClean(host, () => [surface.bearer]);
});
