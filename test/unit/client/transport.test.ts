import { hang, reset, RpcFault, status, tool, type McpServerDouble } from '../../support/mcpServerDouble';
import { going, pinned, refused, useHarness } from './harness';

const harness = useHarness();
const text = (said: string) => ({ content: [{ type: 'text', text: said }] });
const later = async (milliseconds: number) => {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
};
/** Waits for something that another party does. */
const until = async (holds: () => boolean) => {
  while (!holds()) await later(5);
};

const forms = ['json', 'sse'] as const;

describe.each(forms)('a 2025-era server that answers with %s', (answersAs) => {
  const start = async (set: Partial<McpServerDouble> = {}) =>
    await harness.double({ answersAs, tools: [tool('one'), tool('two')], ...set });

  it('is connected once and lists once for several calls, and its session is ended', async () => {
    const double = await start({ sessions: true });
    const { server } = harness.client(double.endpoint);
    const allow = pinned(double);
    for (const id of ['a', 'b', 'c']) {
      const { content } = await server.call(allow, 'one', { id }, going());
      expect(content).toEqual([{ type: 'text', text: `{"id":"${id}"}` }]);
    }
    await server.close();
    expect(double.asked().map(({ rpc }) => rpc)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
      'tools/call',
      'tools/call',
    ]);
    expect(double.requests.at(-1)).toMatchObject({ http: 'DELETE' });
  });

  it('is connected once and lists once for calls at the same time', async () => {
    const double = await start();
    const { server } = harness.client(double.endpoint);
    await Promise.all(['a', 'b', 'c'].map((id) => server.call(pinned(double), 'one', { id }, going())));
    expect(double.asked('initialize')).toHaveLength(1);
    expect(double.asked('tools/list')).toHaveLength(1);
    expect(double.asked('tools/call')).toHaveLength(3);
  });

  it('may take its time between the steps of a handshake and the pages of a list', async () => {
    const double = await start({ pageSize: 1 });
    double.on('initialize', async ({ params }) => {
      await later(120);
      return {
        protocolVersion: params?.['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: double.serverInfo,
      };
    });
    double.on('tools/list', async ({ params }) => {
      await later(120);
      return params?.['cursor'] === 'p'
        ? { tools: [double.tools[1]] }
        : { tools: [double.tools[0]], nextCursor: 'p' };
    });
    const { server } = harness.client(double.endpoint);
    expect((await server.listing(going())).tools).toHaveLength(2);
  });

  it.each([true, false])(
    'reconnects once when its session is lost, and compares again (list age: %s)',
    async (aged) => {
      const double = await start({ sessions: true });
      const allow = pinned(double);
      const { server } = harness.client(double.endpoint, { settings: { listAgeSeconds: aged ? 600 : 0 } });
      await server.call(allow, 'one', {}, going());
      double.forgetSessions();
      await server.call(allow, 'one', { id: 'x' }, going());
      expect(double.asked('initialize')).toHaveLength(2);
      expect(double.asked('tools/list')).toHaveLength(2);

      double.forgetSessions();
      double.tools = [tool('one', { description: 'Changed.' }), tool('two')];
      const error = await refused(server.call(allow, 'one', { id: 'y' }, going()));
      expect(error.code).toBe('schema_drift');
      // Once, in the session that was lost.
      expect(double.calls.filter((args) => JSON.stringify(args) === '{"id":"y"}')).toHaveLength(1);
    },
  );

  it('is not reconnected twice for one call', async () => {
    const double = await start({ sessions: true });
    const { server } = harness.client(double.endpoint);
    double.on('tools/call', () => status(404, 'Session not found'));
    expect((await refused(server.call(pinned(double), 'one', {}, going()))).code).toBe('session_lost');
    expect(double.asked('initialize')).toHaveLength(2);
    expect(double.asked('tools/call')).toHaveLength(2);
  });

  it('is reconnected once for calls that lose their session at the same time', async () => {
    const double = await start({ sessions: true });
    const { server } = harness.client(double.endpoint);
    const allow = pinned(double);
    await server.call(allow, 'one', {}, going());
    double.forgetSessions();
    double.on('tools/call', async ({ params }) => {
      await later(60);
      return text(JSON.stringify(params?.['arguments']));
    });
    let lost = 0;
    double.before = ({ rpc, headers }) => {
      if (rpc !== 'tools/call' || headers['mcp-session-id'] !== 'session-1') return undefined;
      lost += 1;
      const delay = lost * 40;
      return (response) => setTimeout(() => response.writeHead(404).end('Session not found'), delay);
    };
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((id) => server.call(allow, 'one', { id }, going())),
    );
    expect(outcomes.map(({ content }) => content[0])).toMatchObject(
      ['a', 'b', 'c'].map((id) => ({ text: `{"id":"${id}"}` })),
    );
    expect(double.asked('initialize')).toHaveLength(2);
  });

  it('may ask for a ping, which is answered', async () => {
    const double = await start();
    double.on('tools/call', async (_message, { ask }) => text(JSON.stringify((await ask('ping')).result)));
    const { server } = harness.client(double.endpoint);
    const { content } = await server.call(pinned(double), 'one', {}, going());
    expect(content).toEqual([{ type: 'text', text: '{}' }]);
  });

  it.each([
    ['sampling/createMessage', { messages: [], maxTokens: 1 }],
    [
      'elicitation/create',
      { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } },
    ],
    ['roots/list', {}],
  ])('is refused %s, which the log says', async (method, params) => {
    const double = await start();
    double.on('tools/call', async (_message, { ask }) =>
      text(JSON.stringify((await ask(method, params)).error?.code)),
    );
    const { server, warnings } = harness.client(double.endpoint);
    const { content } = await server.call(pinned(double), 'one', {}, going());
    expect(content).toEqual([{ type: 'text', text: '-32601' }]);
    expect(warnings).toEqual([
      expect.stringMatching(
        new RegExp(`^mcp_client_refused capability_refused: 127\\.0\\.0\\.1:\\d+ asked for ${method}, `),
      ),
    ]);
  });

  it('may restart without sessions: 404 is then no lost session, and the call is not repeated', async () => {
    const double = await start();
    double.on('tools/call', () => status(404, 'no such tool'));
    const { server } = harness.client(double.endpoint);
    expect((await refused(server.call(pinned(double), 'one', {}, going()))).code).toBe('upstream_not_found');
    expect(double.asked('tools/call')).toHaveLength(1);
  });

  it('may number its own errors like HTTP does, which is no lost session', async () => {
    const double = await start({ sessions: true });
    double.on('tools/call', () => {
      throw new RpcFault(404, 'no such note');
    });
    const { server } = harness.client(double.endpoint);
    const error = await refused(server.call(pinned(double), 'one', {}, going()));
    expect(error).toMatchObject({
      code: 'upstream_rejected',
      message: expect.stringContaining('no such note') as string,
    });
    expect(double.asked('tools/call')).toHaveLength(1);
  });
});

