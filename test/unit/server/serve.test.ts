import { PolicyError } from '../../../core/policy/errors';
import {
  bodyOf,
  call,
  codeOf,
  descriptor,
  endpoint,
  makeToken,
  rpc,
  send,
  surfaceOfTools,
  tool,
} from './endpoint';

const open = makeToken();
const narrow = makeToken();
const rows = [
  { id: 'client-open', secret: open, tools: 'find_order, list_orders' },
  { id: 'client-narrow', secret: narrow, tools: 'list_orders' },
];
const surface = surfaceOfTools([tool('find_order'), tool('list_orders')]);
const served = endpoint(surface, rows);
const token = open.token;

describe('a request is told nothing before its caller is known', () => {
  test.each([
    ['a list', { body: rpc('tools/list') }],
    ['a GET', { method: 'GET' }],
    ['a body that is not JSON', { body: undefined, bytes: 10 }],
    ['an unknown method', { body: rpc('no/such') }],
  ])('%s without a bearer is 401 with a challenge and no tool name', async (_name, sent) => {
    const { answer } = await send(served, sent);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="mcp"');
    expect(answer.body.length).toBeLessThan(500);
    expect(answer.body).not.toMatch(/find_order|list_orders|at .*\.[jt]s/);
  });

  test('a wrong bearer is challenged with invalid_token', async () => {
    const { answer } = await send(served, { body: rpc('tools/list'), token: makeToken().token });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  test('a broken set-up is 503 and its reason reaches the log only', async () => {
    const reason = new PolicyError('surface_unconfigured', 'Consumer client-open is allowed no tool.');
    const broken = endpoint(surface, rows, { identify: () => Promise.reject(reason) });
    const result = await send(broken, { body: rpc('ping') });
    expect(result.answer.status).toBe(503);
    expect(result.answer.body).not.toContain('client-open');
    expect(result.cause).toBe(reason);
  });

  test('an unforeseen failure is 500 without its text', async () => {
    const broken = endpoint(surface, rows, {
      surface: () => {
        throw new TypeError('cannot read /etc/secret');
      },
    });
    const result = await send(broken, { body: rpc('ping'), token });
    expect(result.answer.status).toBe(500);
    expect(result.answer.body).not.toMatch(/secret|TypeError/);
    expect(codeOf(result)).toBe('internal_error');
  });
});

describe('the HTTP request', () => {
  test.each([
    ['GET', { method: 'GET' }, 405, 'method_not_allowed'],
    ['DELETE', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['too large', { body: rpc('ping'), bytes: 4_001 }, 413, 'request_too_large'],
    ['not JSON', { body: undefined, bytes: 5 }, 400, 'body_not_json'],
    ['a batch', { body: [rpc('ping')] }, 400, 'batch_not_supported'],
    ['a JSON string', { body: 'tools/list' }, 400, 'request_malformed'],
    ['null', { body: null }, 400, 'request_malformed'],
    ['no jsonrpc', { body: { id: 1, method: 'ping' } }, 400, 'request_malformed'],
    ['another jsonrpc', { body: { jsonrpc: '1.0', id: 1, method: 'ping' } }, 400, 'request_malformed'],
    ['a method that is no text', { body: { jsonrpc: '2.0', id: 1, method: {} } }, 400, 'request_malformed'],
    [
      'params in a list',
      { body: { jsonrpc: '2.0', id: 1, method: 'ping', params: [] } },
      400,
      'request_malformed',
    ],
    [
      'an id that is an object',
      { body: { jsonrpc: '2.0', id: {}, method: 'ping' } },
      400,
      'request_malformed',
    ],
    ['too deep', { body: rpc('ping', nested(80)) }, 400, 'request_too_deep'],
  ])('%s is refused with its own status and code', async (_name, sent, status, code) => {
    const result = await send(served, { ...sent, token });
    expect([result.answer.status, codeOf(result)]).toEqual([status, code]);
    expect(result.audit).toMatchObject({ status: 'refused', code, consumer_application_id: 'client-open' });
    if (status === 405) expect(result.answer.headers['allow']).toBe('POST');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'the media type "%s" is 415',
    async (contentType) => {
      const result = await send(served, { body: rpc('ping'), token, contentType });
      expect([result.answer.status, codeOf(result)]).toEqual([415, 'media_type_unsupported']);
    },
  );

  test('a JSON media type may carry a charset', async () => {
    const result = await send(served, {
      body: rpc('ping'),
      token,
      contentType: 'Application/JSON; charset=utf-8',
    });
    expect(result.answer.status).toBe(200);
  });

  test.each(['https://evil.example', 'null'])(
    'the foreign web origin %s is 403, even with a good bearer',
    async (origin) => {
      const result = await send(served, { body: rpc('ping'), token, headers: ['Origin', origin] });
      expect([result.answer.status, codeOf(result)]).toEqual([403, 'origin_not_allowed']);
    },
  );

  test('an allowed origin passes', async () => {
    const here = endpoint(surface, rows, { allowedOrigins: new Set(['https://chat.example']) });
    const result = await send(here, {
      body: rpc('ping'),
      token,
      headers: ['Origin', 'https://chat.example'],
    });
    expect(result.answer.status).toBe(200);
  });

  function nested(levels: number): object {
    let value: object = {};
    for (let level = 0; level < levels; level++) value = { value };
    return value;
  }
});

describe('the protocol', () => {
  test('initialize is answered without a session, in the version that was asked for', async () => {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'probe', version: '1' },
    };
    const { answer } = await send(served, { body: rpc('initialize', params), token });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers)).not.toContain('mcp-session-id');
    expect(JSON.parse(answer.body)).toMatchObject({
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'web-app-example' },
      },
    });
  });

  test('a foreign session id is ignored', async () => {
    const result = await send(served, {
      body: rpc('tools/list'),
      token,
      headers: ['Mcp-Session-Id', 'elsewhere'],
    });
    expect(bodyOf(result).result?.tools).toHaveLength(2);
  });

  test.each([
    ['JSON only', ['Accept', 'application/json']],
    ['anything', ['Accept', '*/*']],
    ['nothing said', []],
  ])('a client that accepts %s gets JSON', async (_name, headers) => {
    const { answer } = await send(served, { body: rpc('tools/list'), token, headers });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
  });

  test.each(['notifications/initialized', 'notifications/cancelled'])(
    '%s is 202 with an empty body',
    async (method) => {
      const body = { jsonrpc: '2.0', method, params: { requestId: 3 } };
      const { answer, audit } = await send(served, { body, token });
      expect([answer.status, answer.body]).toEqual([202, '']);
      expect(audit).toBeUndefined();
    },
  );

  test.each(['resources/list', 'prompts/list', 'completion/complete', 'subscriptions/listen', 'no/such'])(
    '%s is no method of this server, and the refusal has a code',
    async (method) => {
      const result = await send(served, { body: rpc(method, {}), token });
      expect(bodyOf(result).error?.code).toBe(-32601);
      expect(codeOf(result)).toBe('method_unknown');
      expect(result.audit).toMatchObject({ code: 'method_unknown', status: 'refused' });
    },
  );

  test.each(['not-a-version', '1900-01-01'])(
    'the protocol version %s is 400 with a code',
    async (version) => {
      const result = await send(served, {
        body: rpc('tools/list'),
        token,
        headers: ['MCP-Protocol-Version', version],
      });
      expect([result.answer.status, codeOf(result)]).toEqual([400, 'protocol_version_unsupported']);
    },
  );

  test('server/discover of the 2026-07-28 era is answered', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'probe', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const result = await send(served, {
      body: rpc('server/discover', { _meta: meta }),
      token,
      headers: ['MCP-Protocol-Version', '2026-07-28', 'Mcp-Method', 'server/discover'],
    });
    expect(result.answer.status).toBe(200);
    expect(result.answer.body).toContain('2026-07-28');
  });
});

