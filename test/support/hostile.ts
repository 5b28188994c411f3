import fc from 'fast-check';

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

export const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.tuple(fc.constantFrom(...HOSTILE), fc.constantFrom(...HOSTILE)).map((parts) => parts.join('')),
);
export const hostileValue = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 1, arbitrary: fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.jsonValue()) },
);
