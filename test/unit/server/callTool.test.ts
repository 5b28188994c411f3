import { getEventListeners } from 'node:events';
import { PolicyError } from '../../../core/policy/errors';
import type { CallContext } from '../../../core/upstream/run';
import type { ConnectedTool } from '../../../core/server/tools';
import { handMadeSurface } from '../../../core/server/surfaces';
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

const secret = makeToken();
const { token } = secret;

function endpointOf(invoke: ConnectedTool['invoke'], limits = LIMITS) {
  return endpoint(surfaceOfTools([tool('find_order', invoke)], limits), [
    { id: 'client-one', secret, tools: 'find_order' },
  ]);
}

const says = (text: string) => Promise.resolve({ content: [{ type: 'text' as const, text }] });

describe('a call', () => {
  test('reaches the tool with exactly the arguments and the identity of the caller', async () => {
    const seen: [unknown, Partial<CallContext>][] = [];
    const served = endpointOf((args, { consumer, tenant, correlationId }) => {
      seen.push([args, { consumer, tenant, correlationId }]);
      return says('found');
    });
    const result = await send(served, { body: call('find_order', { id: 'A1' }), token });
    expect(bodyOf(result).result?.content?.[0]?.text).toBe('found');
    expect(seen).toEqual([
      [{ id: 'A1' }, { consumer: 'client-one', tenant: null, correlationId: result.audit?.correlation_id }],
    ]);
  });

  test('without arguments is a call with none', async () => {
    const result = await send(
      endpointOf((args) => says(JSON.stringify(args))),
      { body: call('find_order'), token },
    );
    expect(bodyOf(result).result?.content?.[0]?.text).toBe('{}');
  });

  test.each([
    ['a list', []],
    ['text', 'id=1'],
    ['null', null],
    ['a wrong type', { id: 7 }],
    ['an unknown argument', { id: 'A1', admin: true }],
    ['too long', { id: 'x'.repeat(21) }],
    ['control characters', { id: 'A\u0000' }],
  ])('with %s is refused before the tool runs, in a form that a model can read', async (_name, args) => {
    let ran = false;
    const served = endpointOf(() => {
      ran = true;
      return says('');
    });
    const result = await send(served, { body: call('find_order', args), token });
    expect(codeOf(result)).toBe('arguments_invalid');
    expect(bodyOf(result).result).toMatchObject({ isError: true });
    expect(ran).toBe(false);
  });

  test('that throws something foreign is an error without its text', async () => {
    const served = endpointOf(() =>
      Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:5432 password=hunter2')),
    );
    const result = await send(served, { body: call('find_order', {}), token });
    expect(codeOf(result)).toBe('tool_failed');
    expect(result.answer.body).not.toMatch(/10\.1\.2\.3|hunter2/);
    expect(result.cause).toBeInstanceOf(Error);
  });

  test('that is refused by the tool keeps its code and pointer', async () => {
    const served = endpointOf(() =>
      Promise.reject(new PolicyError('range_too_wide', 'Use a step of at least 60s.', { pointer: '/step' })),
    );
    const result = await send(served, { body: call('find_order', {}), token });
    expect(bodyOf(result).result?._meta?.['mcp-curated/error']).toEqual({
      code: 'range_too_wide',
      pointer: '/step',
    });
  });

  test('that takes too long is ended, and the tool is told', async () => {
    let told = false;
    const served = endpointOf(
      (_args, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            told = true;
          });
        }),
    );
    const result = await send(served, { body: call('find_order', {}), token });
    expect([codeOf(result), told]).toEqual(['tool_timeout', true]);
  });

  test('whose caller goes away is cancelled', async () => {
    const caller = new AbortController();
    const served = endpointOf(() => {
      caller.abort();
      return new Promise(() => undefined);
    });
    const result = await send(served, { body: call('find_order', {}), token, signal: caller.signal });
    expect(result.audit).toMatchObject({ status: 'error', code: 'call_cancelled' });
  });

  test('whose result is over the limit is refused as a whole', async () => {
    const result = await send(
      endpointOf(() => says('x'.repeat(3_000))),
      { body: call('find_order', {}), token },
    );
    expect(codeOf(result)).toBe('response_too_large');
    expect(result.answer.body.length).toBeLessThan(1_000);
  });
});

