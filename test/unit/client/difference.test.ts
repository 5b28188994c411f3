import fc from 'fast-check';
import { differences } from '../../../core/client/difference';
import { effectOf } from '../../../core/client/effect';
import { differenceText } from '../../../core/client/verify';
import { pinOf, type ToolDescriptor } from '../../../core/contract/pin';

const tool = (inputSchema: Record<string, unknown>, more: Partial<ToolDescriptor> = {}): ToolDescriptor => ({
  name: 'query_rows',
  inputSchema,
  ...more,
});

describe('differences between a pinned and a listed tool', () => {
  it('name the place and both values (C029)', () => {
    const of = (maximum: number) =>
      tool({ type: 'object', properties: { max_rows: { type: 'integer', maximum } } });
    const found = differences(of(100), of(100_000));
    expect(found).toEqual([
      { pointer: '/inputSchema/properties/max_rows/maximum', pinned: 100, listed: 100_000 },
    ]);
    expect(differenceText(found)).toBe('/inputSchema/properties/max_rows/maximum 100 -> 100000');
  });

  it('are found where something was added, removed, or took another form, in the order of the places', () => {
    const found = differences(
      tool({ b: 1, 'a/b~c': 1, list: [1, 2], same: { x: [1] } }, { title: 'x' }),
      tool({ c: 1, 'a/b~c': [1], list: [1, 3, 4], same: { x: [1] } }, { description: 'y' }),
    );
    expect(found.map(({ pointer, pinned, listed }) => [pointer, pinned, listed])).toEqual([
      ['/description', undefined, 'y'],
      ['/inputSchema/a~1b~0c', 1, [1]],
      ['/inputSchema/b', 1, undefined],
      ['/inputSchema/c', undefined, 1],
      ['/inputSchema/list/1', 2, 3],
      ['/inputSchema/list/2', undefined, 4],
      ['/title', 'x', undefined],
    ]);
    expect(differenceText(found)).toContain('/description (absent) -> "y"; ');
    expect(differenceText(found)).toMatch(/ and 2 more$/);
  });

  it('are seen in names that every object inherits', () => {
    const own = JSON.parse('{"constructor":{"type":"string"},"__proto__":{"type":"string"}}') as Record<
      string,
      unknown
    >;
    expect(differences(tool({}), tool(own)).map(({ pointer }) => pointer)).toEqual([
      '/inputSchema/__proto__',
      '/inputSchema/constructor',
    ]);
  });

  it('are bounded, and their text forges nothing', () => {
    const many = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, n) => [`p${String(n)}`, `\n\u202e${'x'.repeat(5_000)}`]),
    );
    const found = differences(tool({}), tool(many));
    expect(found.length).toBeLessThanOrEqual(200);
    expect(differenceText(found).length).toBeLessThan(2_500);
    expect(differenceText(found)).not.toMatch(/[\n\u202e]/);
  });

  it('are there exactly when the pins differ', () => {
    const json = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
    fc.assert(
      fc.property(json, json, (one, other) => {
        let pins: boolean;
        try {
          pins = pinOf(tool(one)) === pinOf(tool(other));
        } catch {
          return;
        }
        expect(differences(tool(one), tool(other)).length === 0).toBe(pins);
        expect(differences(tool(one), tool(structuredClone(one)))).toEqual([]);
      }),
    );
  });
});

describe('what a server claims that a tool does', () => {
  it.each([
    [undefined, 'Server does not say what it does to data'],
    [{ readOnlyHint: true }, 'Server claims: reads only'],
    [{ readOnlyHint: false }, 'Server claims: may change data, also destructively'],
    [
      { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      'Server claims: may change data, adding only, repeatable; stays inside of its application',
    ],
  ])('is marked as its claim: %j', (annotations, expected) => {
    expect(effectOf(tool({}, { annotations }))).toBe(expected);
  });
});
