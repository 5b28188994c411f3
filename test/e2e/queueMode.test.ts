import { setTimeout as sleep } from 'node:timers/promises';

import { NODE_TYPES, TRIGGER_NODE_NAME, renderWorkflow } from '../../core/contract/render';
import { HOST_VERSIONS } from '../hosts/install';
import { executionsOf, type Execution } from '../support/executions';
import { publishHandMade } from '../support/handMade';
import { packedTarball } from '../support/hostsFixture';
import { faultsIn } from '../support/logWatch';
import { POSTGRES } from '../support/postgres';
import { readContract, type TestSurface } from '../support/publish';
import { recordingClient, type CallOutcome, type RecordingClient } from '../support/queueClients';
import { startQueueCluster, type ClusterProcess, type QueueCluster } from '../support/queueCluster';
import { REDIS } from '../support/redis';
import { requireService } from '../support/services';
import * as upstream from '../support/upstreamDouble';

const CLIENTS = 20;
const CALLS_EACH = 25;
/** Of its calls each client makes so many before a processor is killed, and so many before it is back. */
const BEFORE_KILL = 8;
const BEFORE_RETURN = 16;
/** Long enough that calls are under way on both processors whenever one is killed (milliseconds). */
const UPSTREAM_MS = 30;
const TOOL = 'n8n_get_workflow_summary';

const installed = [REDIS, POSTGRES].every((service) => requireService('queueMode', service) !== null);
const runs = installed ? describe.each : describe.skip.each;

interface AuditLine {
  correlation_id: string;
  tool: string | null;
  code: string;
}

runs([...HOST_VERSIONS])('n8n %s in queue mode, with 500 calls while a processor is killed', (version) => {
  let double: upstream.UpstreamDouble;
  let cluster: QueueCluster;
  let surface: TestSurface;
  const clients: RecordingClient[] = [];
  let outcomes: CallOutcome[] = [];
  let executions: Execution[] = [];
  /** The processor that was killed, when it had ended, and the log of its first life. */
  let killed: { process: ClusterProcess; endedAt: number; logs: string };

  beforeAll(async () => {
    double = await upstream.UpstreamDouble.start();
    double.on('*', (response) => {
      setTimeout(upstream.json({ id: '1', name: 'one', nodes: [] }), UPSTREAM_MS, response);
    });
    cluster = await startQueueCluster(version, packedTarball());
    surface = await publish(cluster, double.origin);
    for (const [number, id] of consumerIds().entries()) {
      const bearer = surface.bearers[id] ?? '';
      clients.push(await recordingClient(number % 2 === 0 ? 'v1' : 'v2', { url: surface.url, id, bearer }));
    }
    outcomes = await callWhileOneIsKilled();
    executions = await untilNothingMoves(cluster, surface);
  }, 420_000);

  afterAll(async () => {
    await Promise.all(
      clients.map(async (client) => {
        await client.close();
      }),
    );
    await double.stop();
    await cluster.stop();
  }, 60_000);

  /** Every client makes its calls one after the other; one processor is killed among them and comes back. */
  async function callWhileOneIsKilled(): Promise<CallOutcome[]> {
    const [victim] = cluster.processors;
    const made = gate(CLIENTS * BEFORE_KILL);
    const back = victimsReturn(made.passed, victim);
    const all = await Promise.all(
      clients.map(async (client) => {
        const own: CallOutcome[] = [];
        for (let number = 0; number < CALLS_EACH; number += 1) {
          if (number === BEFORE_RETURN) await back;
          own.push(await client.call(TOOL, { workflow_id: String(number) }));
          made.pass();
        }
        return own;
      }),
    );
    return all.flat();
  }

  async function victimsReturn(untilMiddle: Promise<void>, victim: ClusterProcess): Promise<void> {
    await untilMiddle;
    await victim.kill();
    killed = { process: victim, endedAt: Date.now(), logs: victim.logs() };
    await victim.start();
    cluster.proxy.answered.set(victim.url, 0);
    cluster.proxy.take(victim.url);
  }

  it('fails no call but those that were under way on the killed processor', () => {
    expect(outcomes).toHaveLength(CLIENTS * CALLS_EACH);
    const failed = outcomes.filter(({ text }) => text === undefined);
    expect(failed.map(({ status }) => status)).toEqual(failed.map(() => 502));
    const { lost } = cluster.proxy;
    expect(failed).toHaveLength(lost.length);
    expect(lost.length).toBeLessThanOrEqual(CLIENTS);
    expect(lost.map(({ backend }) => backend)).toEqual(lost.map(() => killed.process.url));
    for (const { sentAt } of lost) expect(sentAt).toBeLessThanOrEqual(killed.endedAt);
  });

  it('lets any processor answer any request, the restarted one too, without a session error', () => {
    // A session that another processor does not know is answered with 400, 401 or 404; GET is not offered: 405.
    const odd = clients
      .flatMap(({ statuses }) => statuses)
      .filter((status) => ![200, 202, 405, 502].includes(status));
    expect(odd).toEqual([]);
    for (const { url } of cluster.processors) expect(cluster.proxy.answered.get(url) ?? 0).toBeGreaterThan(0);
  });

  it('writes exactly one audit line for every call that was answered', () => {
    const lines = cluster.processors.flatMap(({ logs }) => auditLines(logs()));
    const answered = outcomes
      .filter(({ text }) => text !== undefined)
      .map(({ correlationId }) => correlationId);
    const audited = lines.map(({ correlation_id }) => correlation_id);
    expect(new Set(audited).size).toBe(audited.length);
    expect(answered.filter((id) => id === null || !audited.includes(id))).toEqual([]);
    // A call whose answer was lost may have been made: its line stands in the log of the killed processor.
    const unanswered = audited.filter((id) => !answered.includes(id));
    const firstLife = new Set(auditLines(killed.logs).map(({ correlation_id }) => correlation_id));
    expect(unanswered.filter((id) => !firstLife.has(id))).toEqual([]);
    expect(unanswered.length).toBeLessThanOrEqual(cluster.proxy.lost.length);
    expect(lines.filter(({ code }) => code !== 'ok')).toEqual([]);
  });

  it('records every call on a worker, but what the killed processor had not handed over yet', () => {
    const recorded = executions.map(({ outputs }) => outputs[TRIGGER_NODE_NAME]?.[0]?.['correlation_id']);
    const known = recorded.filter((id) => typeof id === 'string');
    expect(new Set(known).size).toBe(known.length);
    const audited = cluster.processors
      .flatMap(({ logs }) => auditLines(logs()))
      .map((line) => line.correlation_id);
    const firstLife = new Set(auditLines(killed.logs).map(({ correlation_id }) => correlation_id));
    const missing = audited.filter((id) => !known.includes(id));
    expect(missing.filter((id) => !firstLife.has(id))).toEqual([]);
    // n8n saves an execution after the answer has left.
    expect(missing.length).toBeLessThanOrEqual(CLIENTS);
    expect(known.filter((id) => !audited.includes(id))).toEqual([]);
    const onWorkers = cluster.workers.map(({ logs }) => logs().split('Worker started execution ').length - 1);
    for (const count of onWorkers) expect(count).toBeGreaterThan(0);
    expect(onWorkers.reduce((sum, count) => sum + count)).toBe(known.length);
  });

  it('leaves no fault of ours and no bearer in any log', () => {
    const logs = [cluster.host, ...cluster.processors, ...cluster.workers].map((process) => process.logs());
    expect(logs.flatMap(faultsIn)).toEqual([]);
    for (const bearer of Object.values(surface.bearers)) {
      expect(logs.some((log) => log.includes(bearer))).toBe(false);
    }
  });
});

