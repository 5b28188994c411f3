import { N8nPublicApi, type N8nErrorCode } from '../../../cli/n8n/publicApi';
import { N8nApiDouble, RELEASES, type Fault, type Release } from '../../support/n8nApiDouble';
import { clientOf } from '../../support/n8nApiDoubleClient';
import { html, json, UpstreamDouble } from '../../support/upstreamDouble';

let n8n: N8nApiDouble;
const start = async (release: Release = '2.41.1') => (n8n = await N8nApiDouble.start(release));
afterEach(async () => {
  await n8n.stop();
});

function fill(count: number): void {
  for (let index = 0; index < count; index += 1) n8n.seedWorkflow({ name: `human ${index}` });
}

const failure = async (work: Promise<unknown>) => await work.then(() => undefined).catch((e: unknown) => e);

describe.each(RELEASES)('the list of workflows of %s', (release) => {
  test('holds every page, with nodes, settings and tags, and without pinned data', async () => {
    await start(release);
    fill(260);
    const tag = n8n.store.addTag('mcp');
    const pinned = {
      name: 'pinned',
      pinData: { A: [] },
      tagIds: [tag.id],
      settings: { executionOrder: 'v1' },
    };
    n8n.seedWorkflow(pinned);
    const listed = await clientOf(n8n).listWorkflows();
    expect(listed).toHaveLength(261);
    const one = listed.find(({ name }) => name === 'pinned');
    expect(one).toMatchObject({
      active: false,
      isArchived: false,
      nodes: [],
      connections: {},
      settings: { executionOrder: 'v1' },
      tags: [{ id: tag.id, name: 'mcp' }],
    });
    expect(one).not.toHaveProperty('pinData');
    expect(n8n.requests.map(({ query }) => query.get('limit'))).toEqual(['250', '250']);
  });

  test('holds archived workflows, told apart from the others', async () => {
    await start(release);
    n8n.seedWorkflow({ name: 'old', isArchived: true });
    expect(await clientOf(n8n).listWorkflows()).toMatchObject([{ name: 'old', isArchived: true }]);
  });

  test('finds by name what has exactly that name, however often', async () => {
    await start(release);
    for (const name of ['a:x', 'a:xy', 'a:x', 'b']) n8n.seedWorkflow({ name });
    const found = await clientOf(n8n).workflowsNamed('a:x');
    expect(found.map(({ name }) => name)).toEqual(['a:x', 'a:x']);
  });
});

test('C097: a workflow on the second page is found', async () => {
  await start();
  n8n.seedWorkflow({ name: 'Other' });
  n8n.seedWorkflow({ name: 'Orders MCP' });
  n8n.inject({ kind: 'page_size', size: 1 }, { times: 2 });
  const names = (await clientOf(n8n).listWorkflows()).map(({ name }) => name);
  expect(names.sort()).toEqual(['Orders MCP', 'Other']);
  expect(n8n.writes).toEqual([]);
});

test('an entry that comes on two pages because one was added meanwhile is listed once', async () => {
  await start();
  const [a, b] = [n8n.seedWorkflow({ name: 'a' }), n8n.seedWorkflow({ name: 'b' })];
  const page = (rows: readonly { id: string; name: string }[], nextCursor: string | null) => ({
    status: 200,
    body: {
      data: rows.map(({ id, name }) => ({ id, name, active: false, nodes: [], connections: {} })),
      nextCursor,
    },
  });
  n8n.inject({ kind: 'answer', reply: page([a], 'next') });
  n8n.inject({ kind: 'answer', reply: page([a, b], null) }, { nth: 2 });
  const listed = await clientOf(n8n).listWorkflows();
  expect(listed.map(({ name }) => name)).toEqual(['a', 'b']);
});

