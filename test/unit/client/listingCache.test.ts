import { ListingCache } from '../../../core/client/listingCache';
import { pinOf, type ToolDescriptor } from '../../../core/contract/pin';

const LETTERS = 1_000_000;

/** A list of one large tool that is another one each time. */
function listing(n: number) {
  const descriptor: ToolDescriptor = {
    name: 'large',
    description: `${String(n)}${'x'.repeat(LETTERS)}`,
    inputSchema: { type: 'object' },
  };
  const tool = { descriptor, pin: pinOf(descriptor), characters: JSON.stringify(descriptor).length };
  return {
    identity: { name: 'double', origin: 'https://mcp.example.com' },
    tools: [tool],
    cataloguePin: '',
    unreadable: 0,
  };
}

describe('what this process keeps of lists', () => {
  it('is bounded in size, however often a server changes a large tool', () => {
    const cache = new ListingCache();
    const pins = Array.from({ length: 60 }, (_, n) => {
      const one = listing(n);
      cache.remember('the same credential', one);
      return one.tools[0]?.pin ?? '';
    });
    expect(pins.filter((pin) => cache.descriptor(pin)).length).toBeLessThan(40);
    expect(cache.descriptor(pins[59] ?? '')).toBeDefined();
  });

  it('is bounded over all credentials', () => {
    const cache = new ListingCache(() => 0);
    const names = Array.from({ length: 60 }, (_, n) => `credential ${String(n)}`);
    for (const [n, name] of names.entries()) cache.remember(name, listing(n));
    expect(names.filter((name) => cache.listing(name, 60)).length).toBeLessThan(40);
    expect(cache.listing('credential 59', 60)).toBeDefined();
  });
});
