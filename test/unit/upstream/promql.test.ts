import fc from 'fast-check';
import { PolicyError } from '../../../core/policy/errors';
import { parseDuration, parseTime, queryReach } from '../../../core/upstream/promql';

const DAY = 86_400;

describe('durations', () => {
  it.each([
    ['5m', 300],
    ['1h30m', 5_400],
    ['1d', DAY],
    ['2w', 14 * DAY],
    ['1y', 365 * DAY],
    ['100ms', 0.1],
    ['1d12h', 1.5 * DAY],
    ['0s', 0],
    ['60', 60],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['1e3', 1_000],
  ])('%s is %d seconds', (text, seconds) => {
    expect(parseDuration(text)).toBeCloseTo(seconds, 9);
  });

  it.each([
    '',
    ' ',
    '-5m',
    '-5',
    '+5',
    '5 m',
    '5x',
    'm',
    '1.5h',
    '5m!',
    '0x10',
    '1_000',
    'Inf',
    'NaN',
    '1e400',
    '5M',
    '٥m',
  ])('%j is no duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('times', () => {
  it.each([
    ['1767225600', 1_767_225_600],
    ['1767225600.123', 1_767_225_600.123],
    ['-1', -1],
    ['2026-01-01T00:00:00Z', 1_767_225_600],
    ['2026-01-01T01:00:00+01:00', 1_767_225_600],
    ['2026-01-01T00:00:00.5Z', 1_767_225_600.5],
  ])('%s is %d', (text, seconds) => {
    expect(parseTime(text)).toBe(seconds);
  });

  it.each([
    '',
    'now',
    'yesterday',
    '2026-01-01',
    '2026-13-01T00:00:00Z',
    '2026-01-01T00:00:00',
    '1e400',
    'NaN',
    '1767225600s',
  ])('%j is unreadable', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});

describe('reach of an expression', () => {
  it.each([
    ['up', 0],
    ['rate(up[5m])', 300],
    ['rate(up[ 5m ])', 300],
    ['rate(up[300])', 300],
    ['max_over_time(rate(up[5m])[1d:1m])', DAY + 300],
    ['max_over_time(up[1d:])', DAY],
    ['up offset 1w', 7 * DAY],
    ['up OFFSET 1w', 7 * DAY],
    ['up offset 604800', 7 * DAY],
    ['rate(up[5m] offset 1h)', 3_900],
    ['up offset -1w', 0],
    ['up offset - 1w', 0],
    ['(up)offset 1h', 3_600],
    ['up{a="b"}offset\n1h', 3_600],
    ['up offset # an hour\n 1h', 3_600],
    ['up # note\r offset 1h', 3_600],
    ['rate(up[5m # five\n])', 300],
  ])('%j looks back %d seconds', (query, seconds) => {
    expect(queryReach(query)).toEqual({ seconds, instants: [] });
  });

  it.each([
    ['a text', 'up{path="x[9y] offset 9y @ 1"}'],
    ['a text in single quotes', "up{path='x[9y]'}"],
    ['a raw text', 'up{path=`x[9y] "`}'],
    ['a text with an escaped quote', 'up{path="\\"[9y]"}'],
    ['a comment', 'up # [9y] offset 9y @ 1'],
    ['a label named offset', 'sum by (offset) (up)'],
    ['a label named offset in a list', 'sum by (a, offset, b) (up)'],
    ['a matcher on a label named offset', 'up{offset="9y"}'],
    ['a negative matcher on it', 'up{offset!~"9y"}'],
    ['a metric whose name holds the word', 'rate_offset + job:offset:sum + offset_total'],
  ])('is not taken from %s', (_what, query) => {
    expect(queryReach(query)).toEqual({ seconds: 0, instants: [] });
  });

  it.each([
    ['up @ 1767225600', [1_767_225_600]],
    ['up @1767225600.5', [1_767_225_600.5]],
    ['up @ -5', [-5]],
    ['up @ start()', []],
    ['up @ end ( )', []],
    ['rate(up[5m] @ 100) + up @ 200', [100, 200]],
  ])('%s evaluates at %j', (query, instants) => {
    expect(queryReach(query).instants).toEqual(instants);
  });

  it.each([
    ['a variable as range', 'rate(up[$__interval])'],
    ['an empty range', 'rate(up[])'],
    ['a computed range', 'rate(up[5m * 100])'],
    ['a hexadecimal range', 'rate(up[0xffffff])'],
    ['a negative range', 'rate(up[-5m])'],
    ['a computed resolution', 'max_over_time(up[1d:step()])'],
    ['a range of three parts', 'max_over_time(up[1d:1m:1y])'],
    ['a computed offset', 'up offset (1y * 2)'],
    ['a computed negative offset', 'up offset -(0 - 1y)'],
    ['a named offset', 'up offset max(1y, 2y)'],
    ['a hexadecimal offset', 'up offset 0x1E13380'],
    ['an offset with underscores', 'up offset 31_536_000'],
    ['an offset with a sign behind the sign', 'up offset --31536000'],
    ['an offset in an unknown unit', 'up offset 5q'],
    ['a text where the offset belongs', 'up offset "1y"'],
    ['a hexadecimal instant', 'up @ 0x10'],
    ['a computed instant', 'up @ (100)'],
    ['an instant in words', 'up @ Inf'],
    ['an instant that overflows', 'up @ 1e400'],
  ])('is refused when it cannot be measured: %s', (_what, query) => {
    expect(() => queryReach(query)).toThrow(PolicyError);
    expect(() => queryReach(query)).toThrow(/cannot be bounded/);
  });

  it('is never less than what any part of the expression reaches', () => {
    const part = fc.integer({ min: 1, max: 10_000 });
    const gap = fc.constantFrom('', ' ', '\n', '\r', ' # 1\n', '# "\r', '#`\n', '\t');
    fc.assert(
      fc.property(part, part, part, gap, gap, (range, sub, offset, one, two) => {
        const query = `max_over_time(rate(up[${one}${String(range)}s${two}])[${String(sub)}s:]${one} offset${two} ${String(offset)}s)`;
        expect(queryReach(query).seconds).toBe(range + sub + offset);
      }),
    );
  });

  it('ends in a measure or in a refusal, whatever the text is', () => {
    const piece = fc.constantFrom(
      'up',
      '[5m]',
      '[',
      ']',
      ' offset ',
      '@',
      '"',
      "'",
      '`',
      '#',
      '\n',
      '\r',
      '1h',
      '-',
      '(',
      ')',
      '\\',
      '{',
      '}',
      ':',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          expect(queryReach(pieces.join('')).seconds).toBeGreaterThanOrEqual(0);
        } catch (error) {
          expect(error).toMatchObject({ code: 'range_unreadable', pointer: '/query' });
        }
      }),
    );
  });
});
