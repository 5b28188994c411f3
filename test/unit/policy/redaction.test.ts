import fc from 'fast-check';
import { foreignText, REDACTED, redactPaths, withoutAddresses } from '../../../core/policy/redaction';

describe('redaction by path', () => {
  const record = () => ({
    name: 'n',
    secret: 's',
    empty: null,
    rows: [{ token: 'a', id: 1 }, { id: 2 }, 'text'],
    byName: { one: { token: 'b' }, two: { token: 'c' } },
    whole: { deep: [1, 2] },
  });

  it.each([
    ['secret', { secret: REDACTED }],
    ['empty', { empty: null }],
    ['rows[].token', { rows: [{ token: REDACTED, id: 1 }, { id: 2 }, 'text'] }],
    ['byName.*.token', { byName: { one: { token: REDACTED }, two: { token: REDACTED } } }],
    ['whole', { whole: REDACTED }],
    ['rows[]', { rows: [REDACTED, REDACTED, REDACTED] }],
  ])('%s replaces what stands there and nothing else', (path, changed) => {
    const value = record();
    redactPaths(value, [path]);
    expect(value).toEqual({ ...record(), ...changed });
  });

  it.each(['absent', 'name.inside', 'rows.token', 'constructor', '__proto__.polluted'])(
    '%s leads nowhere and does no harm',
    (path) => {
      const value = record();
      redactPaths(value, [path]);
      expect(value).toEqual(record());
      expect({}).not.toHaveProperty('polluted');
    },
  );
});

describe('foreign text', () => {
  it.each([
    ['a line break', 'a\nb', 'a b'],
    ['a forged log line', 'x\r\nmcp_audit {"code":"ok"}', 'x mcp_audit {"code":"ok"}'],
    ['an escape sequence', 'a\u001b[31mb', 'a [31mb'],
    ['a C1 control', 'a\u009bb', 'a b'],
    ['a bidirectional override', 'a\u202eb\u2066c\u061cd', 'a b c d'],
    ['zero-width characters', 'a\u200bb\u200dc\ufeffd\u2060e', 'a b c d e'],
    ['line and paragraph separators', 'a\u2028b\u2029c', 'a b c'],
    ['invisible tag characters, which smuggle instructions', 'a\u{e0049}\u{e0067}\u{e007f}b', 'a b'],
    ['variation selectors, which carry hidden bytes', 'a\ufe0f\u{e0100}b', 'a b'],
    ['soft hyphens and fillers', 'a\u00adb\u3164c\u115fd\u034fe', 'a b c d e'],
    ['half of a surrogate pair', 'a\ud83db', 'a b'],
    ['nothing to remove', 'größer als 5 € 😀', 'größer als 5 € 😀'],
  ])('loses %s', (_what, text, clean) => {
    expect(foreignText(text, 100)).toBe(clean);
  });

  it('is at most as long as allowed and says that it was cut', () => {
    expect(foreignText('abcdef', 6)).toBe('abcdef');
    expect(foreignText('abcdefg', 6)).toBe('abcde…');
  });

  it('is not cut in the middle of a character', () => {
    expect(foreignText('abcd😀fgh', 6)).toBe('abcd…');
  });

  it.each([
    ['once', 'key k-secret-1 refused', `key ${REDACTED} refused`],
    ['several times', 'k-secret-1k-secret-1', `${REDACTED}${REDACTED}`],
    ['in another case', 'key K-SECRET-1', `key ${REDACTED}`],
  ])('loses every secret: %s', (_what, text, clean) => {
    expect(foreignText(text, 100, ['k-secret-1'])).toBe(clean);
  });

  it('loses secrets that hold characters with a meaning in patterns', () => {
    expect(foreignText('a.b*c(d)$1 axbbc', 100, ['a.b*c(d)$1'])).toBe(`${REDACTED} axbbc`);
  });

  it('never shows a secret, also not where it would be cut', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.integer({ min: 1, max: 80 }), (before, after, maximum) => {
        const shown = foreignText(`${before}S3CR3T-T0K3N${after}`, maximum, ['S3CR3T-T0K3N']);
        expect(shown).not.toContain('S3CR3T');
        expect(shown.length).toBeLessThanOrEqual(maximum);
      }),
    );
  });

  it('is one line of visible characters for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(foreignText(text, 50)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

describe('the sentence of a foreign error', () => {
  it.each([
    ['connect ECONNREFUSED 10.0.0.5:5432', 'connect ECONNREFUSED [redacted]'],
    ['see https://crm.internal/v1?token=x for more', 'see [redacted] for more'],
    ['lost //crm.internal/v1?token=x', 'lost [redacted]'],
    ['login user:pass@host failed', 'login [redacted] failed'],
    ['no route to fe80::1', 'no route to [redacted]'],
    ['no route to [::1]:80', 'no route to [redacted]'],
    ['order 12.5 of 2026-01-02 not found: use A-1', 'order 12.5 of 2026-01-02 not found: use A-1'],
  ])('%s is shown as %s', (sentence, shown) => {
    expect(withoutAddresses(sentence, 300)).toBe(shown);
  });

  it.each(['a:', 'a', 'a-', '//', ':', '1.', '@', '[', ' /', '\u0000'])(
    'is dealt with however long it is: %j, many times',
    (part) => {
      expect(withoutAddresses(part.repeat(200_000), 300).length).toBeLessThanOrEqual(300);
    },
  );
});
