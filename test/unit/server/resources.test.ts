import type { ResourceDeclaration } from '../../../core/contract/resource';
import { surfaceOf } from '../../../core/contract/surface';
import { PolicyError } from '../../../core/policy/errors';
import { ConcurrencyGate } from '../../../core/policy/limits';
import { contractSurface } from '../../../core/server/surfaces';
import type { ConnectedTool } from '../../../core/server/tools';
import { contractOf } from '../contract/checkedIn';
import {
  bodyOf,
  call,
  codeOf,
  endpoint,
  LIMITS,
  makeToken,
  rpc,
  send,
  surfaceOfTools,
  tool,
} from './endpoint';

const page: ResourceDeclaration = {
  uri_template: 'wiki://{id}',
  mime_type: 'text/plain',
  expose: 'both',
  content: '/body',
  encoding: 'text',
};
const declared = (name: string, changes: Partial<ResourceDeclaration>, result: object): ConnectedTool => ({
  ...tool(name, (args) => Promise.resolve({ content: [], structuredContent: { ...args, ...result } })),
  resource: { ...page, ...changes },
});

const TOOLS = [
  declared('page', {}, { body: 'The text of the page.' }),
  declared('start', { uri_template: 'wiki://site/start', expose: 'resource' }, { body: 'Welcome.' }),
  declared(
    'whole',
    { uri_template: 'record://{id}', content: null, mime_type: 'application/json' },
    { number: 1 },
  ),
  declared(
    'picture',
    { uri_template: 'picture://{id}', encoding: 'base64', mime_type: 'image/png' },
    { body: 'aGVs\nbG8=\n' },
  ),
  declared('broken', { uri_template: 'broken://{id}', encoding: 'base64' }, { body: 'not base64!' }),
  declared('huge', { uri_template: 'huge://{id}' }, { body: 'x'.repeat(LIMITS.response_bytes) }),
  {
    ...tool('absent', () =>
      Promise.reject(new PolicyError('upstream_not_found', 'Upstream has nothing there.')),
    ),
    resource: { ...page, uri_template: 'absent://{id}' },
  },
  tool('plain'),
];
const ALL = TOOLS.map(({ descriptor }) => descriptor.name).join(' ');

const one = makeToken();
const other = makeToken();
const target = endpoint(surfaceOfTools(TOOLS, LIMITS, { hasResources: true }), [
  { id: 'client-inspector', secret: one, tools: ALL },
  { id: 'client-cursor', secret: other, tools: 'page plain' },
]);

const ask = async (method: string, params: object = {}, token = one.token) =>
  await send(target, { token, body: rpc(method, params) });
const read = async (uri: string, token = one.token) => await ask('resources/read', { uri }, token);
const resultOf = (served: Awaited<ReturnType<typeof read>>): unknown => bodyOf(served).result;

describe('resources/list and resources/templates/list', () => {
  test('show what this consumer may read, with what a client needs to choose', async () => {
    expect(resultOf(await ask('resources/list'))).toEqual({
      resources: [
        {
          uri: 'wiki://site/start',
          name: 'start',
          title: 'start',
          description: 'Says what start was given.',
          mimeType: 'text/plain',
        },
      ],
    });
    const templates = async (token: string) =>
      (
        resultOf(await ask('resources/templates/list', {}, token)) as {
          resourceTemplates: { uriTemplate: string }[];
        }
      ).resourceTemplates.map(({ uriTemplate }) => uriTemplate);
    expect(await templates(other.token)).toEqual(['wiki://{id}']);
    expect(await templates(one.token)).toContain('picture://{id}');
  });

  test('leave a resource that is no tool out of the tools, and its call unknown', async () => {
    const listed = bodyOf(await ask('tools/list')).result?.tools?.map(({ name }) => name);
    expect(listed).toEqual(['page', 'whole', 'picture', 'broken', 'huge', 'absent', 'plain']);
    const served = await send(target, { token: one.token, body: call('start', {}) });
    expect(codeOf(served)).toBe('tool_unknown');
    expect(bodyOf(served).error?.message).not.toContain('start');
  });

  test('are no methods of a surface without resources', async () => {
    const without = endpoint(surfaceOfTools([tool('plain')]), [
      { id: 'client-inspector', secret: one, tools: 'plain' },
    ]);
    for (const method of ['resources/list', 'resources/templates/list', 'resources/read']) {
      const served = await send(without, { token: one.token, body: rpc(method, { uri: 'wiki://a' }) });
      expect(bodyOf(served).error?.code).toBe(-32601);
    }
  });
});

