import type { ConnectedTool } from '../../../core/server/tools';
import {
  bodyOf,
  codeOf,
  endpoint,
  LIMITS,
  makeToken,
  send,
  surfaceOfTools,
  tool,
  type Sent,
} from './endpoint';
import { recordedStream } from './eventSink';

const secret = makeToken();
const rows = (tools: string) => [{ id: 'client-inspector', secret, tools }];
const BOTH = ['Accept', 'application/json, text/event-stream'];

const working = (invoke: ConnectedTool['invoke'], limits = LIMITS, logs = true) =>
  endpoint(surfaceOfTools([tool('work', invoke)], limits, { logs }), rows('work'));

/** A tool that tells how far it is, and logs. */
const telling: ConnectedTool['invoke'] = (_args, { report }) => {
  report?.({ kind: 'progress', progress: 0, total: 100 });
  report?.({ kind: 'log', level: 'debug', data: 'a detail' });
  report?.({ kind: 'log', level: 'info', data: { step: 1 }, logger: 'worker' });
  report?.({ kind: 'progress', progress: 50, total: 100, message: 'half' });
  report?.({ kind: 'progress', progress: 20, total: 100 });
  return Promise.resolve({ content: [{ type: 'text', text: 'done' }] });
};

const legacyCall = (token?: string | number) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: {
    name: 'work',
    arguments: {},
    ...(token === undefined ? {} : { _meta: { progressToken: token } }),
  },
});

const modernCall = (meta: Record<string, unknown> = {}) => ({
  body: {
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: {
      name: 'work',
      arguments: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'unit', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
        ...meta,
      },
    },
  },
  headers: [...BOTH, 'MCP-Protocol-Version', '2026-07-28', 'Mcp-Method', 'tools/call', 'Mcp-Name', 'work'],
});

const sent = (stream: ReturnType<typeof recordedStream>, wishes: Sent): Sent => ({
  token: secret.token,
  headers: BOTH,
  openStream: stream.open,
  ...wishes,
});

const methodsOf = (stream: ReturnType<typeof recordedStream>) =>
  stream.messages().map(({ method }) => method ?? 'answer');

describe('a caller that takes a stream', () => {
  test('of the 2025 era gets progress under its token, log messages from info on, and then the answer', async () => {
    const stream = recordedStream();
    const served = await send(working(telling), sent(stream, { body: legacyCall('t-1') }));
    expect(stream.messages()).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 't-1', progress: 0, total: 100 },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', data: { step: 1 }, logger: 'worker' },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 't-1', progress: 50, total: 100, message: 'half' },
      },
      { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: 'done' }] } },
    ]);
    expect(stream.ended()).toBe(true);
    expect(stream.headers()).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-correlation-id': served.audit?.correlation_id,
    });
    expect(served.audit).toMatchObject({ code: 'ok', response_bytes: Buffer.byteLength(stream.text()) });
  });

  test('of the 2026 era gets progress under its token, and log messages only from the level that it asks for', async () => {
    const silent = recordedStream();
    await send(working(telling), sent(silent, modernCall({ progressToken: 't-2' })));
    expect(methodsOf(silent)).toEqual(['notifications/progress', 'notifications/progress', 'answer']);

    const verbose = recordedStream();
    const level = { 'io.modelcontextprotocol/logLevel': 'debug' };
    const served = await send(working(telling), sent(verbose, modernCall(level)));
    expect(methodsOf(verbose)).toEqual(['notifications/message', 'notifications/message', 'answer']);
    expect(verbose.ended()).toBe(true);
    expect(served.audit).toMatchObject({ code: 'ok', response_bytes: Buffer.byteLength(verbose.text()) });
  });

  test.each([
    ['of the 2025 era', { body: legacyCall() }],
    ['of the 2026 era', modernCall()],
  ])('%s is answered with one JSON body where nothing is told on the way', async (_era, call) => {
    const stream = recordedStream();
    const served = await send(working(telling, LIMITS, false), sent(stream, call));
    expect(stream.headers()).toBeUndefined();
    expect(bodyOf(served).result?.content?.[0]?.text).toBe('done');
    expect(served.answer.headers['content-type']).toBe('application/json');
  });

  test('learns of a failure in the stream that was opened, and the audit of its code', async () => {
    const stream = recordedStream();
    const failing = working((_args, { report }) => {
      report?.({ kind: 'progress', progress: 1 });
      return Promise.reject(new Error('inside'));
    });
    const served = await send(failing, sent(stream, { body: legacyCall(1) }));
    expect(stream.messages().at(-1)?.result).toMatchObject({ isError: true });
    expect(served.audit).toMatchObject({ code: 'tool_failed', status: 'error' });
  });

  test('is told no more than the limit of a result, and gets its answer whole', async () => {
    const stream = recordedStream();
    const chatty = working((_args, { report }) => {
      for (let line = 0; line < 500; line += 1)
        report?.({ kind: 'log', level: 'info', data: 'x'.repeat(100) });
      return Promise.resolve({ content: [{ type: 'text', text: 'done' }] });
    });
    await send(chatty, sent(stream, { body: legacyCall() }));
    expect(Buffer.byteLength(stream.text())).toBeLessThan(2 * LIMITS.response_bytes + 1_000);
    expect(stream.messages().at(-1)?.result).toMatchObject({ content: [{ text: 'done' }] });
  });

  test('is answered when stream_seconds are over, whatever the tool still does', async () => {
    const stream = recordedStream();
    const endless = working(
      async (_args, { report, signal }) => {
        report?.({ kind: 'progress', progress: 1 });
        return await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('aborted'));
          });
        });
      },
      { ...LIMITS, timeout_seconds: 60, stream_seconds: 1 },
    );
    const served = await send(endless, sent(stream, { body: legacyCall(1) }));
    expect(stream.messages().at(-1)?.result).toMatchObject({ isError: true });
    expect(stream.ended()).toBe(true);
    expect(served.audit?.status).toBe('error');
  });
});

