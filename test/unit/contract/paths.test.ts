import fc from 'fast-check';
import { PATH_PATTERN, parsePath, readPointer } from '../../../core/contract/paths';

const key = (name: string) => ({ kind: 'key', key: name });
const each = { kind: 'each' };

describe('paths of keep and redact', () => {
  it.each([
    ['.', []],
    ['name', [key('name')]],
    ['tags[].name', [key('tags'), each, key('name')]],
    ['rows[][]', [key('rows'), each, each]],
    ['*', [each]],
    ['*[].help', [each, each, key('help')]],
    ['a.*.b', [key('a'), each, key('b')]],
    ['__proto__', [key('__proto__')]],
    ['content-type', [key('content-type')]],
  ])('reads %s', (path, segments) => {
    expect(parsePath(path)).toEqual(segments);
  });

  it.each(['', '..', 'a.', '.a', 'a..b', '[]', 'a[0]', 'a[', 'a b', 'a*', '[].a', 'a.[]', 'a\n'])(
    'refuses %j',
    (path) => {
      expect(PATH_PATTERN.test(path)).toBe(false);
      expect(() => parsePath(path)).toThrow(SyntaxError);
    },
  );
});

describe('JSON pointer (RFC 6901)', () => {
  // Section 5 of the RFC.
  const document = {
    foo: ['bar', 'baz'],
    '': 0,
    'a/b': 1,
    'c%d': 2,
    'm~n': 8,
    ' ': 7,
    nothing: null,
  };

  it.each([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/m~0n', 8],
    ['/ ', 7],
    ['/nothing', null],
  ])('%j leads to what the RFC says', (pointer, value) => {
    expect(readPointer(document, pointer)).toEqual(value);
  });

  it.each(['/bar', '/foo/2', '/foo/-', '/foo/0/x', '/nothing/x', '/constructor', '/foo/map', '/__proto__'])(
    '%s leads nowhere',
    (pointer) => {
      expect(readPointer(document, pointer)).toBeUndefined();
    },
  );

  it('finds every key, whatever it is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const token = name.replaceAll('~', '~0').replaceAll('/', '~1');
        const holder = Object.fromEntries([[name, 'here']]);
        expect(readPointer(holder, `/${token}`)).toBe('here');
      }),
    );
  });
});
