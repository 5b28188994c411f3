import fc from 'fast-check';
import { PolicyError } from '../../../core/policy/errors';
import { hostileText } from '../../support/hostile';
import { json } from '../../support/upstreamDouble';
import { orderById, parameters, prepare, useHarness } from './harness';

const harness = useHarness();
const byId = prepare({ operation: orderById });

describe('hostile arguments', () => {
  // Case C121: an id argument climbs to another endpoint.
  it.each(['../../users/me', '..%2f..%2fusers', 'A1/../../users'])(
    'cannot climb out of the segment that an id fills: %s',
    async (id) => {
      const failure = await harness().failure(byId, { id });
      expect(failure).toMatchObject({ code: 'arguments_invalid', pointer: '/id' });
      expect(failure.message).not.toContain('users');
      expect(harness().upstream.requests).toEqual([]);
    },
  );

  it.each([
    ['A1', '/api/orders/A1/lines'],
    ['a b?c#d&e', '/api/orders/a%20b%3Fc%23d%26e/lines'],
    ['größe 😀', '/api/orders/gr%C3%B6%C3%9Fe%20%F0%9F%98%80/lines'],
    ['...', '/api/orders/.../lines'],
    ['a@b:c', '/api/orders/a%40b%3Ac/lines'],
    ['100%', '/api/orders/100%25/lines'],
    ['{id}', '/api/orders/%7Bid%7D/lines'],
    ["$&$1$'", "/api/orders/%24%26%241%24'/lines"],
  ])('as an id arrive as one encoded segment: %s', async (id, path) => {
    harness().upstream.on('*', json({ id: 1 }));
    await harness().call(byId, { id });
    expect(harness().upstream.lastRequest).toMatchObject({ path, query: '' });
  });

  it('of any kind arrive as one encoded segment or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(hostileText, async (id) => {
        const { upstream } = harness();
        upstream.reset();
        upstream.on('*', json({}, 500));
        const failure = await harness().failure(byId, { id });
        expect(failure).toBeInstanceOf(PolicyError);
        if (failure.code === 'arguments_invalid') expect(upstream.requests).toEqual([]);
        else expect(upstream.lastRequest.path).toMatch(/^\/api\/orders\/[\w.!~*'()%-]+\/lines$/);
      }),
      { numRuns: 200 },
    );
  });

  it('that leave a slot empty are refused, since the path would name all records', async () => {
    const { operation } = byId.definition;
    const open = prepare({ operation: { ...operation, input_schema: { type: 'object' } } });
    for (const args of [{}, { id: '' }, { id: null }, { id: {} }, { id: ['a'] }]) {
      expect(await harness().failure(open, args)).toMatchObject({ code: 'arguments_invalid' });
    }
    expect(harness().upstream.requests).toEqual([]);
  });

  it('cannot stand in for the parameter that carries the credential', async () => {
    harness().upstream.on('*', json({ rows: [] }));
    await harness().call(
      prepare(),
      { q: 'mine' },
      { credential: { authentication: 'query', name: 'q', secret: 'ours' } },
    );
    expect(parameters(harness().upstream.lastRequest.query)).toMatchObject({ q: ['ours'] });
  });
});
