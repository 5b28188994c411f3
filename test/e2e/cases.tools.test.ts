import type { AttachedHost } from '../hosts/host';
import { untilExecutions } from '../support/executions';
import { expectNothingLeaked } from '../support/expectations';
import {
  activate,
  calculator,
  codeTool,
  createHandMade,
  node,
  publishHandMade,
  removeWorkflow,
} from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, listTools, resultOf, rpc, textOf } from '../support/mcpRequest';
import { newBearer, ownApi, publishContract, untilServed, type TestSurface } from '../support/publish';
import { json, UpstreamDouble } from '../support/upstreamDouble';

/** Failures that people reported of comparable servers, by case id; kinds server-dispatch and server-schema. */

const SLOWEST_FIRST = 'const ms = { A1: 500, B2: 250, C3: 50 }[query.id];';

describe.each(hosts())('reported failures of tool dispatch elsewhere, on n8n $version', (host) => {
  const published: TestSurface[] = [];
  afterAll(async () => {
    await Promise.all(
      published.map(async (surface) => {
        await surface.remove();
      }),
    );
  });
  const publish = async (wishes: Parameters<typeof publishHandMade>[1]) => {
    const surface = await publishHandMade(host, wishes);
    published.push(surface);
    return surface;
  };

  it('gives every parallel call its own id and its own result (C078)', async () => {
    const surface = await publish({
      slug: 'cases-parallel',
      tools: [
        codeTool(
          'echo_order',
          `${SLOWEST_FIRST} await new Promise((r) => setTimeout(r, ms)); return query.id;`,
        ),
      ],
      toolNames: ['echo_order'],
    });
    const asked = [
      { id: 1, order: 'A1' },
      { id: 1, order: 'B2' },
      { id: 'x', order: 'C3' },
    ];
    const answers = await Promise.all(
      asked.map(async ({ id, order }) => await callTool(surface, 'echo_order', { id: order }, { id })),
    );
    expect(
      answers.map((answer) => ({
        status: answer.status,
        id: (answer.json as { id: unknown }).id,
        order: textOf(answer),
      })),
    ).toEqual(asked.map(({ id, order }) => ({ status: 200, id, order })));
  });

  it('answers a tool that throws with isError and its cause, and marks the execution failed (C080)', async () => {
    const surface = await publish({
      slug: 'cases-throws',
      tools: [codeTool('find_order', "throw new Error('NodeApiError: 401 Unauthorized');")],
      toolNames: ['find_order'],
      recording: 'refusals',
    });
    const answer = await callTool(surface, 'find_order', { id: 'A1' });
    expect(answer.status).toBe(200);
    expect(resultOf(answer)?.isError).toBe(true);
    expect(codeOf(answer)).toBe('tool_failed');
    expect(textOf(answer)).toMatch(/401 Unauthorized/);
    expect(textOf(answer).length).toBeLessThan(400);
    expectNothingLeaked(answer);
    const [execution] = await untilExecutions(host, surface.workflowId, 1);
    expect(execution?.status).toBe('error');
  });

  it('says that there are no results when a sub-workflow gives no items (C082)', async () => {
    const sub = await subWorkflowWithoutItems(host);
    try {
      const surface = await publish({
        slug: 'cases-empty',
        tools: [
          node('find_order', '@n8n/n8n-nodes-langchain.toolWorkflow', 2.2, {
            name: 'find_order',
            description: 'Finds an order',
            source: 'database',
            workflowId: { __rl: true, value: sub, mode: 'id' },
            workflowInputs: { mappingMode: 'defineBelow', value: {}, matchingColumns: [], schema: [] },
          }),
          codeTool('find_nothing', "return '';"),
        ],
        toolNames: ['find_order', 'find_nothing'],
      });
      const answers = await Promise.all([
        callTool(surface, 'find_order', { input: 'none' }),
        callTool(surface, 'find_nothing', { id: 'none' }),
      ]);
      for (const answer of answers) {
        expect(answer.status).toBe(200);
        expect(resultOf(answer)).toEqual({ content: [{ type: 'text', text: '[] (no results)' }] });
      }
    } finally {
      await removeWorkflow(host, sub);
    }
  });

  it('goes on serving the other tools when one cannot be built (C084)', async () => {
    // A credential that is taken away later: n8n 2.x refuses to activate a workflow without one.
    const credential = await host.api.post<{ id: string; name: string }>('/credentials', {
      name: 'e2e-cases-broken',
      type: 'serpApi',
      data: { apiKey: newBearer() },
    });
    const crm = node('crm_search', '@n8n/n8n-nodes-langchain.toolSerpApi', 1);
    crm.credentials = { serpApi: { id: credential.id, name: credential.name } };
    const surface = await createHandMade(host, {
      slug: 'cases-broken',
      tools: [codeTool('find_order', "return 'order ' + query.id;"), crm],
      toolNames: ['find_order', 'crm_search', 'search'],
    });
    published.push(surface);
    await activate(host, surface.workflowId);
    await host.api.delete(`/credentials/${credential.id}`);
    await untilServed(surface);

    const clientInfo = { name: 'probe', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const initialized = await rpc(surface, 'initialize', params);
    expect(initialized.status).toBe(200);
    expect((await listTools(surface)).map(({ name }) => name)).toEqual(['find_order']);
    expect(textOf(await callTool(surface, 'find_order', { id: 'A1' }))).toBe('order A1');
    for (const name of ['crm_search', 'search']) {
      const broken = await callTool(surface, name, { input: 'x' });
      expect(broken.status).toBe(200);
      expect(['tool_unknown', 'tool_failed', 'tool_missing']).toContain(codeOf(broken));
      expectNothingLeaked(broken);
    }
  });

  it('gives every listed property a type, and the root the type object (C085)', async () => {
    const surface = await publish({
      slug: 'cases-schema',
      tools: [
        node('by_date', 'n8n-nodes-base.httpRequestTool', 4.2, {
          toolDescription: 'Orders of a date',
          url: `${host.url}/healthz`,
          sendQuery: true,
          queryParameters: {
            parameters: [
              { name: 'date', value: "={{ $fromAI('date', 'date filter', 'json') }}" },
              { name: 'n', value: "={{ $fromAI('n', 'how many', 'number') }}" },
              { name: 'open', value: "={{ $fromAI('open', 'only open ones', 'boolean') }}" },
              { name: 'text', value: "={{ $fromAI('text') }}" },
            ],
          },
        }),
        calculator(),
      ],
      toolNames: ['by_date', 'calculator', 'Calculator'],
    });
    const tools = await listTools(surface);
    expect(tools).toHaveLength(2);
    for (const { inputSchema } of tools) {
      expect(inputSchema.type).toBe('object');
      for (const property of Object.values(inputSchema.properties ?? {})) {
        expect(property).toHaveProperty('type');
      }
    }
    expect(tools[0]?.inputSchema.properties).toMatchObject({
      date: { type: 'object', description: 'date filter' },
      n: { type: 'number' },
      open: { type: 'boolean' },
      text: { type: 'string' },
    });
    const answer = await callTool(surface, 'by_date', {
      date: { from: '2026-01-01' },
      n: 2,
      open: true,
      text: '',
    });
    expect(codeOf(answer)).toBe('ok');
  });

  it('lists both inputs of a tool with their types and sends both to upstream (C129)', async () => {
    const erp = await UpstreamDouble.start();
    try {
      erp.on('/api/lines', json({ lines: ['A1-1'] }));
      const surface = await publish({
        slug: 'cases-two-inputs',
        tools: [
          node('list_lines', 'n8n-nodes-base.httpRequestTool', 4.2, {
            toolDescription: 'Lines of an order',
            method: 'GET',
            url: `${erp.origin}/api/lines`,
            sendQuery: true,
            queryParameters: {
              parameters: [
                { name: 'order', value: "={{ $fromAI('order', 'order number', 'string') }}" },
                { name: 'page', value: "={{ $fromAI('page', 'page number', 'number') }}" },
              ],
            },
          }),
        ],
        toolNames: ['list_lines'],
      });
      const [tool] = await listTools(surface);
      expect(tool?.inputSchema.properties).toMatchObject({
        order: { type: 'string' },
        page: { type: 'number' },
      });
      const answer = await callTool(surface, 'list_lines', { order: 'A1', page: 2 });
      expect([codeOf(answer), textOf(answer)]).toEqual(['ok', expect.stringContaining('A1-1') as string]);
      expect(erp.requests.map(({ method, path, query }) => `${method} ${path}${query}`)).toEqual([
        'GET /api/lines?order=A1&page=2',
      ]);
    } finally {
      await erp.stop();
    }
  });

  it('marks read-only adapters as read-only, and nothing else (C087)', async () => {
    const contract = await publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'cases-annotations',
      upstream: ownApi(host),
    });
    published.push(contract);
    const byHand = await publish({
      slug: 'cases-unannotated',
      tools: [calculator(), codeTool('find_order', "return 'x';")],
      toolNames: ['calculator', 'Calculator', 'find_order'],
    });
    for (const { annotations } of await listTools(contract)) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    }
    const natives = await listTools(byHand);
    expect(natives).toHaveLength(2);
    for (const { annotations } of natives) expect(annotations?.['readOnlyHint']).not.toBe(true);
  });

  itKeepsTheLogClean(host, () => published.map(({ bearer }) => bearer));
});

/** A sub-workflow that takes whatever it gets and lets nothing through. */
async function subWorkflowWithoutItems(host: AttachedHost): Promise<string> {
  const start = node('Start', 'n8n-nodes-base.executeWorkflowTrigger', 1.1, { inputSource: 'passthrough' });
  const never = node('Never', 'n8n-nodes-base.filter', 2.2, {
    conditions: {
      options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
      combinator: 'and',
      conditions: [
        { id: 'never', leftValue: 'a', rightValue: 'b', operator: { type: 'string', operation: 'equals' } },
      ],
    },
    options: {},
  });
  const { id } = await host.api.post<{ id: string }>('/workflows', {
    name: 'e2e-cases-sub',
    nodes: [start, never],
    connections: { Start: { main: [[{ node: 'Never', type: 'main', index: 0 }]] } },
    settings: { executionOrder: 'v1' },
  });
  // Only 2.x wants a sub-workflow to be published; 1.x says that it has nothing to activate.
  await host.api.request('POST', `/workflows/${id}/activate`);
  return id;
}
