import type { AttachedHost } from '../hosts/host';
import { executionsOf } from '../support/executions';
import { expectNothingLeaked, expectRefusal, type ExpectedRefusal } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, listTools, post, resultOf, rpc, type Endpoint } from '../support/mcpRequest';
import { newBearer, ownApi, publishContract, type TestSurface } from '../support/publish';
import { rawHttp, type RawResponse } from '../support/rawHttp';

/** The lines of "Bad input" that one HTTP request can hold. badInput.upstream has the others. */

const LIST = '{"jsonrpc":"2.0","id":2,"method":"tools/list"}';
const LIMIT = 65_536;
const wrong = newBearer();

type Send = (surface: TestSurface) => Promise<RawResponse>;
type Row = [name: string, send: Send, expected: ExpectedRefusal];

const list = (surface: Endpoint, ...headers: [string, string][]) => post(surface, LIST, { headers });
const authorized = (value: string) => (surface: TestSurface) => list(surface, ['Authorization', value]);
const body =
  (text: string): Send =>
  (surface) =>
    post(surface, text);
const padded = (bytes: number) =>
  `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"pad":"${'a'.repeat(bytes - 62)}"}}`;
const nested = (levels: number) =>
  `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}}`;

const AUTHORIZATION: Row[] = [
  ['no Authorization', (s) => rpc({ ...s, bearer: null }, 'ping'), { status: 401, code: 'bearer_missing' }],
  ['an empty Authorization', authorized(''), { status: 401, code: 'bearer_missing' }],
  ['a wrong bearer', authorized(`Bearer ${wrong}`), { status: 401, code: 'bearer_invalid' }],
  [
    'a bearer in the wrong case',
    (s) => authorized(`Bearer ${swapCase(s.bearer)}`)(s),
    { status: 401, code: 'bearer_invalid' },
  ],
  [
    'a bearer with something after it',
    (s) => authorized(`Bearer ${s.bearer} x`)(s),
    { status: 401, code: 'bearer_malformed' },
  ],
  [
    'two bearers in one header',
    (s) => authorized(`Bearer ${wrong}, Bearer ${s.bearer}`)(s),
    { status: 401, code: 'bearer_malformed' },
  ],
  [
    'the same Authorization twice',
    (s) => list(s, ['Authorization', `Bearer ${s.bearer}`], ['Authorization', `Bearer ${s.bearer}`]),
    { status: 401, code: 'bearer_malformed' },
  ],
  [
    'a good and a wrong Authorization',
    (s) => list(s, ['Authorization', `Bearer ${s.bearer}`], ['authorization', `Bearer ${wrong}`]),
    { status: 401, code: 'bearer_malformed' },
  ],
  [
    'an oversized Authorization',
    authorized(`Bearer ${'a'.repeat(8_000)}`),
    { status: 401, code: 'bearer_malformed' },
  ],
  ['Basic', authorized('Basic dXNlcjpwdw=='), { status: 401, code: 'bearer_malformed' }],
  ['the bearer without a scheme', (s) => authorized(s.bearer)(s), { status: 401, code: 'bearer_malformed' }],
  [
    'the bearer in the query only',
    (s) => rpc({ url: `${s.url}?access_token=${s.bearer}`, bearer: null }, 'ping'),
    { status: 401, code: 'bearer_missing' },
  ],
];

