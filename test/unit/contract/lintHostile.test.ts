import fc from 'fast-check';
import { stringify } from 'yaml';
import { findingsIn, setAt } from './brokenContract';
import { rawContract } from './checkedIn';

describe('lint of hostile files', () => {
  it.each([
    ['nothing', ''],
    ['an alias of nothing', 'a: *b'],
    ['an alias of itself', '&a [*a]'],
    ['aliases that multiply', `a: &a [x]\nb: &b [*a,*a]\nc: [${'*b,'.repeat(200)}]`],
    ['depth that no parser survives', '['.repeat(5_000)],
    ['a tag that makes bytes', 'a: !!binary aGk='],
    ['another YAML version', '%YAML 1.1\n---\na: 2020-01-01'],
    ['two documents', 'a: 1\n---\na: 2'],
    ['keys that are lists', '? [a]\n: b'],
    ['a number that JSON cannot say', 'a: .inf'],
  ])('answers %s with findings', (_what, text) => {
    expect(findingsIn(text).length).toBeGreaterThan(0);
  });

  it.each([
    ['brackets', '['.repeat(20_000)],
    ['brackets that are closed', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['objects', '{a: '.repeat(20_000)],
    ['lists in one line', '- '.repeat(20_000)],
    ['keys in one line', '? '.repeat(20_000)],
  ])('does not even parse %s nested without end', (_what, text) => {
    expect(findingsIn(text)).toEqual([
      expect.objectContaining({ line: 1, reason: 'The file is nested deeper than 100 levels' }),
    ]);
  });

  it('does not even parse a file of more than 512 KB', () => {
    expect(findingsIn(`a: ${'x'.repeat(512 * 1024)}`)).toEqual([
      expect.objectContaining({ reason: 'The file is larger than 512 KB' }),
    ]);
  });

  it('never throws for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(findingsIn(text).length).toBeGreaterThan(0);
      }),
    );
  });

  it('never throws for a contract with any part replaced by anything', () => {
    const parts = pathsOf(rawContract());
    const anything = fc.oneof(fc.jsonValue(), fc.constantFrom(null, NaN, Infinity, [], {}, '', 0, 'a.b'));
    fc.assert(
      fc.property(fc.constantFrom(...parts), anything, (part, value) => {
        const contract = rawContract();
        setAt(contract, part, value);
        for (const { reason } of findingsIn(stringify(contract))) expect(reason).not.toBe('');
      }),
      { numRuns: 40 },
    );
  });
});

type Part = (string | number)[];

function pathsOf(value: unknown): Part[] {
  if (value === null || typeof value !== 'object') return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, entry]): Part[] => [[key], ...pathsOf(entry).map((rest) => [key, ...rest])]);
}
