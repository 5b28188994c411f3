import type { AttachedHost } from '../hosts/host';
import { eventually } from '../support/editWorkflow';
import { executionsOf, untilExecutions } from '../support/executions';
import { hosts } from '../support/hostsFixture';
import { makeHumanObjects, type HumanObjects } from '../support/humanObjects';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, rpc, textOf } from '../support/mcpRequest';
import { CONSUMERS, OperatorOnHost, toolNames } from '../support/operatorOnHost';
import { rawHttp } from '../support/rawHttp';
import { json, UpstreamDouble } from '../support/upstreamDouble';

const OWNER = 'e2e-operator';
const N8N = 'web-app-n8n';
const PROMETHEUS = 'web-app-prometheus';
const METRICS = 'web-app-metrics';
const TOOLS = {
  [N8N]: ['n8n_list_workflows', 'n8n_get_workflow_summary', 'n8n_list_executions'],
  [PROMETHEUS]: [
    'prometheus_query',
    'prometheus_query_range',
    'prometheus_get_targets',
    'prometheus_list_labels',
    'prometheus_get_metadata',
  ],
  [METRICS]: ['metrics_query', 'metrics_get_targets'],
};

// One life of an installation: each test goes on from where the one before has stopped.
describe.each(hosts())('an operator of n8n $version', (host: AttachedHost) => {
  let operator: OperatorOnHost;
  let upstream: UpstreamDouble;
  let human: HumanObjects;
  let before: string;
  const workflows: string[] = [];

  beforeAll(async () => {
    upstream = await UpstreamDouble.start();
    upstream.on('/api/v1/targets', json({ status: 'success', data: { activeTargets: [] } }));
    human = await makeHumanObjects(host, OWNER);
    before = await human.snapshot();
    operator = await OperatorOnHost.start(host, OWNER);
    operator.secret('n8n.upstream', host.apiKey);
    await operator.addSurface(N8N, {
      base_url: host.url,
      authentication: 'header',
      name: 'X-N8N-API-KEY',
      secret: 'file:secrets/n8n.upstream',
    });
    for (const name of ['prometheus.upstream', 'metrics.upstream']) operator.secret(name);
    const bearer = { base_url: upstream.origin, authentication: 'bearer' };
    await operator.addSurface(PROMETHEUS, { ...bearer, secret: 'file:secrets/prometheus.upstream' });
    const metrics = await operator.addSurface(
      PROMETHEUS,
      { ...bearer, secret: 'file:secrets/metrics.upstream' },
      (text) => text.replaceAll(PROMETHEUS, METRICS).replaceAll(/prometheus_(?!readonly)/g, 'metrics_'),
    );
    metrics['tools'] = TOOLS[METRICS];
    metrics['recording'] = 'all';
  });
  afterAll(async () => {
    await operator.stop();
    await human.remove();
    await upstream.stop();
  });

  const getTargets = async (applicationId: string, tool: string) =>
    textOf(await callTool(operator.endpoint(applicationId), tool));

  it('applies three surfaces with the built command line, and clients of both consumers see exactly the tools', async () => {
    expect((await operator.run('plan')).code).toBe(2);
    expect(operator.proxy.writes).toEqual([]);
    const { code, stdout, stderr } = await operator.runBuilt('apply');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `${N8N}: create\n${PROMETHEUS}: create\n${METRICS}: create\n` +
        '3 to create, 0 to update, 0 to take out of service, 0 unchanged.\n',
    );
    for (const [applicationId, tools] of Object.entries(TOOLS)) {
      for (const consumer of CONSUMERS) {
        expect(await toolNames(operator.endpoint(applicationId, consumer))).toEqual(tools);
      }
      expect((await rpc(operator.endpoint(applicationId, null), 'tools/list')).status).toBe(401);
    }
    const workflow = await operator.workflowId(N8N);
    const summary = await callTool(operator.endpoint(N8N), 'n8n_get_workflow_summary', {
      workflow_id: workflow,
    });
    expect(textOf(summary)).toContain(`${OWNER}:${N8N}`);
    expect(await getTargets(PROMETHEUS, 'prometheus_get_targets')).toContain('"returned":0');
    expect(await getTargets(METRICS, 'metrics_get_targets')).toContain('"returned":0');
    expect(upstream.lastRequest.headers.authorization).toBe(
      `Bearer ${operator.secretIn('metrics.upstream')}`,
    );
    const { workflows: managed, credentials, tags } = await operator.managed();
    workflows.push(...managed.map(({ id }) => id));
    expect(managed.map(({ name }) => name)).toEqual([METRICS, N8N, PROMETHEUS].map((id) => `${OWNER}:${id}`));
    expect(credentials).toHaveLength(6);
    expect(tags).toEqual([OWNER]);
  });

  it('writes nothing the second time, and says the same every time', async () => {
    const runs = [
      await operator.run('apply'),
      await operator.runBuilt('apply'),
      await operator.run('apply', '--json'),
    ];
    for (const { code, stderr } of runs) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(operator.proxy.writes).toEqual([]);
    expect(operator.proxy.requests.length).toBeLessThanOrEqual(4);
    expect(runs[0]?.stdout).toContain('3 unchanged.');
    expect(runs[1]?.stdout).toBe(runs[0]?.stdout);
    expect((await operator.run('apply', '--json')).stdout).toBe(runs[2]?.stdout);
    expect(operator.proxy.writes).toEqual([]);
    expect((await operator.run('plan')).code).toBe(0);
    expect(operator.proxy.writes).toEqual([]);
  });

  it('leaves no secret in workflows, executions and the log', async () => {
    const recorded = (await operator.managed()).workflows.find(({ name }) => name.endsWith(METRICS));
    await untilExecutions(host, String(recorded?.id), 1);
    const executions = await Promise.all(workflows.map(async (id) => await executionsOf(host, id)));
    const stored = await Promise.all(workflows.map(async (id) => await host.api.get(`/workflows/${id}`)));
    expect(operator.leaksIn(JSON.stringify([stored, executions]) + host.logs())).toEqual([]);
  });

  it('takes a disabled surface out of service, credentials included, and brings it back', async () => {
    const [, prometheus] = operator.surfaces;
    if (!prometheus) throw new Error('There are three surfaces.');
    prometheus.enabled = false;
    const planned = await operator.run('plan');
    expect(planned.code).toBe(2);
    expect(planned.stdout).toContain(
      `${PROMETHEUS}: retire\n  active: true -> false\n  consumers credential: `,
    );
    expect((await operator.run('apply')).code).toBe(0);
    const url = operator.endpoint(PROMETHEUS).url;
    expect((await rpc(operator.endpoint(PROMETHEUS), 'tools/list')).status).toBe(404);
    expect((await rawHttp({ url, method: 'GET', headers: [] })).status).toBe(404);
    const { credentials, workflows: managed } = await operator.managed();
    expect(credentials.filter(({ name }) => name.includes(PROMETHEUS))).toEqual([]);
    expect(managed.map(({ active }) => active)).toEqual([true, true, false]);
    await operator.run('apply');
    expect(operator.proxy.writes).toEqual([]);

    prometheus.enabled = true;
    expect((await operator.run('apply')).code).toBe(0);
    expect(await toolNames(operator.endpoint(PROMETHEUS, 'client-cursor'))).toEqual(TOOLS[PROMETHEUS]);
    expect(await getTargets(PROMETHEUS, 'prometheus_get_targets')).toContain('"returned":0');
    expect((await operator.managed()).workflows.map(({ id }) => id)).toEqual(workflows);
  });

  it('prunes a surface that the file does not name any more, and nothing else', async () => {
    const metrics = operator.endpoint(METRICS);
    operator.surfaces = operator.surfaces.filter(({ application_id: id }) => id !== METRICS);
    const { code, stdout } = await operator.run('prune');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${METRICS}: removed\n` });
    await eventually(async () => {
      expect((await rpc(metrics, 'tools/list')).status).toBe(404);
    });
    const { workflows: managed, credentials } = await operator.managed();
    expect(managed.map(({ name }) => name)).toEqual([`${OWNER}:${N8N}`, `${OWNER}:${PROMETHEUS}`]);
    expect(credentials).toHaveLength(4);
    expect((await operator.run('plan')).code).toBe(0);
    expect((await operator.run('prune')).stdout).toBe('There is nothing to remove.\n');
    expect(operator.proxy.writes).toEqual([]);
  });

  it('destroys everything of the owner, and nothing that a person has made', async () => {
    const refused = await operator.run('destroy');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(operator.proxy.writes).toEqual([]);
    expect((await operator.run('destroy', '--confirm', OWNER)).code).toBe(0);
    expect(await operator.managed()).toEqual({ workflows: [], credentials: [], tags: [] });
    expect(await human.snapshot()).toBe(before);
    expect((await operator.run('destroy', '--confirm', OWNER)).stdout).toBe('There is nothing to remove.\n');
    expect(operator.proxy.writes).toEqual([]);
  });

  it('has printed no secret', () => {
    expect(operator.leaksIn(operator.printed.join('\n'))).toEqual([]);
  });

  itKeepsTheLogClean(host, () => [...operator.secrets]);
});
