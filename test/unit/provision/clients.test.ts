import { makeBearer } from '../../../core/server/bearer';
import { Operator, OWNER } from './harness';

const PIN = (name: string) => `${name}@sha256:${'a'.repeat(64)}`;
const RELEASES = ['1.100.1', '2.8', '2.41.1'] as const;
const TOOL_NODE = 'MCP Allowlist Client';

describe.each(RELEASES)('managed clients on n8n %s', (release) => {
  let operator: Operator;
  beforeEach(async () => {
    operator = await Operator.start(release);
    operator.draft.surfaces = [];
    operator.draft.clients = [
      client('client-support', 'agent', ['find_order']),
      client('client-sync', 'call', ['a', 'b']),
    ];
  });
  afterEach(async () => {
    await operator.stop();
  });

  function client(id: string, kind: string, tools: string[]): Record<string, unknown> {
    return {
      id,
      kind,
      enabled: true,
      provider: {
        endpoint: 'https://mcp.example.com/mcp',
        server: 'orders@https://mcp.example.com',
        authentication: 'bearer',
        secret: `file:${operator.secret(`${id}.token`)}`,
      },
      tools: tools.map(PIN),
    };
  }
  const workflow = (id: string) => {
    const found = [...operator.n8n.store.workflows.values()].find(({ name }) => name === `${OWNER}:${id}`);
    if (!found) throw new Error(`There is no workflow of ${id}.`);
    return found;
  };
  const nodeOf = (id: string, name: string) => {
    const found = workflow(id).nodes.find((node) => node.name === name);
    if (!found) throw new Error(`${id} has no node ${name}.`);
    return found;
  };
  const setParameters = (node: ReturnType<typeof nodeOf>, parameters: object) => {
    node.parameters = { ...node.parameters, ...parameters };
  };
  const settle = async () => {
    expect((await operator.run('apply')).code).toBe(0);
    expect((await operator.run('apply')).code).toBe(0);
    expect(operator.n8n.writes).toEqual([]);
  };

  test('are made with exactly the pinned tools, and a second run writes nothing', async () => {
    await settle();
    expect(nodeOf('client-support', TOOL_NODE).parameters).toMatchObject({
      server: 'orders@https://mcp.example.com',
      tools: [PIN('find_order')],
    });
    const calls = workflow('client-sync').nodes.filter(({ type }) => type.endsWith('.mcpAllowlistClient'));
    expect(calls.map(({ parameters }) => (parameters as { tool: { value: string } }).tool.value)).toEqual([
      PIN('a'),
      PIN('b'),
    ]);
    const credentials = [...operator.n8n.store.credentials.values()].map(({ name }) => name).sort();
    expect(credentials).toEqual([`${OWNER}:client-support server`, `${OWNER}:client-sync server`]);
    expect(workflow('client-support').active).toBe(false);
  });

  test('keep what a person made: a model, prompts, arguments, activation, positions', async () => {
    await settle();
    const row = workflow('client-support');
    row.nodes.push({
      id: 'model-1',
      name: 'Model',
      type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
      typeVersion: 1.2,
      position: [100, 400],
      parameters: { model: 'x' },
    });
    row.connections['Model'] = {
      ai_languageModel: [[{ node: 'AI Agent', type: 'ai_languageModel', index: 0 }]],
    };
    setParameters(nodeOf('client-support', 'AI Agent'), { options: { systemMessage: 'Be brief.' } });
    Object.assign(nodeOf('client-support', TOOL_NODE), { position: [999, 999] });
    setParameters(nodeOf('client-support', TOOL_NODE), { options: { timeoutSeconds: 5 } });
    expect((await operator.run('plan')).code).toBe(0);
    operator.draft.clients[0] = {
      ...operator.draft.clients[0],
      tools: [PIN('find_order'), PIN('list_orders')],
    };
    expect((await operator.run('apply')).code).toBe(0);
    expect(nodeOf('client-support', TOOL_NODE)).toMatchObject({
      position: [999, 999],
      parameters: { tools: [PIN('find_order'), PIN('list_orders')], options: { timeoutSeconds: 5 } },
    });
    expect(nodeOf('client-support', 'AI Agent').parameters).toEqual({
      options: { systemMessage: 'Be brief.' },
    });
    expect(nodeOf('client-support', 'Model').parameters).toEqual({ model: 'x' });
    expect(workflow('client-support').connections['Model']).toBeDefined();
  });

  test.each<[string, (row: ReturnType<typeof workflow>) => void, RegExp]>([
    [
      'another tool',
      (row) =>
        Object.assign(row.nodes.find(({ name }) => name === TOOL_NODE)?.parameters ?? {}, {
          tools: [PIN('delete_all')],
        }),
      /parameters\.tools: .*delete_all/,
    ],
    [
      'another server',
      (row) =>
        Object.assign(row.nodes.find(({ name }) => name === TOOL_NODE)?.parameters ?? {}, {
          server: 'x@https://evil.example.com',
        }),
      /parameters\.server: x@https:\/\/evil/,
    ],
    [
      'the node taken away',
      (row) => {
        row.nodes = row.nodes.filter(({ name }) => name !== TOOL_NODE);
      },
      /nodes\.MCP Allowlist Client: \(absent\)/,
    ],
    [
      'the name',
      (row) => {
        row.name = 'Support';
      },
      /name: Support -> /,
    ],
    [
      'the ledger',
      (row) => {
        for (const node of row.nodes)
          if (node.name === 'About this workflow') node.parameters = { content: 'mine' };
      },
      /ledger: \(missing or edited\)/,
    ],
  ])('show a hand edit of %s in a plan and heal it', async (_what, edit, line) => {
    await settle();
    const row = workflow('client-support');
    edit(row);
    const plan = await operator.run('plan');
    expect(plan.code).toBe(2);
    expect(plan.stdout).toMatch(line);
    await settle();
    expect(nodeOf('client-support', TOOL_NODE).parameters).toMatchObject({ tools: [PIN('find_order')] });
    expect([...operator.n8n.store.workflows.values()]).toHaveLength(2);
  });

  test('get a tool that is added later: its node, led to from the start, beside what a person led there', async () => {
    await settle();
    const row = workflow('client-sync');
    row.nodes.push({
      id: 'mine',
      name: 'Mine',
      type: 'n8n-nodes-base.noOp',
      typeVersion: 1,
      position: [0, 300],
      parameters: {},
    });
    const [start = ''] = Object.keys(row.connections);
    row.connections[start] = { main: [[{ node: 'Mine', type: 'main', index: 0 }]] };
    operator.draft.clients[1] = { ...operator.draft.clients[1], tools: [PIN('a'), PIN('b'), PIN('c')] };
    await settle();
    const targets = (
      workflow('client-sync').connections[start] as { main: { node: string }[][] }
    ).main.flat();
    expect(targets.map(({ node }) => node)).toEqual(['Mine', 'Call c']);
  });

  test('get a changed secret, shown as changed and nowhere in clear', async () => {
    await settle();
    const next = makeBearer().token;
    operator.secret('client-support.token', next);
    const plan = await operator.run('plan');
    expect(plan).toMatchObject({ code: 2 });
    expect(plan.stdout).toContain('server secret: changed');
    await settle();
    const held = [...operator.n8n.store.credentials.values()].map(({ data }) => data['token']);
    expect(held).toContain(next);
    expect(held).toHaveLength(2);
    expect(plan.stdout).not.toContain(next);
  });

  test('that are off or not named any more lose their credential, and prune removes the latter', async () => {
    await settle();
    const [first, second] = operator.draft.clients;
    operator.draft.clients = [{ ...first, enabled: false }];
    expect((await operator.run('apply')).code).toBe(0);
    expect([...operator.n8n.store.credentials.values()]).toEqual([]);
    expect((await operator.run('apply')).code).toBe(0);
    expect(operator.n8n.writes).toEqual([]);
    expect((await operator.run('prune')).stdout).toBe('client-sync: removed\n');
    expect([...operator.n8n.store.workflows.values()].map(({ name }) => name)).toEqual([
      `${OWNER}:client-support`,
    ]);
    operator.draft.clients = [{ ...first }, { ...second }];
    await settle();
    expect([...operator.n8n.store.workflows.values()]).toHaveLength(2);
  });

  test('that are wrong do not stop the others, and nothing is written for them', async () => {
    operator.secret('client-support.token', `\u0007${makeBearer().token}`);
    const { code, report } = await operator.json('apply');
    expect(code).toBe(1);
    expect(report['clients']).toMatchObject([
      { application_id: 'client-support', action: 'failed', error: { code: 'credential_missing' } },
      { application_id: 'client-sync', action: 'create', error: null },
    ]);
    expect([...operator.n8n.store.workflows.values()].map(({ name }) => name)).toEqual([
      `${OWNER}:client-sync`,
    ]);
  });
});