describe('the stream that a server may talk on by itself', () => {
  it('need not be there: POST alone is enough (C050)', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    const { server, warnings } = harness.client(double.endpoint);
    await server.call(pinned(double), 'one', { id: 'x' }, going());
    expect(double.requests.filter(({ http }) => http === 'GET').length).toBeLessThanOrEqual(1);
    expect(double.calls).toEqual([{ id: 'x' }]);
    expect(warnings).toEqual([]);
  });

  it('is listened to for as long as the connection lasts: requests on it are answered after the time limit of one call', async () => {
    const double = await harness.double({ tools: [tool('one')], streams: true });
    const { server } = harness.client(double.endpoint, { settings: { timeoutSeconds: 0.3 } });
    await server.listing(going());
    await until(() => double.openStreams === 1);
    await later(400);
    expect((await double.ask('ping')).result).toEqual({});
    expect((await double.ask('roots/list')).error).toMatchObject({ code: -32601 });
  });

  it('is opened again in its own time, whatever the server says', async () => {
    const double = await harness.double();
    double.before = ({ http }) =>
      http === 'GET' ? status(200, 'retry: 0\n\n', { 'content-type': 'text/event-stream' }) : undefined;
    const { server } = harness.client(double.endpoint);
    await server.listing(going());
    await later(450);
    const opened = double.requests.filter(({ http }) => http === 'GET').length;
    expect(opened).toBeGreaterThan(1);
    expect(opened).toBeLessThan(7);
  });

  it('fills no log with what is asked on it', async () => {
    const double = await harness.double({ streams: true });
    const { server, warnings } = harness.client(double.endpoint);
    await server.listing(going());
    await until(() => double.openStreams === 1);
    await Promise.all(Array.from({ length: 60 }, () => double.ask('roots/list')));
    expect(warnings).toHaveLength(20);
  });

  it('ends with the connection', async () => {
    const double = await harness.double({ streams: true });
    const { server } = harness.client(double.endpoint);
    await server.listing(going());
    await until(() => double.openStreams === 1);
    await server.close();
    await until(() => double.openStreams === 0);
  });
});

