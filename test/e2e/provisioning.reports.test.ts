import type { AttachedHost } from '../hosts/host';
import { editWorkflow, eventually, type EditableWorkflow } from '../support/editWorkflow';
import { activate, node } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { OperatorOnHost, toolNames } from '../support/operatorOnHost';
import { rawHttp } from '../support/rawHttp';

const OWNER = 'e2e-reports';
const N8N = 'web-app-n8n';
const PROMETHEUS = 'web-app-prometheus';
const TOOLS = ['n8n_list_workflows', 'n8n_get_workflow_summary', 'n8n_list_executions'];
const LIST = 'n8n_list_workflows';
const MODEL = 'My chat model';

interface Pair {
  application_id: string;
  consumer: string;
  status: string;
  code: string | null;
  endpoint: string;
  server: string;
  tools: string[];
  catalogue_pin: string;
}

// One life of an installation: each test goes on from where the one before has stopped.
describe.each(hosts())('looking at surfaces, and using them from n8n $version', (host: AttachedHost) => {
  let operator: OperatorOnHost;

  beforeAll(async () => {
    operator = await OperatorOnHost.start(host, OWNER);
    operator.secret('n8n.upstream', host.apiKey);
    const upstream = { authentication: 'header', name: 'X-N8N-API-KEY', secret: 'file:secrets/n8n.upstream' };
    await operator.addSurface(N8N, { base_url: host.url, ...upstream });
    const prometheus = await operator.addSurface(PROMETHEUS, { base_url: host.url, ...upstream });
    prometheus.enabled = false;
    expect(await operator.run('apply')).toMatchObject({ code: 0, stderr: '' });
  });
  afterAll(async () => {
    await operator.stop();
  });

  const clientWorkflow = async (id: string) =>
    await host.api.get<EditableWorkflow>(`/workflows/${await operator.workflowId(id)}`);
  const unchanged = async () => {
    const { code, stdout } = await operator.run('apply');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(' 4 unchanged.') as string });
    expect(operator.proxy.writes).toEqual([]);
    expect((await operator.run('plan')).code).toBe(0);
  };

  it('verifies that a surface lets in whom it should, and that a disabled one is silent', async () => {
    const { code, stdout } = await operator.run('verify');
    expect(stdout).not.toContain('failed ');
    expect(stdout).toContain('passed read client-claude');
    expect(stdout).toMatch(/\n\d+ passed, 0 failed, \d+ skipped\.\n$/);
    expect(code).toBe(0);
    const report = JSON.parse((await operator.run('verify', '--json')).stdout) as {
      checks: { application_id: string; check: string; status: string }[];
    };
    const passed = report.checks.filter(({ status }) => status === 'passed');
    const checksOf = (id: string) =>
      passed.filter(({ application_id: of }) => of === id).map(({ check }) => check);
    expect(new Set(checksOf(N8N))).toEqual(
      new Set([
        ...['handshake', 'tool_names', 'tool_pins', 'read', 'upstream_credential'],
        ...['no_bearer_refused', 'wrong_bearer_refused', 'foreign_bearer_refused'],
      ]),
    );
    expect(checksOf(PROMETHEUS)).toEqual(['silent_get', 'silent_post']);
    expect(operator.proxy.writes).toEqual([]);
  });

  it('discovers who reaches what, and the configuration of a client works as it is printed', async () => {
    const { code, stdout } = await operator.run('discover', '--json');
    const { pairs } = JSON.parse(stdout) as { pairs: Pair[] };
    expect(code).toBe(0);
    expect(pairs.map(({ application_id: id, consumer, code: why }) => [id, consumer, why])).toEqual([
      [N8N, 'client-claude', null],
      [N8N, 'client-cursor', null],
      [PROMETHEUS, 'client-claude', 'surface_disabled'],
      [PROMETHEUS, 'client-cursor', 'surface_disabled'],
    ]);
    const revealed = await operator.run('discover', '--format', 'cursor', '--reveal', '--strict');
    const { mcpServers } = JSON.parse(revealed.stdout) as {
      mcpServers: Record<string, { url: string; headers: { Authorization: string } }>;
    };
    expect(Object.keys(mcpServers)).toEqual([N8N]);
    const { url = '', headers } = mcpServers[N8N] ?? {};
    const bearer = headers?.Authorization.replace('Bearer ', '') ?? '';
    expect(await toolNames({ url, bearer })).toEqual(TOOLS);
    expect((await operator.run('discover', '--format', 'cursor')).stdout).not.toContain(bearer);
  });

  it('tells what is managed', async () => {
    const { code, stdout } = await operator.run('status');
    expect(code).toBe(0);
    expect(stdout).toContain(`${N8N}: active, workflow ${await operator.workflowId(N8N)}; `);
    expect(stdout.match(/drift no/g)).toHaveLength(2);
    expect(operator.proxy.writes).toEqual([]);
  });

  it('makes an agent and a call that use the surface under its pins, and writes nothing the second time', async () => {
    const { stdout } = await operator.run('discover', '--json', '--consumer', 'client-claude');
    const [pair] = (JSON.parse(stdout) as { pairs: Pair[] }).pairs;
    const provider = {
      endpoint: pair?.endpoint,
      server: pair?.server,
      authentication: 'bearer',
      secret: 'file:secrets/client-claude',
      allowed_networks: '127.0.0.0/8',
    };
    const common = { enabled: true, provider, catalogue_pin: pair?.catalogue_pin };
    operator.clients = [
      { ...common, id: 'client-agent', kind: 'agent', tools: pair?.tools },
      { ...common, id: 'client-call', kind: 'call', tools: pair?.tools.slice(0, 2) },
    ];
    const { stderr, stdout: applied } = await operator.run('apply');
    expect({ stderr, applied }).toEqual({
      stderr: '',
      applied: expect.stringContaining('2 to create, 0 to update') as string,
    });
    await unchanged();
    const { workflows, credentials } = await operator.managed();
    expect(workflows).toHaveLength(3);
    expect(credentials).toHaveLength(4);
    const tool = (await clientWorkflow('client-agent')).nodes.find(({ type }) => type.endsWith('ClientTool'));
    expect(tool?.parameters).toMatchObject({ server: pair?.server, tools: pair?.tools });
  });

  it('calls through the managed node, from a webhook that a person has added', async () => {
    const id = await operator.workflowId('client-call');
    const path = 'e2e-reports-call';
    const webhook = node('Webhook', 'n8n-nodes-base.webhook', 2, {
      path,
      responseMode: 'lastNode',
      options: {},
    });
    const { status } = await editWorkflow(host, id, (workflow) => {
      workflow.nodes.push({ ...webhook, webhookId: path });
      workflow.connections['Webhook'] = { main: [[{ node: `Call ${LIST}`, type: 'main', index: 0 }]] };
    });
    expect(status).toBe(200);
    await activate(host, id);
    await eventually(async () => {
      const answer = await rawHttp({ url: `${host.url}/webhook/${path}`, method: 'GET', headers: [] });
      expect(answer).toMatchObject({
        status: 200,
        text: expect.stringContaining(`${OWNER}:${N8N}`) as string,
      });
    });
    await unchanged();
  });

  it("keeps a person's model and prompt while the pins change, and heals the pins", async () => {
    const id = await operator.workflowId('client-agent');
    const { status } = await editWorkflow(host, id, (workflow) => {
      workflow.nodes.push(node(MODEL, '@n8n/n8n-nodes-langchain.lmChatOpenAi', 1.2, { options: {} }));
      workflow.connections[MODEL] = {
        ai_languageModel: [[{ node: 'AI Agent', type: 'ai_languageModel', index: 0 }]],
      };
      const agent = workflow.nodes.find(({ name }) => name === 'AI Agent');
      if (agent) agent.parameters = { options: { systemMessage: 'Be brief.' } };
    });
    expect(status).toBe(200);
    await unchanged();

    const [agent, call] = operator.clients as { tools: string[]; catalogue_pin?: string }[];
    if (!agent || !call) throw new Error('There are two clients.');
    agent.tools = agent.tools.slice(0, 1);
    const planned = await operator.run('plan');
    expect(planned).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('.parameters.tools: ') as string,
    });
    expect(await operator.run('apply')).toMatchObject({ code: 0 });
    await unchanged();
    const { nodes, connections } = await clientWorkflow('client-agent');
    const named = (name: string) => nodes.find((one) => one.name === name);
    expect(nodes.find(({ type }) => type.endsWith('ClientTool'))?.parameters['tools']).toEqual(agent.tools);
    expect(agent.tools[0]).toMatch(new RegExp(`^${LIST}@sha256:`));
    expect(named(MODEL)?.type).toBe('@n8n/n8n-nodes-langchain.lmChatOpenAi');
    expect(named('AI Agent')?.parameters).toEqual({ options: { systemMessage: 'Be brief.' } });
    expect(connections).toHaveProperty([MODEL, 'ai_languageModel', 0, 0, 'node'], 'AI Agent');
  });

  it('takes a tool out of a call, and a disabled client out of service with its credential', async () => {
    const [agent, call] = operator.clients as { tools: string[]; enabled: boolean }[];
    if (!agent || !call) throw new Error('There are two clients.');
    call.tools = call.tools.slice(0, 1);
    agent.enabled = false;
    const { code, stdout } = await operator.run('apply');
    expect({ code, stdout }).toMatchObject({ code: 0 });
    await unchanged();
    const calls = (await clientWorkflow('client-call')).nodes.filter(({ type }) => type.endsWith('Client'));
    expect(calls.map(({ name }) => name)).toEqual([`Call ${LIST}`]);
    const { credentials } = await operator.managed();
    expect(credentials.filter(({ name }) => name.includes('client-agent'))).toEqual([]);
  });

  it('destroys clients with their credentials as well', async () => {
    expect((await operator.run('destroy', '--confirm', OWNER)).code).toBe(0);
    expect(await operator.managed()).toEqual({ workflows: [], credentials: [], tags: [] });
    expect(operator.leaksIn(operator.printed.join('\n'))).toEqual([]);
  });

  itKeepsTheLogClean(host, () => [...operator.secrets]);
});
