import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { N8nPublicApi } from '../../../cli/n8n/publicApi';
import { publishSurface, withdrawSurface } from '../../../cli/n8n/publishSurface';
import { contractOf } from '../../node/definitions';
import { body, hang, html, json, redirect, UpstreamDouble } from '../../support/upstreamDouble';

const KEY = randomBytes(16).toString('hex');
let n8n: UpstreamDouble;

beforeAll(async () => {
  n8n = await UpstreamDouble.start();
});
beforeEach(() => {
  n8n.reset();
});
afterAll(async () => {
  await n8n.stop();
});

/** Does not wait in between. */
const pace = { now: () => 0, random: () => 0, sleep: () => Promise.resolve() };
const api = (suffix = '') => new N8nPublicApi(n8n.origin + suffix, KEY, { pace });

const workflow = (id: string, name = id, active = false) => ({
  id,
  name,
  active,
  nodes: [],
  connections: {},
  settings: {},
});

describe('the list of workflows', () => {
  test('is read to its last page', async () => {
    n8n.on(
      '/api/v1/workflows',
      json({ data: [workflow('w1')], nextCursor: 'c 2' }),
      json({ data: [workflow('w2')], nextCursor: null }),
    );
    expect((await api().listWorkflows()).map(({ id }) => id)).toEqual(['w1', 'w2']);
    expect(n8n.requests.map(({ query }) => query)).toEqual([
      '?limit=250&excludePinnedData=true',
      '?limit=250&cursor=c+2&excludePinnedData=true',
    ]);
  });

  test('ends with an error where the pages go round in circles', async () => {
    n8n.on('/api/v1/workflows', json({ data: [], nextCursor: 'again' }));
    await expect(api().listWorkflows()).rejects.toThrow('the same page');
  });

  test.each(['', '/', '/api/v1', '/api/v1/'])(
    'is asked for at the same place with the address ending in "%s"',
    async (suffix) => {
      n8n.on('/api/v1/workflows', json({ data: [] }));
      await api(suffix).listWorkflows();
      expect(n8n.lastRequest.path).toBe('/api/v1/workflows');
      expect(n8n.lastRequest.headers['x-n8n-api-key']).toBe(KEY);
    },
  );

  test.each([
    ['a web page', html()],
    ['something that is no list', json({ data: 'none' })],
    ['nothing', body('')],
    ['a refusal', json({ message: `unauthorized ${KEY}` }, 401)],
  ])(
    'is never taken for empty when n8n answers with %s, and the error holds no key',
    async (_what, answer) => {
      n8n.on('/api/v1/workflows', answer);
      const failure = api().listWorkflows();
      await expect(failure).rejects.toThrow(/list of workflows|not JSON|401/);
      await expect(failure).rejects.not.toThrow(KEY);
    },
  );
});

describe('an address that is not that of an n8n', () => {
  test.each(['localhost:5678', 'n8n.example.com', 'ftp://n8n.example.com', ''])(
    'is refused before anything is sent: "%s"',
    (address) => {
      expect(() => new N8nPublicApi(address, KEY)).toThrow('must be an http or https address such as');
    },
  );

  test('is named with the cause where nobody listens', async () => {
    const gone = await UpstreamDouble.start();
    const { origin } = gone;
    await gone.stop();
    const { host } = new URL(origin);
    await expect(new N8nPublicApi(origin, KEY, { pace }).listWorkflows()).rejects.toThrow(
      `No answer from http://${host}: ECONNREFUSED; is n8n running there?`,
    );
  });

  test.each([
    ['a page that is not there', html(404)],
    ['a redirect to a sign-in', redirect('/login')],
    ['JSON of something else', json({ error: 'no' }, 404)],
    ['a web page', html()],
  ])('is told by the answer: %s', async (_what, answer) => {
    n8n.on('/api/v1/workflows', answer);
    await expect(api().listWorkflows()).rejects.toThrow('check the base address');
  });
});

test.each(['ключ', 'key with spaces', 'key\r\nx: y'])(
  'an API key that no header can carry is refused without repeating it: %j',
  (key) => {
    const make = () => new N8nPublicApi(n8n.origin, key);
    expect(make).toThrow('no HTTP header can carry');
    expect(make).not.toThrow(key);
  },
);