describe('the choice of a transport', () => {
  const initialized = ({ rpc, http }: { rpc: string; http: string }) => http === 'POST' && rpc !== '';

  it('shows the failure of the POST and asks nothing else when the connection is reset (C044)', async () => {
    const double = await harness.double();
    double.before = ({ http }) => (http === 'POST' ? reset : status(405));
    const { server } = harness.client(double.endpoint);
    const error = await refused(server.listing(going()));
    expect(error.code).toBe('upstream_unreachable');
    expect(error.message).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(error.message).not.toContain('405');
    expect(double.requests.filter(({ http }) => http === 'GET')).toEqual([]);
  });

  it.each([
    [401, 'upstream_auth_failed'],
    [403, 'upstream_auth_failed'],
    [429, 'upstream_rate_limited'],
    [500, 'upstream_unavailable'],
    [503, 'upstream_unavailable'],
  ])('tries no old transport after HTTP %d', async (code, expected) => {
    const double = await harness.double();
    double.before = () => status(code);
    const { server } = harness.client(double.endpoint);
    expect((await refused(server.listing(going()))).code).toBe(expected);
    expect(double.requests.filter((request) => !initialized(request))).toEqual([]);
  });

  it.each([400, 404, 405])(
    'tries the old transport after HTTP %d, and its failure hides no cause',
    async (code) => {
      const double = await harness.double();
      double.before = ({ http }) => (http === 'POST' ? status(code, 'we are closed') : status(418));
      const { server } = harness.client(double.endpoint);
      const error = await refused(server.listing(going()));
      expect(error.message).toContain(`HTTP ${String(code)}`);
      expect(error.message).not.toContain('418');
      expect(double.requests.filter(({ http }) => http === 'GET')).toHaveLength(1);
    },
  );

  it('tries no old transport when Streamable HTTP is set', async () => {
    const double = await harness.double();
    double.before = () => status(404);
    const { server } = harness.client(double.endpoint, { credential: { transport: 'httpStreamable' } });
    await refused(server.listing(going()));
    expect(double.requests.filter(({ http }) => http === 'GET')).toEqual([]);
  });

  it('tries no newer transport when SSE is set', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    const { server } = harness.client(double.endpoint, { credential: { transport: 'sse' } });
    expect((await refused(server.listing(going()))).code).toBe('upstream_not_found');
    expect(double.requests.filter(({ http }) => http === 'POST')).toEqual([]);
  });

  it('falls back to the 2025 handshake for servers that fail on a request that they do not know', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    double.before = ({ rpc }) => (rpc === 'server/discover' ? status(500) : undefined);
    const { server } = harness.client(double.endpoint);
    expect((await server.listing(going())).tools).toHaveLength(1);
  });

  it('asks a server of the 2025 era only once which era it speaks', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    await harness.client(double.endpoint).server.listing(going());
    await harness.client(double.endpoint).server.listing(going());
    expect(double.asked('server/discover')).toHaveLength(1);
    expect(double.asked('initialize')).toHaveLength(2);
  });
});

describe('callers that share a connection', () => {
  it('do not lose it when the one who opened it gives up', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    double.on('initialize', async ({ params }) => {
      await later(100);
      return {
        protocolVersion: params?.['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: double.serverInfo,
      };
    });
    const { server } = harness.client(double.endpoint);
    const first = new AbortController();
    const given = refused(server.listing(first.signal));
    const other = server.call(pinned(double), 'one', { id: 'x' }, going());
    await until(() => double.asked('initialize').length === 1);
    first.abort();
    expect((await given).code).toBe('call_cancelled');
    expect((await other).isError).toBe(false);
    expect(double.asked('initialize')).toHaveLength(1);
  });

  it('leave nothing running when all of them give up, and a later one starts anew', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    double.before = ({ rpc }) => (rpc === 'server/discover' ? hang : undefined);
    const { server } = harness.client(double.endpoint);
    const stop = new AbortController();
    const attempt = refused(server.listing(stop.signal));
    await until(() => double.requests.length === 1);
    stop.abort();
    expect((await attempt).code).toBe('call_cancelled');
    expect(await double.requests[0]?.endedByClient).toBe(true);
    double.before = () => undefined;
    expect((await server.listing(going())).tools).toHaveLength(1);
  });
});