const BODIES: Row[] = [
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

const CALLS: Row[] = [
  ['an unknown method', (s) => rpc(s, 'tools/destroy'), { status: 200, code: 'method_unknown' }],
  [
    'an unknown tool',
    (s) => callTool(s, 'n8n_delete_workflow'),
    { status: 200, code: 'tool_unknown', sentence: /n8n_list_workflows/ },
  ],
  [
    'a tool name that is no text',
    (s) => rpc(s, 'tools/call', { name: 5 }),
    { status: 200, code: 'tool_unknown' },
  ],
  ['no tool name', (s) => rpc(s, 'tools/call'), { status: 200, code: 'tool_unknown' }],
  ['the name of an object property', (s) => callTool(s, '__proto__'), { status: 200, code: 'tool_unknown' }],
  ['a missing required argument', (s) => callTool(s, 'n8n_get_workflow_summary'), argument('/workflow_id')],
  [
    'an argument of the wrong type',
    (s) => callTool(s, 'n8n_list_workflows', { limit: 'ten' }),
    argument('/limit'),
  ],
  ['an argument out of range', (s) => callTool(s, 'n8n_list_workflows', { limit: 26 }), argument('/limit')],
  [
    'an argument outside its enum',
    (s) => callTool(s, 'n8n_list_executions', { status: 'gone' }),
    argument('/status'),
  ],
  [
    'an unknown argument',
    (s) => callTool(s, 'n8n_list_workflows', { url: 'http://evil.example' }),
    argument('/url'),
  ],
  [
    'an argument named __proto__',
    (s) =>
      post(
        s,
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n8n_list_workflows","arguments":{"__proto__":{"limit":1}}}}',
      ),
    argument('/__proto__'),
  ],
  [
    'an argument that is too long',
    (s) => callTool(s, 'n8n_list_workflows', { name: 'x'.repeat(129) }),
    argument('/name'),
  ],
  ['a null byte', (s) => callTool(s, 'n8n_list_workflows', { name: 'a\u0000b' }), argument('/name')],
  [
    'a control character in a name',
    (s) => callTool(s, 'n8n_list_workflows', { 'a\u001bb': 1 }),
    argument(''),
  ],
  [
    'a path that climbs',
    (s) => callTool(s, 'n8n_get_workflow_summary', { workflow_id: '../users' }),
    argument('/workflow_id'),
  ],
  [
    'arguments that are a list',
    (s) => rpc(s, 'tools/call', { name: 'n8n_list_workflows', arguments: [] }),
    argument(''),
  ],
  [
    'arguments that are text',
    (s) => rpc(s, 'tools/call', { name: 'n8n_list_workflows', arguments: '{}' }),
    argument(''),
  ],
  [
    'arguments that are null',
    (s) => rpc(s, 'tools/call', { name: 'n8n_list_workflows', arguments: null }),
    argument(''),
  ],
];

function argument(pointer: string): ExpectedRefusal {
  return { status: 200, code: 'arguments_invalid', sentence: new RegExp(pointer) };
}

function swapCase(text: string): string {
  return [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('');
}

describe.each(hosts())('bad input on n8n $version', (host: AttachedHost) => {
  let surface: TestSurface;
  itKeepsTheLogClean(host, () => [surface.bearer, wrong]);

  beforeAll(async () => {
    surface = await publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'bad-input',
      upstream: ownApi(host),
    });
  });
  afterAll(async () => await surface.remove());
  afterEach(async () => {
    // The next request works, whatever the one before was.
    expect((await rpc(surface, 'ping')).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it.each(AUTHORIZATION)('refuses %s as not authorized', async (_name, send, expected) => {
    const response = await send(surface);
    expectRefusal(response, { ...expected, forbidden: [surface.bearer, wrong, host.apiKey] });
    expect(response.headers['www-authenticate']).toMatch(/^Bearer realm="mcp"/);
    expect(response.headers['www-authenticate']).not.toContain('resource_metadata');
    expect(response.text.length).toBeLessThan(500);
    expect(response.text).not.toContain('n8n_list');
  });

  it('leaves an Authorization that Node itself refuses to Node', async () => {
    const response = await authorized(`Bearer ${'a'.repeat(40_000)}`)(surface);
    expect(response.status).toBe(431);
    expectNothingLeaked(response);
  });

  it.each(['bearer', 'BEARER', 'BeArEr'])('accepts the scheme spelled %s', async (scheme) => {
    expect((await authorized(`${scheme} ${surface.bearer}`)(surface)).status).toBe(200);
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

  it.each(CALLS)('refuses a call with %s', async (_name, send, expected) => {
    expectRefusal(await send(surface), { ...expected, forbidden: [surface.bearer, host.apiKey, host.url] });
  });

  it('takes missing arguments for none', async () => {
    const response = await rpc(surface, 'tools/call', { name: 'n8n_list_workflows' });
    expect(codeOf(response)).toBe('ok');
    expect(resultOf(response)?.structuredContent).toHaveProperty('items');
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

  it.each(['HEAD', 'PUT', 'PATCH', 'TRACE'])('serves nothing under %s', async (method) => {
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

  it('has started executions for identified callers only, and for nothing before a tool was named', async () => {
    const executions = await executionsOf(host, surface.workflowId);
    const events = executions.flatMap(({ outputs }) => Object.values(outputs).flat());
    for (const event of events) expect(event['consumer_application_id']).toBe('client-inspector');
    expect(executions.length).toBeLessThanOrEqual(CALLS.length);
  });
});
