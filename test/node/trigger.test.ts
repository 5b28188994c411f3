import { createHash, randomBytes } from 'node:crypto';
import type {
  ICredentialTestFunctions,
  IExecuteFunctions,
  IHookFunctions,
  INode,
  INodeType,
} from 'n8n-workflow';
import { surfaceOf } from '../../core/contract/surface';
import { McpBearerServerTrigger } from '../../nodes/McpBearerServerTrigger/McpBearerServerTrigger.node';
import { json, UpstreamDouble } from '../support/upstreamDouble';
import { bench, executeContext, hookContext, node, READ_TOOL, serveTrigger, TRIGGER } from './contexts';
import { contractOf, definitionText } from './definitions';

const token = randomBytes(24).toString('base64url');
const tokenSha256 = createHash('sha256').update(token).digest('hex');
const contract = contractOf('web-app-n8n');
const LIMITS = contract.limits;

let upstream: UpstreamDouble;
beforeAll(async () => {
  upstream = await UpstreamDouble.start();
});
afterAll(async () => {
  await upstream.stop();
});

const credentials = () => ({
  consumers: {
    consumers: {
      values: [
        {
          id: 'client-inspector',
          tokenSha256,
          tools: contract.tools.allowlist.concat('calculator').join(','),
        },
      ],
    },
  },
  upstream: { baseUrl: upstream.origin, authentication: 'none' },
});

const readTool = (name: string): INode =>
  node(name, READ_TOOL, { definition: definitionText('web-app-n8n', name) }, { mcpUpstreamApi: 'upstream' });

const trigger = (
  parameters: object,
  bound: Record<string, string> = { mcpConsumersApi: 'consumers' },
): INode =>
  node('Trigger', TRIGGER, { path: 'test', recording: 'refusals', options: {}, ...parameters }, bound);

const managed = { serve: 'contract', surface: JSON.stringify(surfaceOf(contract)) };
const byHand = { serve: 'names', applicationId: 'web-app-hand', toolNames: ['calculator'], limits: LIMITS };

