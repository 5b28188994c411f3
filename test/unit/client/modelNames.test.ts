import fc from 'fast-check';
import { modelNames } from '../../../core/client/modelNames';
import { refusalOf } from '../policy/refusal';

const FIT = /^[a-zA-Z0-9_-]{1,64}$/;
const named = (names: readonly string[], prefix = '') => [...modelNames(names, prefix).keys()];

describe('names that a model sees', () => {
  it("are the server's own where providers take them", () => {
    expect(named(['get_note', 'list-items', 'A1'])).toEqual(['get_note', 'list-items', 'A1']);
  });

  it('hold no character that a provider refuses, and lead back to the original (C018)', () => {
    const names = modelNames(['Find Order'], '');
    expect([...names]).toEqual([['Find_Order', 'Find Order']]);
  });

  it('differ between two servers with a tool of one name, given a prefix (C020)', () => {
    expect([...modelNames(['list_items'], 'crm')]).toEqual([['crm_list_items', 'list_items']]);
    expect([...modelNames(['list_items'], 'stock')]).toEqual([['stock_list_items', 'list_items']]);
    expect(named(['list_items'], 'Größe 1')).toEqual(['Gr__e_1_list_items']);
  });

  it('stay apart when they would become the same', () => {
    const names = named(['a b', 'a.b', 'a_b']);
    expect(new Set(names).size).toBe(3);
    expect(names[2]).toBe('a_b');
    expect(names.every((name) => FIT.test(name))).toBe(true);
  });

  it('do not depend on what else is pinned, unless they would become the same', () => {
    expect(named(['x'.repeat(80), 'other'])[0]).toBe(named(['x'.repeat(80)])[0]);
  });

  it('are refused when a server has foreseen them', () => {
    const [taken = ''] = named(['a b', 'a.b']);
    expect(refusalOf(() => modelNames(['a b', 'a.b', taken], ''))).toMatchObject({ code: 'tool_ambiguous' });
  });

  it('are fit, unique and reversible, whatever the names and the prefix', () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.stringMatching(/^[a-z _.]{1,5}$/),
      fc.string({ minLength: 60, maxLength: 90, unit: fc.constantFrom('a', 'b', ' ', '😀') }),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 1, maxLength: 8 }),
        fc.oneof(fc.constant(''), fc.string({ maxLength: 80 })),
        (names, prefix) => {
          const byModel = modelNames(names, prefix);
          expect([...byModel.values()]).toEqual(names);
          expect(byModel.size).toBe(names.length);
          for (const shown of byModel.keys()) expect(shown).toMatch(FIT);
          expect([...modelNames(names, prefix)]).toEqual([...byModel]);
        },
      ),
    );
  });
});