describe('publishing a surface', () => {
  const contract = contractOf('web-app-n8n');
  const endpoint = () => `${n8n.origin}/mcp/web-app-n8n`;
  const wishes = {
    contract,
    owner: 'owner',
    consumers: [{ id: 'client-inspector', tokenSha256: 'a'.repeat(64), tools: ['n8n_list_workflows'] }],
    upstream: { baseUrl: 'http://127.0.0.1:1', authentication: 'none' as const },
  };
  const writes = () =>
    n8n.requests.filter(({ method, path }) => method !== 'GET' && path.startsWith('/api/'));

  const made = () => writes().map(({ method, path }) => `${method} ${path}`);
  const REMOVALS = [
    'POST /api/v1/workflows/w1/deactivate',
    'DELETE /api/v1/workflows/w1',
    'DELETE /api/v1/credentials/c2',
    'DELETE /api/v1/credentials/c1',
  ];

  function willing(): void {
    n8n.on('/api/v1/workflows', json({ data: [], nextCursor: null }), json(workflow('w1')));
    n8n.on(
      '/api/v1/credentials',
      json({ id: 'c1', name: 'c', type: 't' }),
      json({ id: 'c2', name: 'u', type: 't' }),
    );
    n8n.on('*', json(workflow('w1')));
    n8n.on('/mcp/web-app-n8n', json({}, 404), json({}, 404), json({}, 401));
  }

  test('waits until the endpoint asks for a bearer', async () => {
    willing();
    expect(await publishSurface(api(), endpoint(), wishes)).toMatchObject({
      workflowId: 'w1',
      credentialIds: ['c1', 'c2'],
    });
    expect(made()).toEqual([
      'POST /api/v1/credentials',
      'POST /api/v1/credentials',
      'POST /api/v1/workflows',
      'POST /api/v1/workflows/w1/activate',
    ]);
  });

  test('writes nothing where a workflow of that name exists', async () => {
    n8n.on('/api/v1/workflows', json({ data: [workflow('w7', 'owner:web-app-n8n', true)] }));
    await expect(publishSurface(api(), endpoint(), wishes)).rejects.toThrow(
      'exists already (w7); remove it and its two credentials named ' +
        'owner:web-app-n8n consumers and owner:web-app-n8n upstream first',
    );
    expect(writes()).toEqual([]);
  });

  test('writes nothing where somebody else serves the path', async () => {
    willing();
    n8n.on('/mcp/web-app-n8n', json({}, 401));
    await expect(publishSurface(api(), endpoint(), wishes)).rejects.toThrow(
      'serves /mcp/web-app-n8n already',
    );
    expect(writes()).toEqual([]);
  });

  test('takes everything away again when a later step is refused', async () => {
    willing();
    n8n.on('/api/v1/workflows/w1/activate', json({ message: 'Trigger cannot start' }, 400));
    await expect(publishSurface(api(), endpoint(), wishes)).rejects.toThrow('Trigger cannot start');
    expect(made().slice(4)).toEqual(REMOVALS);
  });

  test('takes everything away again when it is interrupted while it waits', async () => {
    willing();
    n8n.on('/mcp/web-app-n8n', json({}, 404));
    const interrupt = new AbortController();
    const publishing = publishSurface(api(), endpoint(), wishes, interrupt.signal);
    const refused = expect(publishing).rejects.toThrow('Interrupted');
    while (!made().includes('POST /api/v1/workflows/w1/activate')) await sleep(10);
    interrupt.abort(new Error('Interrupted'));
    await refused;
    expect(made().slice(4)).toEqual(REMOVALS);
  });

  test('does not wait for an endpoint that hangs once it is interrupted', async () => {
    willing();
    n8n.on('/mcp/web-app-n8n', json({}, 404), hang);
    const interrupt = new AbortController();
    const refused = expect(publishSurface(api(), endpoint(), wishes, interrupt.signal)).rejects.toThrow(
      'Interrupted',
    );
    while (n8n.requests.filter(({ path }) => path === '/mcp/web-app-n8n').length < 2) await sleep(10);
    interrupt.abort(new Error('Interrupted'));
    await refused;
    expect(made().slice(4)).toEqual(REMOVALS);
  });

  test('makes nothing more once it is interrupted', async () => {
    willing();
    const interrupt = new AbortController();
    n8n.on('/api/v1/credentials', (response) => {
      interrupt.abort(new Error('Interrupted'));
      json({ id: 'c1', name: 'c', type: 't' })(response);
    });
    await expect(publishSurface(api(), endpoint(), wishes, interrupt.signal)).rejects.toThrow('Interrupted');
    expect(made()).toEqual(['POST /api/v1/credentials', 'DELETE /api/v1/credentials/c1']);
  });

  test('names what it could not take away again', async () => {
    willing();
    n8n.on('/api/v1/workflows/w1/activate', json({ message: 'Trigger cannot start' }, 400));
    n8n.on('/api/v1/credentials/c2', json({ message: 'Forbidden' }, 403));
    await expect(publishSurface(api(), endpoint(), wishes)).rejects.toThrow(
      'Trigger cannot start; remove by hand what is left in n8n: credential c2.',
    );
    expect(made()).toContain('DELETE /api/v1/credentials/c1');
  });

  test('is withdrawn as far as it goes, and what is left is named', async () => {
    n8n.on('*', json(workflow('w1')));
    n8n.on('/api/v1/workflows/w1', json({ message: 'Forbidden' }, 403));
    const surface = { workflowId: 'w1', workflowName: 'x', credentialIds: ['c1', 'c2'] };
    await expect(withdrawSurface(api(), surface)).rejects.toThrow('workflow w1');
    expect(made().slice(2)).toEqual(['DELETE /api/v1/credentials/c1', 'DELETE /api/v1/credentials/c2']);
  });
});