/** Sends requests to a trigger with these nodes behind it. */
async function withTrigger(
  nodes: INode[],
  others: Record<string, INodeType>,
  run: (
    post: (body: object, bearer?: string) => Promise<{ status: number; text: string }>,
    outcomes: readonly object[],
  ) => Promise<void>,
): Promise<void> {
  const served = await serveTrigger(bench(nodes, credentials(), others), 'Trigger');
  try {
    await run(async (body, bearer = token) => {
      const response = await fetch(served.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    }, served.outcomes);
  } finally {
    await served.stop();
  }
}

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const call = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** A stand-in for native n8n tools: what `supplyData` does is what the test says. */
const nativeType = (supply: () => unknown): INodeType =>
  ({
    description: {
      displayName: 'Native',
      name: 'native',
      group: ['output'],
      version: 1,
      description: '',
      defaults: {},
      inputs: [],
      outputs: ['ai_tool'],
      properties: [],
    },
    supplyData: () => Promise.resolve({ response: supply() }),
  }) as unknown as INodeType;

const calculator = nativeType(() => ({
  name: 'calculator',
  description: 'Adds.',
  invoke: () => Promise.resolve('42'),
}));
const broken = nativeType(() => {
  throw new Error('credential not connected');
});

describe('a trigger under a contract', () => {
  test('lists from the contract although no tool is connected', async () => {
    await withTrigger([trigger(managed)], {}, async (post) => {
      expect((await post(list)).text).toContain('n8n_get_workflow_summary');
    });
  });

  test('calls the connected Read Tool and answers with structured content', async () => {
    upstream.on('/api/v1/executions', json({ data: [], nextCursor: null }));
    await withTrigger([trigger(managed), readTool('n8n_list_executions')], {}, async (post, outcomes) => {
      const { text } = await post(call('n8n_list_executions'));
      expect(JSON.parse(text)).toMatchObject({ result: { structuredContent: { returned: 0, next: null } } });
      expect(outcomes).toEqual([{ noWebhookResponse: true }]);
    });
  });

  test('supplies no other tool for a call, so that a broken one does no harm', async () => {
    upstream.on('/api/v1/executions', json({ data: [], nextCursor: null }));
    const nodes = [trigger(managed), node('Broken', 'broken', {}), readTool('n8n_list_executions')];
    await withTrigger(nodes, { broken }, async (post) => {
      expect((await post(call('n8n_list_executions'))).text).toContain('"returned":0');
    });
  });

  test('refuses a Read Tool that was edited', async () => {
    const edited = readTool('n8n_list_executions');
    edited.parameters['definition'] = definitionText('web-app-n8n', 'n8n_list_executions').replace(
      'includeData":"false',
      'includeData":"true',
    );
    await withTrigger([trigger(managed), edited], {}, async (post) => {
      const { text } = await post(call('n8n_list_executions'));
      expect(text).toContain('schema_drift');
    });
  });

  test('records a refusal as an execution, and nothing for a stranger', async () => {
    await withTrigger([trigger(managed)], {}, async (post, outcomes) => {
      await post(call('no_such_tool'));
      await post(call('n8n_list_executions'), 'wrong-bearer');
      expect(outcomes).toEqual([
        {
          noWebhookResponse: true,
          workflowData: [[{ json: expect.objectContaining({ code: 'tool_unknown' }) as unknown }]],
        },
        { noWebhookResponse: true },
      ]);
    });
  });
});

describe('a trigger that cannot work', () => {
  test.each([
    ['has no credential', trigger(managed, {}), 'The trigger has no MCP consumers credential'],
    ['has no surface', trigger({ serve: 'contract', surface: '' }), 'Surface is empty'],
    [
      'takes its surface from data',
      trigger({ serve: 'contract', surface: '={{ $json }}' }),
      'not an expression',
    ],
    [
      'has a tampered surface',
      trigger({ ...managed, surface: managed.surface.replace('Lists workflows', 'Lists all') }),
      'does not match the rest',
    ],
    ['lists no tool name', trigger({ ...byHand, toolNames: [] }), 'Connected: Calculator'],
    [
      'lacks a limit',
      trigger({ ...byHand, limits: { ...LIMITS, timeout_seconds: undefined } }),
      'The limit timeout_seconds',
    ],
    ['has no application id', trigger({ ...byHand, applicationId: '' }), 'Application ID'],
  ])('is not activated when it %s, and says why', async (_name, root, reason) => {
    const on = bench([root, node('Calculator', 'calculator', {})], credentials(), { calculator });
    const context = hookContext(on, 'Trigger') as unknown as IHookFunctions;
    await expect(new McpBearerServerTrigger().webhookMethods.default.create.call(context)).rejects.toThrow(
      reason,
    );
  });

  test('answers 503 to everybody and tells nobody why', async () => {
    await withTrigger([trigger(managed, {})], {}, async (post) => {
      const { status, text } = await post(list);
      expect(status).toBe(503);
      expect(text).not.toContain('credential');
    });
  });
});

describe('a trigger that serves listed names', () => {
  test('works with the limits that a new node starts with', async () => {
    const { limits: _limits, ...untouched } = byHand;
    await withTrigger(
      [trigger(untouched), node('Calculator', 'calculator', {})],
      { calculator },
      async (post) => {
        expect((await post(call('calculator'))).text).toContain('"text":"42"');
      },
    );
  });

  test('serves a native tool, and leaves out a broken one', async () => {
    const nodes = [
      trigger({ ...byHand, toolNames: ['broken', 'calculator'] }),
      node('Broken', 'broken', {}),
      node('Calculator', 'calculator', {}),
    ];
    await withTrigger(nodes, { broken, calculator }, async (post) => {
      const { text } = await post(list);
      expect(JSON.parse(text)).toMatchObject({
        result: { tools: [{ name: 'calculator', inputSchema: { type: 'object' } }] },
      });
      expect((await post(call('calculator'))).text).toContain('"text":"42"');
    });
  });

  const tools = (...names: string[]) => nativeType(() => names.map((name) => foreignTool(name)));
  const foreignTool = (name: string) => ({
    name,
    description: 'foreign',
    invoke: () => Promise.resolve('foreign'),
  });

  test('a connected server that grows a tool of a listed name gets none of its calls', async () => {
    const nodes = [trigger(byHand), node('Foreign', 'foreign', {}), node('Calculator', 'calculator', {})];
    await withTrigger(nodes, { foreign: tools('other', 'calculator'), calculator }, async (post) => {
      expect((await post(list)).text).toContain('Adds.');
      expect((await post(call('calculator'))).text).toContain('"text":"42"');
    });
  });

  test('a name that several nodes offer and none carries is not served', async () => {
    const nodes = [trigger(byHand), node('One', 'foreign', {}), node('Two', 'calculator', {})];
    await withTrigger(nodes, { foreign: tools('calculator'), calculator }, async (post) => {
      expect((await post(list)).text).toContain('"tools":[]');
      expect((await post(call('calculator'))).text).toContain('tool_unknown');
    });
  });

  test('a tool whose schema cannot be read leaves the others served', async () => {
    const unreadable = nativeType(() => ({
      name: 'broken',
      schema: { _def: { typeName: 'ZodObject', shape: () => ({ a: null }) } },
      invoke: () => Promise.resolve(''),
    }));
    const nodes = [
      trigger({ ...byHand, toolNames: ['broken', 'calculator'] }),
      node('Broken', 'broken', {}),
      node('Calculator', 'calculator', {}),
    ];
    await withTrigger(nodes, { broken: unreadable, calculator }, async (post) => {
      expect(JSON.parse((await post(list)).text)).toMatchObject({
        result: { tools: [{ name: 'calculator' }] },
      });
    });
  });

  test('what a tool opened is closed after the request', async () => {
    let open = 0;
    const opening = {
      ...calculator,
      supplyData: () => {
        open++;
        return Promise.resolve({
          response: foreignTool('calculator'),
          closeFunction: () => {
            open--;
            return Promise.resolve();
          },
        });
      },
    } as INodeType;
    const nodes = [trigger(byHand), node('Calculator', 'calculator', {})];
    await withTrigger(nodes, { calculator: opening }, async (post) => {
      await post(call('calculator'));
      await post(list);
      expect(open).toBe(0);
    });
  });

  test.each([
    ['throws', () => Promise.reject(new Error('401 Unauthorized')), 'The tool failed: 401 Unauthorized'],
    ['says so in its text', () => Promise.resolve('There was an error: "no access"'), 'The tool failed: '],
    [
      'names a host whose scheme was cut off',
      () => Promise.reject(new Error('lost //crm.internal/v1?token=hunter2')),
      'lost [redacted]',
    ],
    [
      'names its upstream',
      () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.5:80')),
      'ECONNREFUSED [redacted]',
    ],
  ])('answers isError when a native tool %s', async (_name, invoke, sentence) => {
    const failing = nativeType(() => ({ name: 'calculator', description: '', invoke }));
    await withTrigger(
      [trigger(byHand), node('Calculator', 'calculator', {})],
      { calculator: failing },
      async (post) => {
        const { text } = await post(call('calculator'));
        expect(JSON.parse(text)).toMatchObject({ result: { isError: true } });
        expect(text).toContain(sentence);
      },
    );
  });

  test.each([[''], [undefined], ['[]']])(
    'says that there are no results when a native tool answers %p',
    async (output) => {
      const empty = nativeType(() => ({
        name: 'calculator',
        description: '',
        invoke: () => Promise.resolve(output),
      }));
      await withTrigger(
        [trigger(byHand), node('Calculator', 'calculator', {})],
        { calculator: empty },
        async (post) => {
          expect((await post(call('calculator'))).text).toContain('[] (no results)');
        },
      );
    },
  );
});

describe('a recorded event', () => {
  const event = (status: string) => [{ json: { status, code: 'tool_failed', tool: 'find_order' } }];
  const run = async (status: string, wired: boolean) => {
    const on = bench([trigger(byHand), node('Calculator', 'calculator', {})], credentials(), { calculator });
    if (wired)
      on.workflow.connectionsBySourceNode['Trigger'] = {
        main: [[{ node: 'Calculator', type: 'main', index: 0 }]],
      };
    const context = executeContext(on, 'Trigger', event(status)) as unknown as IExecuteFunctions;
    return await new McpBearerServerTrigger().execute.call(context);
  };

  test.each([
    ['refused', false],
    ['ok', false],
    ['error', true],
  ])('with status %s leaves the main output (wired: %p)', async (status, wired) => {
    expect(await run(status, wired)).toEqual([event(status)]);
  });

  test('of a failed call shows as a failed execution where nobody takes it', async () => {
    await expect(run('error', false)).rejects.toThrow('find_order failed: tool_failed');
  });
});

describe('the test of the consumers credential', () => {
  const check = async (values: object[]) =>
    await new McpBearerServerTrigger().methods.credentialTest.testConsumers.call(
      {} as ICredentialTestFunctions,
      {
        id: '1',
        name: 'c',
        type: 'mcpConsumersApi',
        data: { consumers: { values } } as never,
      },
    );

  test('names the consumers of a usable one', async () => {
    expect(await check([{ id: 'client-one', tokenSha256, tools: 'a_b' }])).toEqual({
      status: 'OK',
      message: 'Usable. Consumers: client-one',
    });
  });

  test('says what is wrong with an unusable one', async () => {
    expect(await check([{ id: 'client-one', tools: 'a_b' }])).toMatchObject({ status: 'Error' });
  });
});
