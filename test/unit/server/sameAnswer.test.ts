import { randomInt } from 'node:crypto';
import * as crypto from 'node:crypto';
import { authenticate } from '../../../core/server/authenticate';
import { parseConsumers } from '../../../core/server/consumers';
import { bodyOf, call, endpoint, makeToken, rpc, send, surfaceOfTools, tool } from './endpoint';

jest.mock('node:crypto', () => {
  const actual = jest.requireActual<typeof crypto>('node:crypto');
  return { ...actual, timingSafeEqual: jest.fn(actual.timingSafeEqual) };
});
const compared = crypto.timingSafeEqual as jest.MockedFunction<typeof crypto.timingSafeEqual>;

const [wide, narrow] = [makeToken(), makeToken()];
const supplied: string[] = [];
const surface = surfaceOfTools([
  tool('find_order', () => {
    supplied.push('find_order');
    return Promise.resolve({ content: [] });
  }),
  tool('list_orders'),
]);
const rows = [
  { id: 'client-wide', secret: wide, tools: 'find_order, list_orders', tenant: 'north' },
  { id: 'client-narrow', secret: narrow, tools: 'list_orders', tenant: 'south' },
];
const served = endpoint(surface, rows);

/** Everything that a caller can see, apart from the id of the request. */
async function seen(body: object, token = narrow.token): Promise<unknown> {
  const { answer } = await send(served, { body, token });
  const { 'x-correlation-id': _id, ...headers } = answer.headers;
  return { ...answer, headers };
}

describe('a tool that is somebody else’s is answered byte for byte as one that does not exist', () => {
  test.each([
    ['no arguments', undefined],
    ['arguments that fit', { id: 'A1' }],
    ['arguments that do not fit', { id: 7, more: true }],
    ['arguments that are no object', 'text'],
    ['text that no argument may hold', { id: 'A\u0000' }],
  ])('with %s', async (_what, args) => {
    const foreign = await seen(call('find_order', args));
    expect(foreign).toEqual(await seen(call('no_such_tool_', args)));
    expect(JSON.stringify(foreign)).not.toContain('find_order');
    expect(supplied).toEqual([]);
  });

  test('in every spelling of the request', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    for (const params of [{ _meta: meta }, { _meta: { progressToken: 1 } }, { task: {} }]) {
      const of = (name: string) => rpc('tools/call', { name, arguments: {}, ...params });
      expect(await seen(of('find_order'))).toEqual(await seen(of('no_such_tool_')));
    }
  });

  test('when all places are taken', async () => {
    const busy = endpoint(surface, rows, {
      gate: { tryEnter: () => undefined } as unknown as (typeof served)['gate'],
    });
    const answers = await Promise.all(
      ['find_order', 'no_such_tool_'].map(async (name) =>
        bodyOf(await send(busy, { body: call(name, {}), token: narrow.token })),
      ),
    );
    expect(answers[0]).toEqual(answers[1]);
  });
});

describe('no work tells who is known', () => {
  const others = Array.from({ length: 30 }, () => makeToken());
  const known = makeToken();
  const consumers = parseConsumers({
    consumers: {
      values: [known, ...others].map(({ sha256 }, index) => ({
        id: `client-n${String(index)}`,
        tokenSha256: sha256,
        tools: 'find_order',
      })),
    },
  });
  const wrong = `${known.token.slice(0, -1)}${known.token.endsWith('A') ? 'B' : 'A'}`;

  test.each([
    ['an unknown consumer', makeToken().token],
    ['a known consumer with a wrong end of its token', wrong],
    ['the first consumer', known.token],
    ['the last consumer', others.at(-1)?.token ?? ''],
  ])('%s costs as many comparisons as there are bearers', (_who, token) => {
    compared.mockClear();
    try {
      authenticate([`Bearer ${token}`], consumers, 0);
    } catch {
      // Refused or not: what was done for it is what counts.
    }
    expect(compared).toHaveBeenCalledTimes(31);
  });
});

/**
 * How often a value of the first sample is smaller than one of the second, from 0 to 1; 0.5 where nothing tells them
 * apart (Mann and Whitney's U, divided by the number of pairs).
 */
function overlap(first: readonly number[], second: readonly number[]): number {
  const all = [...first.map((value) => ({ value, of: 0 })), ...second.map((value) => ({ value, of: 1 }))];
  all.sort((a, b) => a.value - b.value);
  let ranks = 0;
  for (let at = 0; at < all.length;) {
    let end = at;
    while (end < all.length && all[end]?.value === all[at]?.value) end += 1;
    for (let tied = at; tied < end; tied += 1) if (all[tied]?.of === 1) ranks += (at + end + 1) / 2;
    at = end;
  }
  return (ranks - (second.length * (second.length + 1)) / 2) / (first.length * second.length);
}

/**
 * Many requests of both kinds in random order. With 1,500 of each the measure strays by 0.01 where there is no
 * difference, whatever else the machine does, since that hits both kinds alike; the bound is ten times as wide. A
 * comparison that stops at the first difference, or a tool that is looked up, shows as 0.8 and more.
 */
async function indistinguishable(
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<number> {
  const times: [number[], number[]] = [[], []];
  const kinds = [one, other];
  for (let index = 0; index < 3_300; index++) {
    const kind = randomInt(2);
    const started = process.hrtime.bigint();
    await kinds[kind]?.();
    const taken = Number(process.hrtime.bigint() - started);
    if (index >= 300) times[kind as 0 | 1].push(taken);
  }
  return overlap(...times);
}

describe('a caller that measures many requests cannot tell', () => {
  const ask = (body: object, token: string) => async () => await send(served, { body, token });
  const wrongEnd = `${wide.token.slice(0, -1)}${wide.token.endsWith('A') ? 'B' : 'A'}`;

  test.each([
    [
      'an unknown consumer from a known one with a wrong token',
      ask(call('find_order', {}), makeToken().token),
      ask(call('find_order', {}), wrongEnd),
    ],
    [
      'a foreign tool from one that does not exist',
      ask(call('find_order', {}), narrow.token),
      ask(call('lose_order', {}), narrow.token),
    ],
    [
      'a wrong token for a tool that exists from one for a tool that does not',
      ask(call('find_order', {}), wrongEnd),
      ask(call('lose_order', {}), wrongEnd),
    ],
  ])('%s', async (_what, one, other) => {
    const measure = await indistinguishable(one, other);
    expect(measure).toBeGreaterThan(0.4);
    expect(measure).toBeLessThan(0.6);
  });

  test('and would tell, if the tool were looked at first', async () => {
    const told = await indistinguishable(
      ask(call('list_orders', {}), narrow.token),
      ask(call('x', {}), narrow.token),
    );
    expect(Math.abs(told - 0.5)).toBeGreaterThan(0.1);
  });
});