describe('an answer that is no list of n8n', () => {
  const always = { times: Number.POSITIVE_INFINITY };
  const cases: [string, Fault, N8nErrorCode][] = [
    ['a web page', { kind: 'html' }, 'not_the_public_api'],
    ['a web page of an error', { kind: 'html', status: 404 }, 'not_the_public_api'],
    ['a redirect', { kind: 'redirect' }, 'not_the_public_api'],
    ['half a JSON', { kind: 'half_json' }, 'not_the_public_api'],
    ['401', { kind: 'status', status: 401 }, 'api_key_refused'],
    ['403', { kind: 'status', status: 403 }, 'api_key_scope_missing'],
    ['404 of an address', { kind: 'status', status: 404, message: 'not found' }, 'method_not_supported'],
    ['404 of an object', { kind: 'status', status: 404, message: 'Not Found' }, 'not_found'],
    ['405', { kind: 'status', status: 405 }, 'method_not_supported'],
    ['409', { kind: 'status', status: 409 }, 'conflict'],
    ['400', { kind: 'status', status: 400 }, 'rejected'],
    ['415', { kind: 'status', status: 415 }, 'rejected'],
    ['429', { kind: 'status', status: 429 }, 'rate_limited'],
    ['500', { kind: 'status', status: 500 }, 'unavailable'],
    ['502 with a web page', { kind: 'html', status: 502 }, 'unavailable'],
    ['429 with a web page', { kind: 'html', status: 429 }, 'rate_limited'],
    ['nothing', { kind: 'cut', when: 'before' }, 'unreachable'],
    ['the same cursor for ever', { kind: 'endless_cursor', fresh: false }, 'page_cursor_repeated'],
    ['a new cursor for ever', { kind: 'endless_cursor', fresh: true }, 'page_cursor_repeated'],
    ['more than was asked for', { kind: 'page_size', size: 300 }, 'page_size_differs'],
  ];

  test.each(cases)('is an error with a code and never "none": %s', async (_what, fault, code) => {
    await start();
    fill(260);
    n8n.inject(fault, always);
    const error = await failure(clientOf(n8n).listWorkflows());
    expect(error).toMatchObject({ name: 'N8nApiError', code });
    expect((error as Error).message).not.toContain(n8n.apiKey);
    expect((error as Error).message).not.toContain('\n');
    expect(n8n.writes).toEqual([]);
  });

  test.each([
    ['an object', { data: { a: 1 } }],
    ['nothing in it', {}],
    ['null', null],
    ['a bare list', []],
    ['a cursor that is a number', { data: [], nextCursor: 2 }],
    ['a workflow without nodes', { data: [{ id: 'w', name: 'a', active: true, connections: {} }] }],
    ['a workflow without an id', { data: [{ id: '', name: 'a', active: true, nodes: [], connections: {} }] }],
    ['a workflow that is a text', { data: ['w1'] }],
  ])('is an error when its shape is another: %s', async (_what, body) => {
    await start();
    n8n.inject({ kind: 'answer', reply: { status: 200, body } });
    expect(await failure(clientOf(n8n).listWorkflows())).toMatchObject({ code: 'not_the_public_api' });
  });

  test('C101: a wrong base address stops before any write and says where to look', async () => {
    await start();
    const page = await UpstreamDouble.start();
    page.on('*', html());
    const error = await failure(new N8nPublicApi(page.origin, n8n.apiKey).listWorkflows());
    expect(error).toMatchObject({ code: 'not_the_public_api' });
    expect((error as Error).message).toContain('check the base address');
    expect(page.requests.map(({ method }) => method)).toEqual(['GET']);
    await page.stop();
  });

  test.each(['', '/', '/api/v1', '/api/v1/'])(
    'C101: an address that ends in "%s" leads to the same request',
    async (suffix) => {
      await start();
      await new N8nPublicApi(n8n.origin + suffix, n8n.apiKey).listWorkflows();
      expect(n8n.requests).toMatchObject([{ method: 'GET', path: '/workflows', status: 200 }]);
    },
  );
});

test('a release that refuses to leave pinned data out is asked without that from then on', async () => {
  await start();
  const old = await UpstreamDouble.start();
  old.on(
    '/api/v1/workflows',
    json({ message: "Unknown query parameter 'excludePinnedData'" }, 400),
    json({ data: [], nextCursor: null }),
  );
  const api = new N8nPublicApi(old.origin, n8n.apiKey);
  await api.listWorkflows();
  await api.listWorkflows();
  expect(old.requests.map(({ query }) => query)).toEqual([
    '?limit=250&excludePinnedData=true',
    '?limit=250',
    '?limit=250',
  ]);
  await old.stop();
});

test('tags are absent, not empty, where the instance has them switched off', async () => {
  await start();
  const body = { data: [{ id: 'w', name: 'a', active: false, nodes: [], connections: {} }] };
  n8n.inject({ kind: 'answer', reply: { status: 200, body } });
  expect((await clientOf(n8n).listWorkflows())[0]).not.toHaveProperty('tags');
});

test('all tags of all pages are listed', async () => {
  await start();
  for (let index = 0; index < 251; index += 1) n8n.store.addTag(`tag ${index}`);
  expect(await clientOf(n8n).listTags()).toHaveLength(251);
});
