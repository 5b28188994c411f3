import { getEventListeners } from 'node:events';
import { hang, tool, type HttpAnswer, type McpServerDouble } from '../../support/mcpServerDouble';
import { going, pinned, refused, useHarness, type ClientOptions } from './harness';

const harness = useHarness();
const later = async (milliseconds: number) => {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
};
const until = async (holds: () => boolean) => {
  while (!holds()) await later(5);
};
const called = (double: McpServerDouble) => double.asked('tools/call')[0];
/** Much shorter than any time limit of these tests. */
const PROMPTLY_MS = 4_000;

/** A connected client whose next call is answered by `answer`. */
async function prepared(answer: HttpAnswer, options: ClientOptions = {}) {
  const double = await harness.double({ tools: [tool('one')] });
  const { server } = harness.client(double.endpoint, options);
  await server.listing(going());
  double.on('tools/call', () => answer);
  const call = (signal = going()) => server.call(pinned(double), 'one', {}, signal);
  return { double, server, call };
}

const events =
  (...chunks: readonly string[]): HttpAnswer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks) response.write(chunk);
    response.end();
  };
/** Keeps writing for as long as somebody reads. */
const endless =
  (type: string, start: string, chunk: string): HttpAnswer =>
  (response) => {
    response.writeHead(200, { 'content-type': type });
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    response.write(start, more);
  };
const blank = 'x'.repeat(16_000);

describe('an answer that is larger than the limit', () => {
  it.each([
    ['as JSON', endless('application/json', '{"jsonrpc":"2.0","a":"', blank)],
    ['as one event of a stream', endless('text/event-stream', 'data: {"a":"', blank)],
    ['as an event of many lines', endless('text/event-stream', '', `data: ${blank}\n`)],
    ['as HTML', endless('text/html', '<html>', blank)],
  ])('is refused as soon as it is that large, and the server is left: %s', async (_form, answer) => {
    const { double, call } = await prepared(answer, { settings: { responseBytes: 50_000 } });
    const started = Date.now();
    const error = await refused(call());
    expect(error).toMatchObject({
      code: 'response_too_large',
      message: expect.stringContaining('larger than 50000 bytes') as string,
    });
    expect(Date.now() - started).toBeLessThan(PROMPTLY_MS);
    expect(await called(double)?.endedByClient).toBe(true);
  });

  it('is refused also when all of it comes in one piece', async () => {
    const large = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { a: 'x'.repeat(2_000) } })}\n\n`;
    const { call } = await prepared(events(large), { settings: { responseBytes: 1_024 } });
    expect((await refused(call())).code).toBe('response_too_large');
  });

  it('leaves the connection usable', async () => {
    const { double, call } = await prepared(events(`data: ${'x'.repeat(60_000)}\n\n`), {
      settings: { responseBytes: 50_000 },
    });
    await refused(call());
    double.on('tools/call', () => ({ content: [] }));
    expect((await call()).isError).toBe(false);
    expect(double.asked('initialize')).toHaveLength(1);
  });

  it('is one event, not what a stream says in all, however it is cut into pieces', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    const { server } = harness.client(double.endpoint, { settings: { responseBytes: 2_000 } });
    double.on('tools/call', ({ id }) => (response: Parameters<HttpAnswer>[0]) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const note = JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', data: 'x'.repeat(200) },
      });
      const pieces = Array.from({ length: 20 }, () => [
        `data: ${note}\r\n`,
        '\r\n',
        `data: ${note}\n`,
        '\n',
      ]).flat();
      const write = (): void => {
        const piece = pieces.shift();
        if (piece !== undefined) response.write(piece, () => setImmediate(write));
        else response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n\n`);
      };
      write();
    });
    expect((await server.call(pinned(double), 'one', {}, going())).isError).toBe(false);
  });
});

describe('a stream that ends without an answer', () => {
  it.each([
    ['at once', events()],
    [
      'after something else',
      events(
        'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n',
      ),
    ],
    ['in the middle of the answer', events('data: {"jsonrpc":"2.0","id":')],
    [
      'by a broken connection',
      ((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': hello\n\n', () => response.socket?.resetAndDestroy());
      }) satisfies HttpAnswer,
    ],
  ])('is told at once and not when the time is over: %s', async (_when, answer) => {
    const { call } = await prepared(answer, { settings: { timeoutSeconds: 60 } });
    const started = Date.now();
    expect((await refused(call())).code).toBe('upstream_unreachable');
    expect(Date.now() - started).toBeLessThan(PROMPTLY_MS);
  });

  it('is taken up again where the server has given its events ids', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    let id: unknown;
    double.on('tools/call', (message) => {
      id = message.id;
      return events('retry: 10\nid: e1\ndata:\n\n');
    });
    double.before = ({ http, headers }) =>
      http === 'GET' && headers['last-event-id'] === 'e1'
        ? events(
            `id: e2\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'late' }] } })}\n\n`,
          )
        : undefined;
    const { server } = harness.client(double.endpoint);
    const { content } = await server.call(pinned(double), 'one', {}, going());
    expect(content).toEqual([{ type: 'text', text: 'late' }]);
  });
});

