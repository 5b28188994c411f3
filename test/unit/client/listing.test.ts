import { cataloguePin, pinOf, type ToolDescriptor } from '../../../core/contract/pin';
import { review } from '../../../core/client/review';
import { tool } from '../../support/mcpServerDouble';
import { going, pinned, refused, useHarness } from './harness';

const harness = useHarness();
const namesOf = ({ tools }: { tools: readonly { descriptor: ToolDescriptor }[] }) =>
  tools.map(({ descriptor: { name } }) => name);

describe('the list of a server', () => {
  it('is followed through its pages, so that a pinned tool on the second is found (C032)', async () => {
    const double = await harness.double();
    double.on('tools/list', ({ params }) =>
      params?.['cursor'] === 'p2'
        ? { tools: [tool('beta_tool')] }
        : { tools: [tool('alpha_tool')], nextCursor: 'p2' },
    );
    const allow = pinned({ tools: [tool('beta_tool')], origin: double.origin });
    const { server } = harness.client(double.endpoint);
    expect((await server.verified(allow, going())).usable.map(({ descriptor }) => descriptor.name)).toEqual([
      'beta_tool',
    ]);
    expect(double.asked('tools/list').map(({ body }) => body?.params?.['cursor'])).toEqual([undefined, 'p2']);
  });

  it('may be long', async () => {
    const double = await harness.double({
      tools: Array.from({ length: 63 }, (_, n) => tool(`t${String(n)}`)),
      pageSize: 1,
    });
    const { server } = harness.client(double.endpoint);
    expect((await server.listing(going())).tools).toHaveLength(63);
  });

  it.each([[undefined], [null], ['']])('ends with the cursor %j', async (nextCursor) => {
    const double = await harness.double();
    double.on('tools/list', () => ({ tools: [tool('one')], nextCursor }));
    const { server } = harness.client(double.endpoint);
    expect(namesOf(await server.listing(going()))).toEqual(['one']);
    expect(double.asked('tools/list')).toHaveLength(1);
  });

  it.each([
    ['repeats a cursor', 2, (page: number) => ({ tools: [tool(`t${String(page)}`)], nextCursor: 'again' })],
    ['turns in a circle', 3, (page: number) => ({ tools: [tool('one')], nextCursor: ['a', 'b'][page % 2] })],
    ['has pages without end', 64, (page: number) => ({ tools: [], nextCursor: `p${String(page)}` })],
    [
      'has tools without end',
      1,
      (page: number) => ({
        tools: Array.from({ length: 2_100 }, (_, n) => tool(`t${String(n)}`)),
        nextCursor: `p${String(page)}`,
      }),
    ],
    [
      'has too many tools on one page',
      1,
      () => ({ tools: Array.from({ length: 2_100 }, (_, n) => tool(`t${String(n)}`)) }),
    ],
    [
      'is large without end',
      2,
      (page: number) => ({
        tools: [tool(`t${String(page)}`, { description: 'x'.repeat(9_000_000) })],
        nextCursor: `p${String(page)}`,
      }),
    ],
  ])('is refused when it %s', async (_what, requests, page) => {
    const double = await harness.double();
    double.on('tools/list', () => page(double.asked('tools/list').length));
    const { server } = harness.client(double.endpoint, { settings: { responseBytes: 10_000_000 } });
    expect((await refused(server.listing(going()))).code).toBe('list_too_long');
    expect(double.asked('tools/list')).toHaveLength(requests);
  });

  it('is read in spite of entries that are no tools, which are counted', async () => {
    let deep: unknown = {};
    for (let level = 0; level < 3_000; level += 1) deep = { a: deep };
    const broken = [
      null,
      'x',
      {},
      { name: '' },
      { name: 'a' },
      { name: 'a', inputSchema: [] },
      { name: 7, inputSchema: {} },
      { name: 'a', inputSchema: {}, description: 5 },
    ];
    const double = await harness.double({
      tools: [...broken, tool('good'), tool('deep', { inputSchema: deep })],
    });
    const { server } = harness.client(double.endpoint);
    const listing = await server.listing(going());
    expect(namesOf(listing)).toContain('good');
    expect(listing.tools.length + listing.unreadable).toBe(broken.length + 2);
    expect(listing.unreadable).toBeGreaterThanOrEqual(broken.length);
  });

  it.each([[{ tools: 'none' }], [{}], [{ tools: {} }]])('is refused when it is none: %j', async (result) => {
    const double = await harness.double();
    double.on('tools/list', () => result);
    const { server } = harness.client(double.endpoint);
    expect((await refused(server.listing(going()))).code).toBe('upstream_unexpected_shape');
  });

  it('has a pin over everything that is listed, in whatever order', async () => {
    const tools = [tool('b'), tool('a')];
    const double = await harness.double({ tools });
    const listing = await harness.client(double.endpoint).server.listing(going());
    expect(listing.cataloguePin).toBe(cataloguePin((tools as ToolDescriptor[]).map(pinOf).reverse()));
  });
});

describe('a review', () => {
  it('shows everything that is listed beside what was pinned', async () => {
    const same = tool('same') as ToolDescriptor;
    const before = tool('changed') as ToolDescriptor;
    const gone = tool('gone') as ToolDescriptor;
    const twice = tool('twice') as ToolDescriptor;
    const after = { ...before, description: 'Another.' };
    const far = { name: 'far', inputSchema: { $ref: 'https://example.test/' } };
    const double = await harness.double({ tools: [same, after, twice, twice, far, 'x'] });
    const { tools: pins } = pinned({ tools: [same, before, gone, twice], origin: double.origin });
    const listing = await harness.client(double.endpoint).server.listing(going());
    const result = review(listing, pins, (pin) => (pin === pinOf(before) ? before : undefined));
    expect(result.server).toBe(`double@${double.origin}`);
    expect(result.unreadable).toBe(1);
    expect(result.tools.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'same unchanged',
      'changed changed',
      'twice ambiguous',
      'twice ambiguous',
      'far not_pinned',
      'gone missing',
    ]);
    const [first, second, , , fifth, last] = result.tools;
    expect(first).toMatchObject({ value: `same@${pinOf(same)}`, changes: [], unsupported: null });
    expect(second).toMatchObject({
      value: `changed@${pinOf(after)}`,
      pinned: pinOf(before),
      changes: [{ pointer: '/description', pinned: 'Does changed.', listed: 'Another.' }],
    });
    expect(fifth?.unsupported).toContain('https://example.test/');
    expect(last).toMatchObject({ value: null, pinned: pinOf(gone), descriptor: null });
    expect(result.descriptors).toEqual(listing.tools.map(({ descriptor }) => descriptor));
  });
});
