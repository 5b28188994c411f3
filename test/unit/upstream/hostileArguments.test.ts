import fc from 'fast-check';
import type { PreparedOperation } from '../../../core/contract/definition';
import { PolicyError } from '../../../core/policy/errors';
import { json } from '../../support/upstreamDouble';
import { OPERATIONS } from '../contract/checkedIn';
import { orderById, parameters, prepare, useHarness } from './harness';
import { SAMPLES } from './samples';

const harness = useHarness();
const byId = prepare({ operation: orderById });

/** What tries to leave its place in an address, and what tries to hide that. */
const HOSTILE = [
  '../../users/me',
  '..%2f..%2fusers',
  '%2e%2e%2fadmin',
  '%252e%252e',
  '.',
  '..',
  '...',
  '.%2e',
  'a/b',
  'a\\..\\b',
  '/',
  '//evil.test/x',
  'https://evil.test/x',
  '@evil.test',
  'a?limit=9999',
  'a#b',
  'a&includeData=true',
  'a;b=c',
  'a=b',
  'a%00b',
  'a\u0000b',
  'a\r\nHost: evil.test\r\n\r\nGET /admin HTTP/1.1',
  'a HTTP/1.1',
  'true&excludePinnedData=false',
  '．．／admin',
  '\u2025/',
  '😀',
  '\ud800',
  ' ',
  '',
  '${process.env}',
  '{{ $env }}',
  '{id}',
  '$&$1',
  '-1',
  '1e400',
  'x'.repeat(100_000),
];

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.tuple(fc.constantFrom(...HOSTILE), fc.constantFrom(...HOSTILE)).map((parts) => parts.join('')),
);
const hostileValue = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 1, arbitrary: fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.jsonValue()) },
);

const REFUSALS = ['arguments_invalid', 'range_unreadable', 'range_too_wide', 'lookback_too_far'];

/** The request pattern of an operation: one plain segment for each slot. */
function pathPattern({ definition: { operation } }: PreparedOperation): RegExp {
  const parts = operation.request.path
    .split('/')
    .map((part) => (part.startsWith('{') ? "[\\w.!~*'()%-]+" : part));
  return new RegExp(`^${parts.join('/')}$`);
}

/** Either nothing was asked, or exactly what the contract lets anybody ask. */
async function expectHarmless(prepared: PreparedOperation, args: Record<string, unknown>): Promise<void> {
  const { upstream } = harness();
  upstream.reset();
  upstream.on('*', json({}, 500));
  const failure = await harness().failure(prepared, args);
  expect(failure).toBeInstanceOf(PolicyError);
  if (upstream.requests.length === 0) {
    expect(REFUSALS).toContain(failure.code);
    return;
  }
  expect(upstream.requests).toHaveLength(1);
  const { method, path, query, headers } = upstream.lastRequest;
  const { request } = prepared.definition.operation;
  expect(method).toBe('GET');
  expect(path).toMatch(pathPattern(prepared));
  expect(path).not.toMatch(/\/\.{1,2}(?:\/|$)|%2f|%5c|%2e%2e|%00/i);
  expect(headers.host).toBe(new URL(upstream.origin).host);
  const sent = parameters(query);
  const slots = Object.entries(request.arguments).filter(([, { in: place }]) => place === 'query');
  const declared = [...slots.map(([, { as }]) => as), ...Object.keys(request.fixed_query)];
  expect(declared).toEqual(expect.arrayContaining(Object.keys(sent)));
  for (const [name, value] of Object.entries(request.fixed_query)) expect(sent[name]).toEqual([value]);
  for (const [name, { as }] of slots) {
    if (typeof args[name] === 'string') expect(sent[as]).toEqual([args[name]]);
  }
}

const operations = OPERATIONS.map((prepared) => {
  const name = prepared.descriptor.name;
  return { name, prepared, valid: SAMPLES.find(({ tool }) => tool === name)?.args ?? {} };
});

describe('hostile arguments', () => {
  it.each(operations)('of $name never leave their places', async ({ prepared, valid }) => {
    const names = Object.keys(prepared.definition.operation.request.arguments);
    const extra = fc.oneof(
      hostileText,
      fc.constantFrom(
        'url',
        'path',
        'method',
        'headers',
        '__proto__',
        'constructor',
        'excludePinnedData',
        'timeout',
      ),
    );
    const changes = fc.tuple(
      fc.dictionary(fc.constantFrom(...names), hostileValue, { minKeys: 1, maxKeys: 2 }),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: fc.dictionary(extra, hostileValue, { maxKeys: 1 }) },
      ),
    );
    await fc.assert(
      fc.asyncProperty(changes, async ([values, extras]) => {
        await expectHarmless(prepared, { ...valid, ...values, ...extras });
      }),
      { numRuns: 50 },
    );
  });

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
        await expectHarmless(byId, { id });
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
