import { TRIGGER_NODE_NAME } from '../../core/contract/render';
import { startBearerProxy } from '../support/bearerProxy';
import { eventually } from '../support/editWorkflow';
import { executionsOf } from '../support/executions';
import { expectRefusal } from '../support/expectations';
import { codeTool, createHandMade, publishHandMade } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, listTools, rpc, textOf } from '../support/mcpRequest';
import { ownApi, publishContract, type TestSurface } from '../support/publish';
import { rawHttp } from '../support/rawHttp';

const PAGE = 'https://chat.example.test';
const EVIL = 'https://evil.example.net';
const ASKED = 'authorization, content-type, accept, mcp-protocol-version, mcp-session-id';

describe.each(hosts())('where the trigger stands, on n8n $version', (host) => {
  let open: TestSurface;
  let closed: TestSurface;
  beforeAll(async () => {
    [open, closed] = await Promise.all([
      publishHandMade(host, {
        slug: 'hosting-open',
        tools: [codeTool('find_order', "return 'order ' + query.id;")],
        toolNames: ['find_order'],
        options: { allowedOrigins: `https://first.example.test,${PAGE}`, allowedHosts: 'mcp.example.test' },
      }),
      publishContract(host, { applicationId: 'web-app-n8n', slug: 'hosting-closed', upstream: ownApi(host) }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([open.remove(), closed.remove()]);
  });

  const preflight = async (surface: TestSurface, origin: string) =>
    await rawHttp({
      url: surface.url,
      method: 'OPTIONS',
      headers: [
        ['Origin', origin],
        ['Access-Control-Request-Method', 'POST'],
        ['Access-Control-Request-Headers', ASKED],
      ],
    });
  const from = async (surface: TestSurface, origin: string) =>
    await rpc(surface, 'tools/list', undefined, { headers: [['Origin', origin]] });

  it('lets the page of an allowed origin call, from the preflight to the answer (C075)', async () => {
    const asked = await preflight(open, PAGE);
    expect(asked.status).toBe(204);
    expect(asked.headers['access-control-allow-origin']).toBe(PAGE);
    expect(asked.headers['access-control-allow-methods']).toContain('POST');
    expect(asked.headers['access-control-allow-headers']).toBe(ASKED);
    const answer = await from(open, PAGE);
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(PAGE);
    expect(answer.headers.vary).toContain('Origin');
    await expect(executionsOf(host, open.workflowId)).resolves.toEqual([]);
  });

  it('lets no page call where no origin is allowed, and programs all the same (C077)', async () => {
    const asked = await preflight(closed, EVIL);
    expect([EVIL, '*', 'null']).not.toContain(asked.headers['access-control-allow-origin']);
    const answer = await from(closed, EVIL);
    expectRefusal(answer, { status: 403, code: 'origin_not_allowed' });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect((await rpc(closed, 'tools/list')).status).toBe(200);
  });

  it('refuses a page of another origin than the allowed ones, and lets it read nothing', async () => {
    const asked = await preflight(open, EVIL);
    expect([EVIL, '*', 'null']).not.toContain(asked.headers['access-control-allow-origin']);
    const answer = await from(open, EVIL);
    expectRefusal(answer, { status: 403, code: 'origin_not_allowed' });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('refuses a name that was pointed at loopback, and takes those of the operator and of the machine', async () => {
    const under = async (surface: TestSurface, name: string) =>
      await rawHttp({
        url: surface.url,
        host: name,
        headers: [
          ['Content-Type', 'application/json'],
          ['Authorization', `Bearer ${surface.bearer}`],
        ],
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      });
    for (const surface of [open, closed]) {
      expectRefusal(await under(surface, 'evil.example.com'), { status: 403, code: 'host_not_allowed' });
      for (const name of ['localhost:5678', '127.0.0.1', '[::1]:80']) {
        expect([name, (await under(surface, name)).status]).toEqual([name, 200]);
      }
    }
    expect((await under(open, 'mcp.example.test')).status).toBe(200);
  });

  it('works behind a proxy that serves it under a path of its own', async () => {
    const proxy = await startBearerProxy(open.url, () => open.bearer, '/behind/a/prefix/mcp');
    try {
      const through = { url: proxy.url, bearer: null };
      expect((await listTools(through)).map(({ name }) => name)).toEqual(['find_order']);
      expect(textOf(await callTool(through, 'find_order', { id: 'A1' }))).toBe('order A1');
    } finally {
      await proxy.stop();
    }
  });

  it('answers at the test address while the editor listens, and shows the call there', async () => {
    const draft = await createHandMade(host, {
      slug: 'hosting-draft',
      tools: [codeTool('find_order', "return 'order ' + query.id;")],
      toolNames: ['find_order'],
    });
    try {
      const test = { url: draft.url.replace('/mcp/', '/mcp-test/'), bearer: draft.bearer };
      expect((await rpc(test, 'ping')).status).toBe(404);
      const { body } = await host.rest('GET', `/rest/workflows/${draft.workflowId}`);
      const workflowData = (body as { data: object }).data;
      const listening = await host.rest('POST', `/rest/workflows/${draft.workflowId}/run`, {
        workflowData,
        triggerToStartFrom: { name: TRIGGER_NODE_NAME },
      });
      expect(listening.body).toMatchObject({ data: { waitingForWebhook: true } });
      expect((await rpc(test, 'ping')).status).toBe(200);
      expect((await listTools(test)).map(({ name }) => name)).toEqual(['find_order']);
      expect(codeOf(await rpc({ ...test, bearer: 'wrong-wrong-wrong' }, 'tools/list'))).toBe(
        'bearer_invalid',
      );
      expect(textOf(await callTool(test, 'find_order', { id: 'A1' }))).toBe('order A1');
      await eventually(async () => {
        const [run] = await executionsOf(host, draft.workflowId);
        expect(run?.outputs[TRIGGER_NODE_NAME]).toMatchObject([{ code: 'ok', tool: 'find_order' }]);
      });
      expect((await rpc({ ...draft }, 'ping')).status).toBe(404);
    } finally {
      await draft.remove();
    }
  });

  itKeepsTheLogClean(host, () => [open.bearer, closed.bearer]);
});
