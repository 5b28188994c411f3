import { parseJson } from '../../../core/contract/parseJson';
import { rememberParsed } from '../../../core/contract/rememberParsed';
import { surfaceOf, surfaceSchema } from '../../../core/contract/surface';
import { contractOf } from './checkedIn';
import { refusalOf } from '../policy/refusal';

const surface = surfaceOf(contractOf('web-app-n8n'));

describe('a JSON parameter', () => {
  it('is read when it fits its schema', () => {
    expect(parseJson(surfaceSchema, JSON.stringify(surface), 'The contract')).toEqual(surface);
  });

  it.each([
    ['no JSON', '{"a":', /^The contract is not valid JSON\.$/],
    ['another value', '[]', /^The contract cannot be used: /],
    ['an unknown key', JSON.stringify({ ...surface, open: true }), /open/],
    ['a wrong part', JSON.stringify({ ...surface, limits: {} }), /cannot be used: limits\./],
    [
      'a number that JSON cannot say',
      JSON.stringify(surface).replace('"maximum":25', '"maximum":1e999'),
      /not valid JSON/,
    ],
    ['endless depth', '['.repeat(200_000) + ']'.repeat(200_000), /The contract/],
  ])('is refused with a sentence for %s', (_fault, text, message) => {
    const refusal = refusalOf(() => parseJson(surfaceSchema, text, 'The contract'));
    expect(refusal.code).toBe('surface_unconfigured');
    expect(refusal.message).toMatch(message);
  });
});

describe('a parameter that is asked for again', () => {
  it('is parsed once', () => {
    const parse = jest.fn((text: string) => ({ text }));
    const remembered = rememberParsed(parse);
    expect(remembered('a')).toBe(remembered('a'));
    expect(parse).toHaveBeenCalledTimes(1);
  });

  it('is parsed again when the failure was the last that is known of it', () => {
    const parse = jest.fn((): string => {
      throw new Error('no');
    });
    const remembered = rememberParsed(parse);
    for (let turn = 0; turn < 2; turn++) expect(() => remembered('a')).toThrow('no');
    expect(parse).toHaveBeenCalledTimes(2);
  });

  it('is forgotten when newer ones need its place', () => {
    const parse = jest.fn((text: string) => ({ text }));
    const remembered = rememberParsed(parse, 2);
    for (const text of ['a', 'b', 'c', 'b', 'c', 'a']) remembered(text);
    expect(parse.mock.calls.flat()).toEqual(['a', 'b', 'c', 'a']);
  });
});