describe('what the protocol layer refuses', () => {
  test('a tools/call without an id, which would be audited as a call and run nothing', async () => {
    const { id: _id, ...notification } = call('find_order', {});
    const result = await send(served, { body: notification, token });
    expect([result.answer.status, codeOf(result), result.isCall]).toEqual([400, 'request_malformed', false]);
  });

  test.each([
    ['initialize without its params', rpc('initialize', {})],
    ['a cursor that is no text', rpc('tools/list', { cursor: 5 })],
  ])('%s is answered with one sentence, not with a dump of the parser', async (_what, body) => {
    const result = await send(served, { body, token });
    expect(bodyOf(result).error).toEqual({
      code: -32602,
      message: 'The params do not fit this method.',
      data: { code: 'request_malformed' },
    });
  });

  test('an id cannot choose the code of the audit event', async () => {
    const result = await send(served, {
      body: { ...rpc('tools/list', { cursor: 5 }), id: 'protocol version' },
      token,
    });
    expect(result.audit?.code).toBe('request_malformed');
  });
});

describe('authorization', () => {
  test('a list shows what this consumer may call, in the order of the surface', async () => {
    const names = async (secret: string) =>
      bodyOf(await send(served, { body: rpc('tools/list'), token: secret })).result?.tools?.map(
        ({ name }) => name,
      );
    expect(await names(open.token)).toEqual(['find_order', 'list_orders']);
    expect(await names(narrow.token)).toEqual(['list_orders']);
  });

  test("another consumer's tool answers exactly as one that does not exist", async () => {
    const answer = async (name: unknown) => {
      const { answer: got } = await send(served, { body: call(name, {}), token: narrow.token });
      return [got.status, got.body];
    };
    const foreign = await answer('find_order');
    expect(foreign).toEqual(await answer('no_such_tool'));
    expect(foreign[1]).toContain('list_orders');
    expect(foreign[1]).not.toContain('find_order');
  });

  test.each([[undefined], [null], [7], [{}]])('a call whose name is %p is an unknown tool', async (name) => {
    const result = await send(served, { body: call(name, {}), token });
    expect([bodyOf(result).error?.code, codeOf(result)]).toEqual([-32602, 'tool_unknown']);
    expect(result.audit?.tool).toBeNull();
  });

  test('a consumer that the contract does not admit is 403', async () => {
    const closed = endpoint({ ...surface, allowedConsumers: new Set(['client-other']) }, rows);
    const result = await send(closed, { body: rpc('tools/list'), token });
    expect([result.answer.status, codeOf(result)]).toEqual([403, 'consumer_not_allowed']);
  });

  test('descriptors without annotations are listed without any', async () => {
    const result = await send(served, { body: rpc('tools/list'), token });
    expect(bodyOf(result).result?.tools?.[0]).toEqual(descriptor('find_order'));
  });
});