function consumerIds(): string[] {
  return Array.from({ length: CLIENTS }, (_, index) => `client-${String(index + 1)}`);
}

async function publish(cluster: QueueCluster, baseUrl: string): Promise<TestSurface> {
  const credential = await cluster.host.api.post<{ id: string; name: string }>('/credentials', {
    name: 'e2e-queue upstream',
    type: 'mcpUpstreamApi',
    data: { baseUrl, authentication: 'none', name: '', secret: '', testPath: '/' },
  });
  const { id, name } = credential;
  const tools = renderWorkflow(await readContract('web-app-n8n'))
    .nodes.filter(({ type }) => type === NODE_TYPES.readTool)
    .map((tool) => ({ ...tool, credentials: { mcpUpstreamApi: { id, name } } }));
  return await publishHandMade(cluster.host, {
    ...{ slug: 'queue', recording: 'all', tools, toolNames: tools.map((tool) => tool.name) },
    consumers: consumerIds().map((consumer) => ({ id: consumer })),
    // One processor has to do for all of them while the other is away.
    limits: { concurrent_requests: CLIENTS },
  });
}

/** Resolves `passed` when `pass` has been called `count` times. */
function gate(count: number): { pass: () => void; passed: Promise<void> } {
  let left = count;
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    passed,
    pass: () => {
      left -= 1;
      if (left === 0) open();
    },
  };
}

/** The executions once none has been added or finished for a while. */
async function untilNothingMoves(cluster: QueueCluster, { workflowId }: TestSurface): Promise<Execution[]> {
  let before = '';
  for (;;) {
    const executions = await executionsOf(cluster.host, workflowId);
    const now = executions.map(({ id, status }) => `${String(id)} ${status}`).join();
    if (now === before) return executions;
    before = now;
    await sleep(2_000);
  }
}

/** Those of calls: a client of the SDK v1 also asks for a stream with GET, and that refusal has its line too. */
function auditLines(log: string): AuditLine[] {
  return log
    .split('\n')
    .filter((line) => line.includes('mcp_audit '))
    .map((line) => JSON.parse(line.slice(line.indexOf('{'), line.lastIndexOf('}') + 1)) as AuditLine)
    .filter(({ tool }) => tool !== null);
}
