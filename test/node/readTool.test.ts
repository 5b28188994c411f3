import type { IExecuteFunctions, ISupplyDataFunctions } from 'n8n-workflow';
import { McpReadTool } from '../../nodes/McpReadTool/McpReadTool.node';
import { directCallOf } from '../../nodes/shared/directCall';
import { json, UpstreamDouble } from '../support/upstreamDouble';
import { definitionText } from './definitions';
import { bench, emptyRun, executeContext, node, READ_TOOL, supplyContext, type Bench } from './contexts';

const SECRET = `key-${Math.random().toString(36).slice(2)}`;
const readTool = new McpReadTool();
let upstream: UpstreamDouble;

beforeAll(async () => {
  upstream = await UpstreamDouble.start();
});
afterAll(async () => {
  await upstream.stop();
});

interface Tool {
  readonly name: string;
  readonly schema: unknown;
  invoke(args: object): Promise<string>;
}

function benchWith(
  definition: string,
  credentials: Record<string, string> = { mcpUpstreamApi: 'upstream' },
): Bench {
  return bench([node('n8n_list_executions', READ_TOOL, { definition }, credentials)], {
    upstream: { baseUrl: upstream.origin, authentication: 'header', name: 'X-N8N-API-KEY', secret: SECRET },
  });
}

async function toolOf(on: Bench): Promise<Tool> {
  const context = supplyContext(on, 'n8n_list_executions') as unknown as ISupplyDataFunctions;
  return (await readTool.supplyData.call(context)).response as Tool;
}

const execution = {
  id: 4,
  status: 'success',
  mode: 'webhook',
  workflowId: 'w1',
  data: { secret: 'payload' },
};
const definition = definitionText('web-app-n8n', 'n8n_list_executions');

describe('the Read Tool as a LangChain tool', () => {
  test('shows a model the JSON Schema of the contract and answers with what the contract keeps', async () => {
    upstream.on('/api/v1/executions', json({ data: [execution], nextCursor: null }));
    const tool = await toolOf(benchWith(definition));
    expect(tool.name).toBe('n8n_list_executions');
    expect(tool.schema).toMatchObject({ type: 'object', additionalProperties: false });
    const answer = await tool.invoke({ workflow_id: 'w1' });
    expect(JSON.parse(answer)).toEqual({
      items: [{ id: 4, status: 'success', mode: 'webhook', workflowId: 'w1' }],
      returned: 1,
      truncated: false,
      next: null,
    });
    expect(answer).not.toContain('payload');
  });

  test('tells a model what went wrong, with the code', async () => {
    upstream.on('/api/v1/executions', json({ message: 'unauthorized' }, 401));
    const tool = await toolOf(benchWith(definition));
    expect(await tool.invoke({})).toContain('upstream_auth_failed: Upstream refused the credential');
  });

  test('lets a model correct arguments that do not fit, instead of ending the agent', async () => {
    const tool = await toolOf(benchWith(definition));
    expect(await tool.invoke({ limit: 1_000 })).toContain(
      'arguments_invalid: Argument /limit must be at most 25',
    );
    expect(await tool.invoke({ url: 'http://x' })).toContain(
      'arguments_invalid: Argument /url is not an argument',
    );
  });

  test('has a direct face that keeps structure, code and pointer', async () => {
    const direct = directCallOf(await toolOf(benchWith(definition)));
    const context = {
      consumer: 'client-one',
      tenant: null,
      correlationId: 'c',
      signal: new AbortController().signal,
    };
    await expect(direct?.call({ limit: 0 }, context)).rejects.toMatchObject({
      code: 'arguments_invalid',
      pointer: '/limit',
    });
    upstream.on('/api/v1/executions', json({ data: [], nextCursor: null }));
    await expect(direct?.call({}, context)).resolves.toMatchObject({
      structuredContent: { returned: 0 },
    });
  });

  test('without a credential says so at the call, and does not keep the other tools from being supplied', async () => {
    const tool = await toolOf(benchWith(definition, {}));
    expect(await tool.invoke({})).toContain('credential_missing: This tool has no upstream credential');
  });

  test.each([
    ['no JSON', '{', 'Operation is not valid JSON'],
    ['an unknown key', JSON.stringify({ url: 'http://x' }), 'Operation cannot be used'],
    ['an expression', '={{ $json.definition }}', 'must be a fixed value, not an expression'],
  ])('is refused for a definition that holds %s', async (_name, text, reason) => {
    await expect(toolOf(benchWith(text))).rejects.toThrow(reason);
  });
});

describe('the Read Tool run by an agent of n8n 2.x', () => {
  const run = (own: unknown) =>
    emptyRun({
      n8n_list_executions: [{ inputOverride: { ai_tool: [[{ json: own }]] } } as never],
    });
  const foreign = [
    { json: { status: 'error', workflow_id: 'from-the-item', toolCallId: 'call_1', tool: 'x' } },
  ];

  async function execute(on: Bench, own?: unknown) {
    const context = executeContext(
      on,
      'n8n_list_executions',
      foreign,
      own === undefined ? emptyRun() : run(own),
    );
    return await readTool.execute.call(context as unknown as IExecuteFunctions);
  }

  test("sends the model's own arguments and nothing of the agent's input item", async () => {
    upstream.on('/api/v1/executions', json({ data: [execution], nextCursor: 'next-page' }));
    const [[item] = []] = await execute(benchWith(definition), { limit: 5 });
    expect(item?.json).toMatchObject({ returned: 1, truncated: true, next: 'next-page' });
    expect(upstream.requests.at(-1)?.query).toBe('?includeData=false&limit=5');
  });

  test('refuses to guess where the host does not say what the model sent', async () => {
    const before = upstream.requests.length;
    await expect(execute(benchWith(definition))).rejects.toThrow('arguments_invalid: ');
    expect(upstream.requests).toHaveLength(before);
  });

  test('gives the error as an item where the node is set to continue', async () => {
    const on = benchWith(definition);
    Object.assign(on.workflow.getNode('n8n_list_executions') ?? {}, { continueOnFail: true });
    const [[item] = []] = await execute(on, { limit: 500 });
    expect(item?.json['error']).toContain('arguments_invalid: Argument /limit');
  });
});
