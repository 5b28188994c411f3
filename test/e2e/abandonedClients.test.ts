import { setTimeout as sleep } from 'node:timers/promises';

import { NODE_TYPES, renderWorkflow } from '../../core/contract/render';
import { startHost, type Host } from '../hosts/host';
import { freePort } from '../hosts/process';
import { ABANDONMENTS, AbandoningClient } from '../support/abandoningClient';
import { publishHandMade } from '../support/handMade';
import { packedTarball } from '../support/hostsFixture';
import { callTool, codeOf } from '../support/mcpRequest';
import { NodeInspector } from '../support/nodeInspector';
import { readContract, type TestSurface } from '../support/publish';
import * as upstream from '../support/upstreamDouble';

const CLIENTS = 100;
const REQUESTS = 10_000;
const WARM_UP = 1_000;
const TIMEOUT_SECONDS = 2;

describe.each([
  ['1.100.1', {}],
  // With its default settings n8n 2.x makes a sandbox for every request, ten times slower; the heap is the same.
  ['2.41.1', { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' }],
])('n8n %s after 10 000 requests from 100 clients that left', (version, env) => {
  let host: Host;
  let inspector: NodeInspector;
  let double: upstream.UpstreamDouble;
  let surface: TestSurface;
  let grown: number;
  /** What goes on when the upstream is asked for a workflow, which it never answers. */
  const waiting = new Map<string, () => void>();

  beforeAll(async () => {
    const port = await freePort();
    double = await upstream.UpstreamDouble.start();
    double.on('/api/v1/workflows', upstream.json({ data: [], nextCursor: null }));
    double.on('*', (response) => {
      waiting.get(response.req.url?.split('/').at(-1) ?? '')?.();
    });
    const nodeArgs = [`--inspect=127.0.0.1:${String(port)}`];
    host = await startHost({ version, tarball: packedTarball(), env, nodeArgs });
    surface = await publish(host, double.origin);
    inspector = await NodeInspector.attach(port);
    await abandon(WARM_UP);
    const before = await inspector.heapAfterCollection();
    await abandon(REQUESTS);
    grown = (await inspector.heapAfterCollection()) / before;
  }, 900_000);

  afterAll(async () => {
    inspector.close();
    await double.stop();
    await host.stop();
  });

  /** Resolves when the upstream is asked for that workflow, or when the call has run into its time limit before. */
  async function reached(workflowId: string): Promise<void> {
    const asked = new Promise<void>((resolve) => waiting.set(workflowId, resolve));
    await Promise.race([asked, sleep(TIMEOUT_SECONDS * 1_000, undefined, { ref: false })]);
    waiting.delete(workflowId);
  }

  /** All clients at once, each kind of leaving in turn; returns when the last left call has run into its time limit. */
  async function abandon(requests: number): Promise<void> {
    const tools = { quick: 'n8n_list_workflows', slow: 'n8n_get_workflow_summary', reached };
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, number) => {
        const client = new AbandoningClient(surface, tools);
        for (let sent = 0; sent < requests / CLIENTS; sent += 1) {
          await client.abandon(ABANDONMENTS[(number + sent) % ABANDONMENTS.length] ?? ABANDONMENTS[0]);
        }
        client.leave();
      }),
    );
    await sleep(TIMEOUT_SECONDS * 1_500);
    double.requests.length = 0;
  }

  it('holds no more than 5 % more memory than before', () => {
    expect(grown).toBeGreaterThan(0.5);
    expect(grown).toBeLessThan(1.05);
  });

  it('has noticed that callers went away, and answers the next one', async () => {
    expect(host.logs().includes('"code":"call_cancelled"')).toBe(true);
    expect(codeOf(await callTool(surface, 'n8n_list_workflows'))).toBe('ok');
  });
});

async function publish(host: Host, baseUrl: string): Promise<TestSurface> {
  const credential = await host.api.post<{ id: string; name: string }>('/credentials', {
    name: 'e2e-abandoned upstream',
    type: 'mcpUpstreamApi',
    data: { baseUrl, authentication: 'none', name: '', secret: '', testPath: '/' },
  });
  const { id, name } = credential;
  const tools = renderWorkflow(await readContract('web-app-n8n'))
    .nodes.filter(({ type }) => type === NODE_TYPES.readTool)
    .map((tool) => ({ ...tool, credentials: { mcpUpstreamApi: { id, name } } }));
  return await publishHandMade(host, {
    ...{ slug: 'abandoned', tools, toolNames: tools.map((tool) => tool.name) },
    limits: { concurrent_requests: CLIENTS, timeout_seconds: TIMEOUT_SECONDS },
  });
}
