import { createHash } from 'node:crypto';
import { N8nApiDouble, type Release } from '../../support/n8nApiDouble';
import { webhookNode } from '../../support/n8nApiDoubleClient';

let n8n: N8nApiDouble;
const start = async (release: Release) => (n8n = await N8nApiDouble.start(release));
afterEach(async () => {
  await n8n.stop();
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function ask(request: string, body?: unknown, key: string | null = n8n.apiKey): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(`${n8n.origin}/api/v1${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(key === null ? {} : { 'x-n8n-api-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const plain = (more: object = {}) => ({
  name: 'one',
  nodes: [webhookNode('p')],
  connections: {},
  settings: { executionOrder: 'v1' },
  ...more,
});
const settings = (more: object) => plain({ settings: { executionOrder: 'v1', ...more } });
const credential = (type: string, data: object, more: object = {}) => ({ name: 'c', type, data, ...more });
const header = { name: 'a', value: 'b' };

/** Request, body, and what 1.100.1 and 2.41.1 answered to it on 2026-11-30, each asked for real. */
const RECORDED: readonly (readonly [string, unknown, string, string])[] = [
  ['GET /nonsense', undefined, '404 not found', '404 not found'],
  ['GET /workflows?limit=250&excludePinnedData=true', undefined, '200', '200'],
  ['GET /workflows?limit=251', undefined, '400 request/query/limit must be <= 250', '200'],
  ['GET /workflows?nonsense=1', undefined, "400 Unknown query parameter 'nonsense'", '200'],
  ['GET /workflows?cursor=x', undefined, ...both('400 An invalid cursor was provided')],
  ['DELETE /workflows', undefined, ...both('405 DELETE method not allowed')],
  ['PATCH /workflows/x', {}, ...both('405 PATCH method not allowed')],
  ['POST /workflows', plain({ active: true }), ...both('400 request/body/active is read-only')],
  ['POST /workflows', plain({ tags: ['x'] }), ...both('400 request/body/tags is read-only')],
  ['POST /workflows', plain({ id: 'x' }), ...both('400 request/body/id is read-only')],
  [
    'POST /workflows',
    plain({ meta: {} }),
    '400 request/body must NOT have additional properties',
    '400 request/body/meta is read-only',
  ],
  [
    'POST /workflows',
    plain({ nonsense: 1 }),
    '400 request/body must NOT have additional properties',
    "400 request/body Unrecognized key(s) in object: 'nonsense'",
  ],
  [
    'POST /workflows',
    plain({ nonsense: 1, active: true }),
    '400 request/body must NOT have additional properties',
    '400 request/body/active is read-only',
  ],
  [
    'POST /workflows',
    { ...plain(), nodes: undefined },
    ...both("400 request/body must have required property 'nodes'"),
  ],
  ['POST /workflows', plain({ name: '' }), '200', '400 Workflow name must be 1 to 128 characters long.'],
  ['POST /workflows', plain({ staticData: null }), ...both('200')],
  [
    'POST /workflows',
    settings({ a: 1, b: 2 }),
    '400 request/body/settings must NOT have additional properties',
    "400 request/body/settings Unrecognized key(s) in object: 'a', 'b'",
  ],
  [
    'POST /workflows',
    settings({ callerPolicy: 'none' }),
    '400 request/body/settings must NOT have additional properties',
    '200',
  ],
  ['GET /workflows/x', undefined, ...both('404 Not Found')],
  ['DELETE /workflows/x', undefined, ...both('404 Not Found')],
  [
    'POST /workflows/x/activate',
    undefined,
    '404 Not Found',
    '404 You do not have permission to activate this workflow. Ask the owner to share it with you.',
  ],
  ['POST /workflows/x/archive', undefined, '404 not found', '404 Not Found'],
  ['POST /tags', { name: 'mcp' }, ...both('201')],
  ['POST /tags', { name: 'mcp' }, ...both('409 Tag already exists')],
  ['POST /tags', { name: 'x'.repeat(25) }, ...both('409 Tag already exists')],
  ['PUT /workflows/x/tags', [], ...both('404 Not Found')],
  ['DELETE /tags/x', undefined, ...both('404 Not Found')],
  ['GET /credentials?limit=250', undefined, '405 GET method not allowed', '200'],
  ['GET /credentials/x', undefined, '405 GET method not allowed', '404 Credential not found'],
  ['PATCH /credentials/x', { name: 'y' }, '405 PATCH method not allowed', '404 Credential not found'],
  ['DELETE /credentials/x', undefined, ...both('404 Not Found')],
  ['POST /credentials', credential('nopeApi', {}), ...both('400 req.body.type is not a known type')],
  [
    'POST /credentials',
    credential('httpHeaderAuth', { ...header, extra: 1 }),
    ...both('400 request.body.data is not allowed to have the additional property "extra"'),
  ],
  [
    'POST /credentials',
    credential('httpHeaderAuth', { name: 1 }),
    ...both('400 request.body.data is not of a type(s) string'),
  ],
  [
    'POST /credentials',
    credential('mcpUpstreamApi', {}),
    ...both('400 request.body.data requires property "baseUrl"'),
  ],
  [
    'POST /credentials',
    credential('mcpUpstreamApi', { baseUrl: 'http://x', authentication: 'nope' }),
    ...both(
      '400 request.body.data is not one of enum values: basic,bearer,bigbluebutton,header,none,query,body,session,yourls',
    ),
  ],
  [
    'POST /credentials',
    credential('httpHeaderAuth', header, { id: 'own-id-1' }),
    '400 request/body/id is read-only',
    '200',
  ],
  ['GET /credentials/schema/nopeApi', undefined, ...both('404 Not Found')],
  ['GET /discover', undefined, '404 not found', '200'],
];

function both(answer: string): [string, string] {
  return [answer, answer];
}

function wordsOf({ status, body }: Answer): string {
  const said = (body as { message?: string }).message;
  return said === undefined ? String(status) : `${status} ${said}`;
}

test.each([
  ['1.100.1', 2],
  ['2.41.1', 3],
] as const)('the double answers in the words of the real %s', async (release, column) => {
  await start(release);
  const answers: string[] = [];
  for (const [request, body] of RECORDED) answers.push(wordsOf(await ask(request, body)));
  expect(answers).toEqual(RECORDED.map((row) => row[column]));
  expect(wordsOf(await ask('GET /tags', undefined, 'bad'))).toMatch(/^401 unauthorized$/i);
});

const idOf = ({ body }: Answer) => (body as { id: string }).id;

describe('a workflow that runs', () => {
  test('goes on as it was on 2.41.1 when an update cannot run; the draft is kept', async () => {
    await start('2.41.1');
    const id = idOf(await ask('POST /workflows', plain()));
    await ask(`POST /workflows/${id}/activate`);
    const update = await ask(`PUT /workflows/${id}`, plain({ nodes: [] }));
    expect(wordsOf(update)).toContain('400 Workflow cannot be activated because it has no trigger node.');
    const { body } = await ask(`GET /workflows/${id}`);
    const { versionId, activeVersionId } = body as Record<string, string>;
    expect(body).toMatchObject({ active: true, nodes: [] });
    expect(versionId).not.toBe(activeVersionId);
    expect([...n8n.store.served]).toEqual([['p', id]]);
  });

  test('says that it is active on 1.100.1 when an update cannot run, and nothing answers', async () => {
    await start('1.100.1');
    const id = idOf(await ask('POST /workflows', plain()));
    await ask(`POST /workflows/${id}/activate`);
    const update = await ask(`PUT /workflows/${id}`, plain({ nodes: [] }));
    expect(wordsOf(update)).toContain('400 Workflow "one"');
    expect((await ask(`GET /workflows/${id}`)).body).toMatchObject({ active: true, nodes: [] });
    expect([...n8n.store.served]).toEqual([]);
  });

  test('takes an update over with its path', async () => {
    await start('2.41.1');
    const id = idOf(await ask('POST /workflows', plain()));
    await ask(`POST /workflows/${id}/activate`);
    await ask(`PUT /workflows/${id}`, plain({ nodes: [webhookNode('q')] }));
    expect([...n8n.store.served]).toEqual([['q', id]]);
  });

  test('is deleted on 1.100.1 with its endpoint', async () => {
    await start('1.100.1');
    const id = idOf(await ask('POST /workflows', plain()));
    await ask(`POST /workflows/${id}/activate`);
    expect((await ask(`DELETE /workflows/${id}`)).status).toBe(200);
    expect([...n8n.store.served]).toEqual([]);
  });
});

test('an unknown credential id is repaired by name where exactly one has it', async () => {
  await start('1.100.1');
  const id = idOf(await ask('POST /credentials', credential('httpHeaderAuth', header, { name: 'used' })));
  const reference = { httpHeaderAuth: { id: 'REPLACE_ME', name: 'used' } };
  const nodes = [{ ...webhookNode('p'), credentials: reference }];
  expect((await ask('POST /workflows', plain({ nodes }))).body).toMatchObject({
    nodes: [{ credentials: { httpHeaderAuth: { id } } }],
  });
});

test('2.x shows settings that nobody wrote, and keys in an order of its own', async () => {
  await start('2.41.1');
  const id = idOf(await ask('POST /workflows', plain()));
  const { body } = await ask(`GET /workflows/${id}`);
  const { nodes, settings: shown } = body as { nodes: object[]; settings: object };
  expect(shown).toEqual({
    executionOrder: 'v1',
    callerPolicy: 'workflowsFromSameOwner',
    availableInMCP: false,
  });
  expect(Object.keys(nodes[0] ?? {})).not.toEqual(Object.keys(webhookNode('p')));
  expect(nodes[0]).toEqual(webhookNode('p'));
});

test('what is foreign and changes, or goes, is told', async () => {
  await start('2.41.1');
  const [a, b, c] = ['a', 'b', 'c'].map((name) => n8n.seedWorkflow({ name }));
  n8n.rememberForeign();
  await ask(`PUT /workflows/${a?.id ?? ''}`, plain());
  await ask(`DELETE /workflows/${b?.id ?? ''}`);
  await ask('POST /tags', { name: 'new' });
  expect(n8n.foreignChanges()).toEqual([`workflow ${a?.id ?? ''}`, `workflow ${b?.id ?? ''}`]);
  expect(n8n.store.workflows.get(c?.id ?? '')?.name).toBe('c');
});

test('faults befall the request that they are meant for', async () => {
  await start('2.41.1');
  n8n.inject({ kind: 'status', status: 500 }, { nth: 2, method: 'GET', path: /^\/tags/ });
  const seen: number[] = [];
  for (const request of ['GET /tags', 'POST /tags', 'GET /workflows', 'GET /tags', 'GET /tags']) {
    seen.push((await ask(request, request.startsWith('POST') ? { name: 'x' } : undefined)).status);
  }
  expect(seen).toEqual([200, 201, 200, 500, 200]);
  expect(n8n.requests.map(({ status }) => status)).toEqual([200, 201, 200, undefined, 200]);
  expect(n8n.writes).toEqual(['POST /tags']);
});

describe('an endpoint of a surface', () => {
  const bearer = 'b'.repeat(43);
  const surface = JSON.stringify({
    tools: [{ descriptor: { name: 'x_list' } }, { descriptor: { name: 'x_get' } }],
  });
  const trigger = {
    name: 'Trigger',
    type: 'n8n-nodes-mcp-curated.mcpBearerServerTrigger',
    parameters: { path: 'x', surface },
  };

  async function call(method: string, token?: string): Promise<Answer> {
    const response = await fetch(`${n8n.origin}/mcp/x`, {
      method: 'POST',
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
    });
    return { status: response.status, body: await response.json() };
  }

  test('lets in whom its credential names, while it is active', async () => {
    await start('2.41.1');
    const tokenSha256 = createHash('sha256').update(bearer).digest('hex');
    const values = [{ id: 'client', tokenSha256, tools: 'x_list' }];
    const { id } = n8n.store.addCredential({
      name: 'c',
      type: 'mcpConsumersApi',
      data: { consumers: { values } },
    });
    expect((await call('ping', bearer)).status).toBe(404);
    const credentials = { mcpConsumersApi: { id, name: 'c' } };
    n8n.seedWorkflow({ name: 'x', active: true, nodes: [{ ...trigger, credentials }] });
    expect((await call('ping')).status).toBe(401);
    expect((await call('ping', 'other')).status).toBe(401);
    expect((await call('tools/list', bearer)).body).toMatchObject({
      result: { tools: [{ name: 'x_list' }] },
    });
    n8n.store.credentials.delete(id);
    expect((await call('ping', bearer)).status).toBe(503);
  });
});
