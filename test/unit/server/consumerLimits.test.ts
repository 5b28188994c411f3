import type { ConnectedTool } from '../../../core/server/tools';
import {
  call,
  codeOf,
  endpoint,
  LIMITS,
  makeToken,
  rpc,
  send,
  surfaceOfTools,
  tool,
  type Row,
} from './endpoint';

const [one, two] = [makeToken(), makeToken()];
const rows = (limits: Partial<Row>): Row[] => [
  { id: 'client-one', secret: one, tools: 'find_order', ...limits },
  { id: 'client-two', secret: two, tools: 'find_order' },
];

/** A tool that answers when it is told to. */
function held(): { readonly waiting: (() => void)[]; readonly invoke: ConnectedTool['invoke'] } {
  const waiting: (() => void)[] = [];
  return {
    waiting,
    invoke: () =>
      new Promise((resolve) => {
        waiting.push(() => {
          resolve({ content: [] });
        });
      }),
  };
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate);
};

describe('the rate of a consumer', () => {
  test('is its own: one more request is 429 with a code and Retry-After, and others go on', async () => {
    let now = 1_000_000;
    const served = endpoint(surfaceOfTools([tool('find_order')]), rows({ requestsPerMinute: 3 }), {
      now: () => now,
    });
    const ask = async (body: object, token = one.token) => await send(served, { body, token });
    expect((await ask(rpc('ping'))).answer.status).toBe(200);
    expect((await ask(rpc('tools/list'))).answer.status).toBe(200);
    expect((await ask(call('find_order', {}))).answer.status).toBe(200);
    const refused = await ask(call('find_order', {}));
    expect([refused.answer.status, codeOf(refused), refused.answer.headers['retry-after']]).toEqual([
      429,
      'consumer_rate_exceeded',
      '20',
    ]);
    expect(refused.audit).toMatchObject({
      ...{ status: 'refused', code: 'consumer_rate_exceeded', consumer_application_id: 'client-one' },
    });
    expect((await ask(rpc('ping'), two.token)).answer.status).toBe(200);
    now += 20_000;
    expect((await ask(call('find_order', {}))).audit?.code).toBe('ok');
  });

  test('is not spent by somebody who does not have its bearer', async () => {
    const served = endpoint(surfaceOfTools([tool('find_order')]), rows({ requestsPerMinute: 1 }));
    for (let index = 0; index < 5; index++) {
      await send(served, { body: rpc('ping'), token: makeToken().token });
    }
    expect((await send(served, { body: rpc('ping'), token: one.token })).answer.status).toBe(200);
  });

  test('counts what is wrong with a request too', async () => {
    const served = endpoint(surfaceOfTools([tool('find_order')]), rows({ requestsPerMinute: 1 }));
    expect(codeOf(await send(served, { body: [], token: one.token }))).toBe('batch_not_supported');
    expect(codeOf(await send(served, { body: [], token: one.token }))).toBe('consumer_rate_exceeded');
  });
});

describe('the concurrency of a consumer', () => {
  test('is its own: one more call is 429, a call of another consumer takes the free place', async () => {
    const { waiting, invoke } = held();
    const served = endpoint(surfaceOfTools([tool('find_order', invoke)]), rows({ concurrentCalls: 1 }));
    const first = send(served, { body: call('find_order', {}), token: one.token });
    await until(() => waiting.length === 1);
    const refused = await send(served, { body: call('find_order', {}), token: one.token });
    expect([refused.answer.status, codeOf(refused), refused.answer.headers['retry-after']]).toEqual([
      429,
      'consumer_concurrency_exceeded',
      '1',
    ]);
    const other = send(served, { body: call('find_order', {}), token: two.token });
    await until(() => waiting.length === 2);
    for (const finish of waiting) finish();
    expect([(await first).audit?.code, (await other).audit?.code]).toEqual(['ok', 'ok']);
    const next = send(served, { body: call('find_order', {}), token: one.token });
    await until(() => waiting.length === 3);
    waiting[2]?.();
    expect((await next).audit?.code).toBe('ok');
  });

  test('gives its place back when the surface had none', async () => {
    const { waiting, invoke } = held();
    const limits = { ...LIMITS, concurrent_requests: 1 };
    const served = endpoint(
      surfaceOfTools([tool('find_order', invoke)], limits),
      rows({ concurrentCalls: 1 }),
    );
    const busy = send(served, { body: call('find_order', {}), token: two.token });
    await until(() => waiting.length === 1);
    for (let index = 0; index < 3; index++) {
      const refused = await send(served, { body: call('find_order', {}), token: one.token });
      expect(codeOf(refused)).toBe('too_many_requests');
    }
    waiting[0]?.();
    await busy;
  });

  test('does not hold up lists that need no tool', async () => {
    const { waiting, invoke } = held();
    const surface = surfaceOfTools([tool('find_order', invoke)]);
    const pinned = { ...surface, pinned: await surface.descriptors() };
    const served = endpoint(pinned, rows({ concurrentCalls: 1 }));
    const busy = send(served, { body: call('find_order', {}), token: one.token });
    await until(() => waiting.length === 1);
    expect((await send(served, { body: rpc('tools/list'), token: one.token })).answer.status).toBe(200);
    waiting[0]?.();
    await busy;
  });
});