describe('a caller that takes JSON only', () => {
  test.each([
    ['names JSON alone', ['Accept', 'application/json']],
    ['names no type', []],
    ['takes anything', ['Accept', '*/*']],
    ['wants no events', ['Accept', 'application/json, text/event-stream;q=0']],
  ])('and %s gets one JSON body, whatever the tool tells', async (_name, headers) => {
    const stream = recordedStream();
    const served = await send(working(telling), sent(stream, { body: legacyCall(1), headers }));
    expect(stream.headers()).toBeUndefined();
    expect(bodyOf(served).result?.content?.[0]?.text).toBe('done');
  });
});

describe('a caller that goes away', () => {
  test.each([
    ['of the 2025 era', { body: legacyCall(1) }],
    ['of the 2026 era', modernCall({ progressToken: 1 })],
  ])('%s ends what runs for it, and the audit says call_cancelled', async (_era, call) => {
    const gone = new AbortController();
    let aborted = false;
    const waiting = working(async (_args, { report, signal }) => {
      report?.({ kind: 'progress', progress: 1 });
      return await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(new Error('aborted'));
        });
        setImmediate(() => {
          gone.abort();
        });
      });
    });
    const served = await send(waiting, sent(recordedStream(), { ...call, signal: gone.signal }));
    expect(aborted).toBe(true);
    expect(served.audit).toMatchObject({ code: 'call_cancelled' });
  });
});

describe('content of a tool', () => {
  const picture = {
    type: 'image' as const,
    data: Buffer.from('picture').toString('base64'),
    mimeType: 'image/png',
  };
  const sound = {
    type: 'audio' as const,
    data: Buffer.from('sound').toString('base64'),
    mimeType: 'audio/wav',
  };
  const embedded = {
    type: 'resource' as const,
    resource: { uri: 'test://embedded', mimeType: 'text/plain', text: 'inside' },
  };
  const link = { type: 'resource_link' as const, uri: 'test://linked', name: 'linked' };

  test('reaches the caller as it is: text, image, audio, embedded resource and link', async () => {
    const content = [{ type: 'text' as const, text: 'mixed' }, picture, sound, embedded, link];
    const served = await send(
      working(() => Promise.resolve({ content })),
      { token: secret.token, body: legacyCall() },
    );
    expect(bodyOf(served).result?.content).toEqual(content);
  });

  test('is refused as a whole when it is larger than the limit, and never cut', async () => {
    const large = { ...picture, data: Buffer.alloc(LIMITS.response_bytes).toString('base64') };
    for (const result of [
      { content: [large] },
      { content: [], structuredContent: { text: 'x'.repeat(LIMITS.response_bytes) } },
    ]) {
      const served = await send(
        working(() => Promise.resolve(result)),
        { token: secret.token, body: legacyCall() },
      );
      expect(codeOf(served)).toBe('response_too_large');
    }
  });
});
