import { expectRefusal, type ExpectedRefusal } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, post, resultOf, rpc } from '../support/mcpRequest';
import { ownApi, publishContract, type TestSurface } from '../support/publish';
import type { RawResponse } from '../support/rawHttp';

type Send = (surface: TestSurface) => Promise<RawResponse>;
type Row = [name: string, send: Send, expected: ExpectedRefusal];

const CALLS: Row[] = [
  ['an unknown method', (s) => rpc(s, 'tools/destroy'), { status: 200, code: 'method_unknown' }],
  [
    'an unknown tool',
    (s) => callTool(s, 'n8n_delete_workflow'),
    { status: 200, code: 'tool_unknown', sentence: /n8n_list_workflows/ },
  ],
  [
    'a tool name that is no text',
    (s) => rpc(s, 'tools/call', { name: 5 }),
    { status: 200, code: 'tool_unknown' },
  ],
  ['no tool name', (s) => rpc(s, 'tools/call'), { status: 200, code: 'tool_unknown' }],
  ['the name of an object property', (s) => callTool(s, '__proto__'), { status: 200, code: 'tool_unknown' }],
  ['a missing required argument', (s) => callTool(s, 'n8n_get_workflow_summary'), argument('/workflow_id')],
  [
    'an argument of the wrong type',
    (s) => callTool(s, 'n8n_list_workflows', { limit: 'ten' }),
    argument('/limit'),
  ],
  ['an argument out of range', (s) => callTool(s, 'n8n_list_workflows', { limit: 26 }), argument('/limit')],
  [
    'an argument outside its enum',
    (s) => callTool(s, 'n8n_list_executions', { status: 'gone' }),
    argument('/status'),
  ],
  [
    'an unknown argument',
    (s) => callTool(s, 'n8n_list_workflows', { url: 'http://evil.example' }),
    argument('/url'),
  ],
  [
    'an argument named __proto__',
    (s) =>
      post(
        s,
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n8n_list_workflows","arguments":{"__proto__":{"limit":1}}}}',
      ),
    argument('/__proto__'),
  ],
  [
    'an argument that is too long',
    (s) => callTool(s, 'n8n_list_workflows', { name: 'x'.repeat(129) }),
    argument('/name'),
  ],
  ['a null byte', (s) => callTool(s, 'n8n_list_workflows', { name: 'a\u0000b' }), argument('/name')],
  [
    'a control character in a name',
    (s) => callTool(s, 'n8n_list_workflows', { 'a\u001bb': 1 }),
    argument(''),
  ],
  [
    'a path that climbs',
    (s) => callTool(s, 'n8n_get_workflow_summary', { workflow_id: '../users' }),
    argument('/workflow_id'),
  ],
  [
    'arguments that are a list',
    (s) => rpc(s, 'tools/call', { name: 'n8n_list_workflows', arguments: [] }),
    argument(''),
  ],
  [
    'arguments that are text',
    (s) => rpc(s, 'tools/call', { name: 'n8n_list_workflows', arguments: '{}' }),
    argument(''),
  ],
  [
    'arguments that are null',
    (s) => rpc(s, 'tools/call', { name: 'n8n_list_workflows', arguments: null }),
    argument(''),
  ],
];

function argument(pointer: string): ExpectedRefusal {
  return { status: 200, code: 'arguments_invalid', sentence: new RegExp(pointer) };
}

describe.each(hosts())('bad calls on n8n $version', (host) => {
  let surface: TestSurface;
  beforeAll(async () => {
    surface = await publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'bad-call',
      upstream: ownApi(host),
    });
  });
  afterAll(async () => {
    await surface.remove();
  });
  afterEach(async () => {
    // The next request works, whatever the one before was.
    expect((await rpc(surface, 'ping')).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it.each(CALLS)('refuses a call with %s', async (_name, send, expected) => {
    expectRefusal(await send(surface), { ...expected, forbidden: [surface.bearer, host.apiKey, host.url] });
  });

  it('takes missing arguments for none', async () => {
    const response = await rpc(surface, 'tools/call', { name: 'n8n_list_workflows' });
    expect(codeOf(response)).toBe('ok');
    expect(resultOf(response)?.structuredContent).toHaveProperty('items');
  });

  itKeepsTheLogClean(host, () => [surface.bearer]);
});