describe('what a call leaves behind', () => {
  test('is no listener at the signal of the caller', async () => {
    const caller = new AbortController();
    await send(
      endpointOf(() => says('done')),
      { body: call('find_order', {}), token, signal: caller.signal },
    );
    // The Request of the protocol layer follows the signal as well and is collected with it.
    const listeners = getEventListeners(caller.signal, 'abort').filter(({ name }) => name === 'gone');
    expect(listeners).toEqual([]);
  });

  test('is its place as long as the tool runs on, although the caller is gone', async () => {
    const finish: (() => void)[] = [];
    const served = endpointOf(
      () =>
        new Promise((resolve) => {
          finish.push(() => {
            resolve({ content: [] });
          });
        }),
    );
    for (let started = 1; started <= LIMITS.concurrent_requests; started++) {
      const caller = new AbortController();
      const gone = send(served, { body: call('find_order', {}), token, signal: caller.signal });
      while (finish.length < started) await new Promise(setImmediate);
      caller.abort();
      expect((await gone).audit?.code).toBe('call_cancelled');
    }
    expect(codeOf(await send(served, { body: call('find_order', {}), token }))).toBe('too_many_requests');
    for (const done of finish) done();
    await new Promise(setImmediate);
    const next = send(served, { body: call('find_order', {}), token });
    while (finish.length <= LIMITS.concurrent_requests) await new Promise(setImmediate);
    finish.at(-1)?.();
    expect((await next).audit?.code).toBe('ok');
  });
});

describe('tools that take long to supply', () => {
  const stuck = (): Promise<never> => new Promise(() => undefined);
  const slow = handMadeSurface(
    { applicationId: 'web-app-slow', name: 'Slow', tools: ['find_order'], limits: LIMITS },
    { find: stuck, all: stuck },
  );
  const served = endpoint(slow, [{ id: 'client-one', secret, tools: 'find_order' }]);

  test.each([
    ['a call', call('find_order', {})],
    ['a list', rpc('tools/list')],
  ])('do not hold up %s beyond the time limit', async (_what, body) => {
    const result = await send(served, { body, token });
    expect(result.audit).toMatchObject({ status: 'error', code: 'tool_timeout' });
  });

  test('take a place, for a list as for a call', async () => {
    const busy = endpoint(slow, [{ id: 'client-one', secret, tools: 'find_order' }]);
    const waiting = [1, 2].map(() => send(busy, { body: rpc('tools/list'), token }));
    await new Promise(setImmediate);
    const third = await send(busy, { body: rpc('tools/list'), token });
    expect([third.answer.status, codeOf(third)]).toEqual([429, 'too_many_requests']);
    await Promise.all(waiting);
  });

  test('are not asked for a name that nobody is granted', async () => {
    const result = await send(served, { body: call('no_such_tool', {}), token });
    expect(codeOf(result)).toBe('tool_unknown');
  });
});

describe('calls at the same time', () => {
  test('each get their own answer under their own id', async () => {
    const served = endpointOf(
      ({ id }) =>
        new Promise((resolve) => {
          setTimeout(() => {
            resolve({ content: [{ type: 'text', text: String(id) }] });
          }, 5);
        }),
    );
    const bodies = [
      { ...call('find_order', { id: 'A1' }), id: 1 },
      { ...call('find_order', { id: 'B2' }), id: 1 },
    ];
    const results = await Promise.all(bodies.map((body) => send(served, { body, token })));
    expect(results.map(bodyOf).map(({ id, result }) => [id, result?.content?.[0]?.text])).toEqual([
      [1, 'A1'],
      [1, 'B2'],
    ]);
  });

  test('are bounded: one more is 429 with Retry-After, and places are given back', async () => {
    const waiting: (() => void)[] = [];
    const served = endpointOf(
      () =>
        new Promise((resolve) => {
          waiting.push(() => {
            resolve({ content: [] });
          });
        }),
    );
    const first = [1, 2].map(() => send(served, { body: call('find_order', {}), token }));
    await new Promise(setImmediate);
    while (waiting.length < 2) await new Promise(setImmediate);
    const third = await send(served, { body: call('find_order', {}), token });
    expect([third.answer.status, codeOf(third), third.answer.headers['retry-after']]).toEqual([
      429,
      'too_many_requests',
      '1',
    ]);
    for (const finish of waiting) finish();
    await Promise.all(first);
    const fourth = send(served, { body: call('find_order', {}), token });
    while (waiting.length < 3) await new Promise(setImmediate);
    waiting[2]?.();
    expect((await fourth).audit?.code).toBe('ok');
  });
});

describe('the audit event', () => {
  test('is one per call, with exactly these fields and nothing of the call', async () => {
    const served = endpointOf(() => says('payload-of-the-result'));
    const { audit } = await send(served, { body: call('find_order', { id: 'payload' }), token });
    expect(Object.keys(audit ?? {}).sort()).toEqual([
      'code',
      'consumer_application_id',
      'correlation_id',
      'credential_subject',
      'duration_ms',
      'provider_application_id',
      'request_bytes',
      'response_bytes',
      'status',
      'time',
      'tool',
      'undelivered_before',
    ]);
    expect(JSON.stringify(audit)).not.toContain('payload');
    expect(audit).toMatchObject({
      status: 'ok',
      code: 'ok',
      tool: 'find_order',
      provider_application_id: 'web-app-example',
    });
  });
});
