import { rememberedConsumers } from '../../../core/server/rememberConsumers';
import { makeBearer } from '../../../core/server/bearer';

const listOf = (token: string, tools = 'find_order') => ({
  consumers: { values: [{ id: 'client-a', token, tools }] },
});

describe('a consumers credential that comes with every request', () => {
  it('is parsed once while it stays the same', () => {
    const { token } = makeBearer();
    expect(rememberedConsumers(listOf(token))).toBe(rememberedConsumers(listOf(token)));
  });

  it('takes effect at once when a bearer or a grant has changed', () => {
    const { token } = makeBearer();
    const before = rememberedConsumers(listOf(token));
    const rotated = rememberedConsumers(listOf(makeBearer().token));
    expect(rotated[0]?.digests[0]).not.toEqual(before[0]?.digests[0]);
    expect([...(rememberedConsumers(listOf(token, 'other'))[0]?.tools ?? [])]).toEqual(['other']);
  });

  it('is refused again and again while it is unusable', () => {
    for (const unusable of [undefined, null, {}, listOf('short')]) {
      expect(() => rememberedConsumers(unusable)).toThrow();
      expect(() => rememberedConsumers(unusable)).toThrow();
    }
  });
});
