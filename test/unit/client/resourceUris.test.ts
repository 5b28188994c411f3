import fc from 'fast-check';
import { checkResourceUri } from '../../../core/client/resourceUris';
import { refusalOf } from '../policy/refusal';

const allows = (allowed: unknown, uri: string) => {
  try {
    checkResourceUri(allowed, uri);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'resource_not_allowed' });
    return false;
  }
};

describe('a resource', () => {
  it('may be read when its URI is listed, letter by letter', () => {
    const allowed = ['note://1', 'file:///a/b.txt'];
    expect(allows(allowed, 'note://1')).toBe(true);
    for (const other of [
      'note://12',
      'NOTE://1',
      'note://1/',
      'note://1?x',
      ' note://1',
      'file:///a/b.txt#x',
      '',
    ]) {
      expect(allows(allowed, other)).toBe(false);
    }
  });

  it.each([
    ['wiki://{page}', 'wiki://start', true],
    ['wiki://{page}', 'wiki://Caf%C3%A9', true],
    ['wiki://{page}', 'wiki://%C3%A9t%C3%A9', true],
    ['wiki://{page}', 'wiki://v1.2', true],
    ['wiki://{page}', 'wiki://...', true],
    ['wiki://{page}', 'wiki://', false],
    ['wiki://{page}', 'wiki://a/b', false],
    ['wiki://{page}', 'WIKI://a', false],
    ['wiki://{page}', 'xwiki://a', false],
    ['wiki://{space}/{page}', 'wiki://a/b', true],
    ['wiki://{space}/{page}', 'wiki://../b', false],
    ['wiki://{page}/public', 'wiki://a/public', true],
    ['wiki://{page}/public', 'wiki://a/PUBLIC', false],
    ['file:///docs/{name}.md', 'file:///docs/a.md', true],
    ['file:///docs/{name}.md', 'file:///docs/aXmd', false],
    ['db://rows?id={id}', 'db://rows?id=7', true],
    ['db://rows?id={id}', 'db://rows?id=7&all=1', true],
    ['plain://a', 'plain://{a}', false],
  ])('under %s may be read as %s: %s', (template, uri, expected) => {
    expect(allows([template], uri)).toBe(expected);
  });

  it.each([
    '..',
    '.',
    '../secret',
    'a/../../secret',
    '%2e%2e',
    '%2E%2e',
    '.%2e',
    '%2e%2e%2fsecret',
    'a%2fb',
    'a%2Fb',
    'a%5cb',
    'a\\b',
    'a%00b',
    'a\u0000b',
    'a%0ab',
    'a\nb',
    'a b',
    'a?x=1',
    'a#x',
    'a%3fx',
    'a%23x',
    '%252e%252e',
    'a%252fb',
    '%c0%ae%c0%ae',
    'a%c0%afb',
    'a%',
    'a%zz',
    'a\u200bb',
    'a\u202eb',
  ])('cannot be reached by climbing out of a template: %j', (part) => {
    expect(allows(['file:///docs/{page}'], `file:///docs/${part}`)).toBe(false);
    expect(allows(['file:///docs/{page}/end'], `file:///docs/${part}/end`)).toBe(false);
  });

  it.each([
    ['file:///docs/{page}?v={version}', 'file:///docs/..?v=1'],
    ['file:///docs/{a}{b}', 'file:///docs/..'],
    ['file:///docs/.{a}', 'file:///docs/..'],
    ['file:///docs/{a}.', 'file:///docs/..'],
    ['file:///docs/{a}#top', 'file:///docs/..#top'],
  ])('cannot be reached by what stands beside a variable: %s by %s', (template, uri) => {
    expect(allows([template], uri)).toBe(false);
  });

  it('stays below its template however a URL parser reads it', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '/',
        '\\',
        '%2e',
        '%2E',
        '%2f',
        '%5c',
        '%25',
        '?',
        '#',
        '%00',
        'a',
        'b',
        ';',
        '@',
        ':',
        '%C3%A9',
      ),
      fc.string({ maxLength: 3, unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
        const uri = `https://wiki.test/docs/${pieces.join('')}/page`;
        if (!allows(['https://wiki.test/docs/{space}/page'], uri)) return;
        for (const read of [uri, decodeURI(uri), decodeURIComponent(uri)]) {
          const { pathname, host, search, hash } = new URL(read);
          expect(host).toBe('wiki.test');
          expect(pathname).toMatch(/^\/docs\/[^/]+\/page$/);
          expect(search + hash).toBe('');
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([[[]], [undefined], [null], ['wiki://{page}'], [{}]])(
    'is refused without a list: %j',
    (allowed) => {
      expect(
        refusalOf(() => {
          checkResourceUri(allowed, 'wiki://a');
        }),
      ).toMatchObject({ code: 'allowlist_empty' });
    },
  );

  it.each([[['']], [[null]], [[' ']], [[7]]])('is refused when the list cannot be read: %j', (allowed) => {
    expect(
      refusalOf(() => {
        checkResourceUri(allowed, 'wiki://a');
      }),
    ).toMatchObject({ code: 'pin_malformed' });
  });

  it('is named without what could forge a line', () => {
    const { message } = refusalOf(() => {
      checkResourceUri(['a://b'], `a://\n\u202e${'x'.repeat(5_000)}`);
    });
    expect(message).not.toMatch(/[\n\u202e]/);
    expect(message.length).toBeLessThan(300);
  });
});