describe('resources/read', () => {
  test('answers with text, with JSON and with bytes, each under its media type', async () => {
    expect(resultOf(await read('wiki://A%20page'))).toEqual({
      contents: [{ uri: 'wiki://A%20page', mimeType: 'text/plain', text: 'The text of the page.' }],
    });
    expect(resultOf(await read('record://7'))).toEqual({
      contents: [{ uri: 'record://7', mimeType: 'application/json', text: '{"id":"7","number":1}' }],
    });
    expect(resultOf(await read('picture://7'))).toEqual({
      contents: [{ uri: 'picture://7', mimeType: 'image/png', blob: 'aGVsbG8=' }],
    });
  });

  test('makes exactly one audit event, which names the operation and neither URI nor text', async () => {
    const { audit, isCall } = await read('wiki://Secret');
    expect(isCall).toBe(true);
    expect(audit).toMatchObject({ tool: 'page', code: 'ok', consumer_application_id: 'client-inspector' });
    expect(JSON.stringify(audit)).not.toContain('Secret');
    expect((await read('nothing://Secret')).audit).toMatchObject({ tool: null, code: 'resource_unknown' });
  });

  test('answers for a resource of another consumer exactly as for one that does not exist', async () => {
    const [foreign, unknown] = await Promise.all([
      read('record://7', other.token),
      read('nowhere://7', other.token),
    ]);
    const told = (served: typeof foreign) =>
      JSON.stringify(bodyOf(served)).replace(/(?:record|nowhere):/g, '');
    expect(told(foreign)).toBe(told(unknown));
    expect(codeOf(foreign)).toBe('resource_unknown');
    expect(bodyOf(foreign).error?.code).toBe(-32602);
  });

  test.each([
    ['a URI that does not satisfy the input schema', `wiki://${'x'.repeat(21)}`, 'arguments_invalid', -32602],
    ['a record that upstream does not have', 'absent://1', 'upstream_not_found', -32602],
    ['content that is no base64', 'broken://1', 'upstream_unexpected_shape', -32603],
    ['a resource larger than the limit', 'huge://1', 'response_too_large', -32603],
  ])('refuses %s as a JSON-RPC error', async (_what, uri, code, rpcCode) => {
    const served = await read(uri);
    expect([served.answer.status, codeOf(served), bodyOf(served).error?.code]).toEqual([200, code, rpcCode]);
    expect(served.audit?.code).toBe(code);
  });

  test('takes a place like a call', async () => {
    const gate = new ConcurrencyGate();
    gate.tryEnter('test', 2);
    gate.tryEnter('test', 2);
    const served = await send(
      { ...target, gate },
      { token: one.token, body: rpc('resources/read', { uri: 'wiki://a' }) },
    );
    expect([served.answer.status, codeOf(served)]).toEqual([429, 'too_many_requests']);
  });

  test('of a pinned contract compares with the pin before it reads', async () => {
    const surface = contractSurface(surfaceOf(contractOf('web-app-n8n')), {
      find: () => Promise.resolve(undefined),
      all: () => Promise.reject(new Error('A list of a pinned contract supplies no tool.')),
    });
    const pinned = endpoint(surface, [
      { id: 'client-inspector', secret: one, tools: 'n8n_list_workflows n8n_get_workflow_summary' },
    ]);
    const listed = await send(pinned, { token: one.token, body: rpc('resources/templates/list') });
    expect(bodyOf(listed).result).toMatchObject({
      resourceTemplates: [{ uriTemplate: 'n8n://workflows/{workflow_id}', mimeType: 'application/json' }],
    });
    const served = await send(pinned, {
      token: one.token,
      body: rpc('resources/read', { uri: 'n8n://workflows/1' }),
    });
    expect(codeOf(served)).toBe('tool_missing');
  });
});

describe('a list that is longer than a page', () => {
  const many = Array.from({ length: 250 }, (_, index) => tool(`tool_${String(index)}`));
  const long = endpoint(surfaceOfTools(many), [
    { id: 'client-inspector', secret: one, tools: many.map(({ descriptor }) => descriptor.name).join(' ') },
  ]);
  const list = async (cursor?: string) =>
    await send(long, { token: one.token, body: rpc('tools/list', cursor === undefined ? {} : { cursor }) });

  test('is read page by page, each tool once', async () => {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const result = bodyOf(await list(cursor)).result as { tools: { name: string }[]; nextCursor?: string };
      names.push(...result.tools.map(({ name }) => name));
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect(names).toEqual(many.map(({ descriptor }) => descriptor.name));
  });

  test.each(['', 'cDE', 'cDk5OTkwMA', 'p100', 'garbage!', 'cDMwMA'])(
    'refuses the cursor %j',
    async (cursor) => {
      const served = await list(cursor);
      expect([codeOf(served), bodyOf(served).error?.code]).toEqual(['cursor_invalid', -32602]);
    },
  );
});
