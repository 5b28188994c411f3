import { executionsOf } from '../support/executions';
import { STACK_TRACE, expectRefusal } from '../support/expectations';
import { createHandMade, calculator } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { errorOf, post, rpc, type RequestOptions } from '../support/mcpRequest';
import { ownApi, publishContract, type TestSurface } from '../support/publish';
import { rawHttp } from '../support/rawHttp';

/** Failures that people reported of comparable servers, by case id; kinds server-auth and server-transport. */

const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'probe', version: '1' },
};

describe.each(hosts())('reported failures of other servers, on n8n $version', (host) => {
  let surface: TestSurface;
  beforeAll(async () => {
    surface = await publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'cases-http',
      upstream: ownApi(host),
      // The reported server had tools only.
      change: (draft) => {
        draft.capabilities.resources = false;
        for (const operation of draft.operations) delete operation.resource;
      },
    });
  });
  afterAll(async () => {
    await surface.remove();
  });

  const list = (options: RequestOptions = {}) => rpc(surface, 'tools/list', undefined, { id: 2, ...options });
  const withHeader = (name: string, value: string) => list({ headers: [[name, value]] });
  const toolsIn = (json: unknown) => (json as { result?: { tools?: unknown[] } }).result?.tools;

  it('answers GET at once with 405, Allow: POST and a closed connection, starting no execution (C055)', async () => {
    const accept = ['Accept', 'text/event-stream'] as const;
    const started = Date.now();
    const [known, unknown] = await Promise.all([
      rawHttp({
        url: surface.url,
        method: 'GET',
        headers: [accept, ['Authorization', `Bearer ${surface.bearer}`]],
      }),
      rawHttp({ url: surface.url, method: 'GET', headers: [accept] }),
    ]);
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(known.status).toBe(405);
    expect(known.headers.allow).toBe('POST');
    expect(known.headers.connection).toBe('close');
    expect(known.text.length).toBeLessThan(300);
    expect(unknown.status).toBe(401);
    await expect(executionsOf(host, surface.workflowId)).resolves.toEqual([]);
  });

  it('gives out no session id and ignores one that another replica made (C057)', async () => {
    const initialized = await rpc(surface, 'initialize', INITIALIZE);
    expect(initialized.status).toBe(200);
    expect(initialized.headers['mcp-session-id']).toBeUndefined();
    const foreign = await withHeader('Mcp-Session-Id', 'made-on-another-replica');
    expect(foreign.status).toBe(200);
    expect(toolsIn(foreign.json)).toHaveLength(3);
  });

  it('answers with JSON to clients that accept only JSON, anything, or do not say (C059)', async () => {
    const answers = await Promise.all([
      withHeader('Accept', 'application/json'),
      withHeader('Accept', '*/*'),
      list({ without: ['accept'] }),
    ]);
    for (const { status, headers, json } of answers) {
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(toolsIn(json)).toHaveLength(3);
    }
  });

  it('takes lifecycle messages, and says method not found where it has nothing (C061)', async () => {
    const [initialized, cancelled, ping, resources] = await Promise.all([
      rpc(surface, 'notifications/initialized', undefined, { id: null }),
      rpc(surface, 'notifications/cancelled', { requestId: 3 }, { id: null }),
      rpc(surface, 'ping', undefined, { id: 9 }),
      rpc(surface, 'resources/list', undefined, { id: 10 }),
    ]);
    for (const { status, text } of [initialized, cancelled]) expect([status, text]).toEqual([202, '']);
    expect(ping.status).toBe(200);
    expect(ping.json).toEqual({ jsonrpc: '2.0', id: 9, result: {} });
    expect(resources.status).toBe(200);
    expect(resources.json).toMatchObject({ id: 10, error: { code: -32601 } });
  });

  it('refuses unusable version headers and takes a missing one for 2025-03-26 (C063)', async () => {
    const answers = await Promise.all([
      withHeader('MCP-Protocol-Version', 'not-a-version'),
      withHeader('MCP-Protocol-Version', '1900-01-01'),
      list(),
      withHeader('MCP-Protocol-Version', '2025-06-18'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 200, 200]);
  });

  it('answers broken and wrong-shaped bodies as the client’s fault, without parser text (C065)', async () => {
    const [broken, shapeless, text] = await Promise.all([
      // n8n parses before a node runs and answers this one itself, so 422 stands where 400 would.
      post(surface, '{"jsonrpc":"2.0","id":1,'),
      post(surface, '{"id":1,"method":"tools/list"}'),
      post(surface, '"tools/list"'),
    ]);
    expect([400, 422]).toContain(broken.status);
    for (const response of [shapeless, text]) {
      expect(response.status).toBe(400);
      expect(errorOf(response)?.code).toBe(-32600);
    }
    for (const response of [broken, shapeless, text]) expect(response.text).not.toMatch(STACK_TRACE);
  });

  it('never redirects for a trailing slash (C067)', async () => {
    const [without, withSlash] = await Promise.all([
      list(),
      rpc({ ...surface, url: `${surface.url}/` }, 'tools/list', undefined, { id: 2 }),
    ]);
    expect(without.status).toBe(200);
    if (withSlash.status === 404) expect(withSlash.headers.location).toBeUndefined();
    else expect([withSlash.status, withSlash.text]).toEqual([200, without.text]);
  });

  it('compares the scheme without case and the token exactly (C068)', async () => {
    const answers = await Promise.all([
      withHeader('Authorization', `bearer ${surface.bearer}`),
      withHeader('Authorization', `BEARER ${surface.bearer}`),
      withHeader('Authorization', `Bearer ${surface.bearer.toUpperCase()}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 401]);
  });

  it('answers a missing token with 401 and a challenge, and with nothing else (C070)', async () => {
    const answers = await Promise.all([
      list({ without: ['authorization'] }),
      withHeader('Authorization', 'Basic dXNlcjpwdw=='),
    ]);
    for (const response of answers) {
      expect(response.status).toBe(401);
      expect(response.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(response.headers['www-authenticate']).not.toContain('resource_metadata');
      expect(response.text.length).toBeLessThan(500);
      expect(response.text).not.toMatch(STACK_TRACE);
      expect(response.text).not.toContain('n8n_');
    }
    await expect(executionsOf(host, surface.workflowId)).resolves.toEqual([]);
  });

  it('serves nobody when a trigger has no consumers credential (C073)', async () => {
    const open = await createHandMade(host, {
      slug: 'cases-open',
      tools: [calculator()],
      toolNames: ['calculator', 'Calculator'],
      withoutCredential: true,
    });
    try {
      const activation = await host.api.request('POST', `/workflows/${open.workflowId}/activate`);
      expect(activation.status).toBe(400);
      expect(JSON.stringify(activation.body)).toMatch(/credential/i);
      for (const bearer of [null, surface.bearer]) {
        const response = await rpc({ url: open.url, bearer }, 'tools/list');
        expect([401, 404, 503]).toContain(response.status);
        expect(response.text).not.toMatch(/"tools"/);
      }
    } finally {
      await open.remove();
    }
  });

  it('refuses an unknown consumer of another surface like anybody else', async () => {
    expectRefusal(await rpc({ ...surface, bearer: 'x'.repeat(43) }, 'tools/list'), {
      status: 401,
      code: 'bearer_invalid',
    });
  });

  itKeepsTheLogClean(host, () => [surface.bearer]);
});