const stalled =
  (type: string): HttpAnswer =>
  (response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(type === 'application/json' ? '{"jsonrpc":' : ': hello\n\n');
  };
const stalls = [
  ['before the head of the answer', hang],
  ['in the middle of JSON', stalled('application/json')],
  ['in the middle of a stream', stalled('text/event-stream')],
] as const;

describe('the time limit', () => {
  it.each(stalls)('ends the HTTP request at the server: %s (C048)', async (_where, answer) => {
    const { double, call } = await prepared(answer, { settings: { timeoutSeconds: 0.3 } });
    expect(await refused(call())).toMatchObject({
      code: 'upstream_timeout',
      message: 'The MCP server did not answer within 0.3 seconds.',
    });
    expect(await called(double)?.endedByClient).toBe(true);
    await until(() => double.asked('notifications/cancelled').length === 1);
    expect(double.asked('notifications/cancelled')[0]?.body?.params).toMatchObject({
      requestId: called(double)?.body?.id,
    });
  });

  it('is the one that is set: the limit of the SDK ends nothing before it (C048)', async () => {
    const { double, server } = await prepared(hang, { settings: { timeoutSeconds: 120 } });
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const stop = new AbortController();
    const attempt = refused(server.call(pinned(double), 'one', {}, stop.signal));
    await until(() => double.asked('tools/call').length === 1);
    const delays = timers.mock.calls.map(([, delay]) => delay ?? 0).filter((delay) => delay > 5_000);
    timers.mockRestore();
    stop.abort();
    await attempt;
    expect(delays.length).toBeGreaterThan(0);
    expect(Math.min(...delays)).toBeGreaterThan(120_000);
  });

  it('of one call ends no other', async () => {
    const double = await harness.double({ tools: [tool('slow'), tool('quick')] });
    const { server } = harness.client(double.endpoint, { settings: { timeoutSeconds: 0.6 } });
    double.on('tools/call', async ({ params }) => {
      if (params?.['name'] === 'slow') return hang;
      await later(300);
      return { content: [] };
    });
    const allow = pinned(double);
    const slow = refused(server.call(allow, 'slow', {}, going()));
    await until(() => double.asked('tools/call').length === 1);
    await later(400);
    expect((await server.call(allow, 'quick', {}, going())).isError).toBe(false);
    expect((await slow).code).toBe('upstream_timeout');
    expect(double.asked('initialize')).toHaveLength(1);
  });

  it.each(['server/discover', 'initialize', 'tools/list'])('holds for %s too', async (method) => {
    const double = await harness.double({ tools: [tool('one')] });
    double.before = ({ rpc }) => (rpc === method ? hang : undefined);
    const { server } = harness.client(double.endpoint, { settings: { timeoutSeconds: 0.3 } });
    expect((await refused(server.listing(going()))).code).toBe('upstream_timeout');
    expect(await double.asked(method)[0]?.endedByClient).toBe(true);
  });
});

describe('a cancelled execution', () => {
  it.each(stalls)('ends the call at the server: %s', async (_where, answer) => {
    const { double, call } = await prepared(answer);
    const stop = new AbortController();
    const attempt = refused(call(stop.signal));
    await until(() => double.asked('tools/call').length === 1);
    stop.abort();
    expect((await attempt).code).toBe('call_cancelled');
    expect(await called(double)?.endedByClient).toBe(true);
    await until(() => double.asked('notifications/cancelled').length === 1);
  });

  it('sends nothing that was not yet sent', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    const { server } = harness.client(double.endpoint);
    expect((await refused(server.call(pinned(double), 'one', {}, AbortSignal.abort()))).code).toBe(
      'call_cancelled',
    );
    expect(double.asked('tools/call')).toEqual([]);
  });

  it('is listened for only while something is under way', async () => {
    const double = await harness.double({ tools: [tool('one')] });
    const { server } = harness.client(double.endpoint);
    const { signal } = new AbortController();
    for (let call = 0; call < 12; call += 1) await server.call(pinned(double), 'one', {}, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('closes its server: calls under way end, and no later one is sent', async () => {
    const { double, server, call } = await prepared(hang);
    const attempt = refused(call());
    await until(() => double.asked('tools/call').length === 1);
    await server.close();
    expect((await attempt).code).toBe('call_cancelled');
    expect(await called(double)?.endedByClient).toBe(true);
    const before = double.requests.length;
    expect((await refused(call())).code).toBe('call_cancelled');
    expect(double.requests.filter(({ rpc }) => rpc === 'tools/call')).toHaveLength(1);
    expect(double.asked('initialize')).toHaveLength(1);
    expect(before).toBeGreaterThan(0);
  });
});
