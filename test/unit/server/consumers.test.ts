import { PolicyError } from '../../../core/policy/errors';
import { authenticate } from '../../../core/server/authenticate';
import { parseConsumers } from '../../../core/server/consumers';
import { makeToken } from './endpoint';

const credential = (...values: object[]) => ({ consumers: { values } });

function faultOf(run: () => unknown): PolicyError {
  try {
    run();
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('the consumers credential', () => {
  const { token, sha256 } = makeToken();
  const good = { id: 'web-app-openwebui', tokenSha256: sha256, tools: 'find_order' };

  test('keeps digests and never a token', () => {
    const [consumer] = parseConsumers(credential({ ...good, tokenSha256: '', token }));
    expect(JSON.stringify(consumer)).not.toContain(token);
    expect(consumer?.digests[0]?.toString('hex')).toBe(sha256);
  });

  test('reads tool names that are separated by commas, spaces or lines', () => {
    const [consumer] = parseConsumers(
      credential({ ...good, tools: 'find_order, list_orders\n  get_order ' }),
    );
    expect([...(consumer?.tools ?? [])]).toEqual(['find_order', 'list_orders', 'get_order']);
  });

  test('is read from JSON as well, for hosts that cannot show the list', () => {
    const json = JSON.stringify([
      { id: 'client-json', tokenSha256: sha256, tools: ['find_order', 'get_order'] },
    ]);
    const [consumer, ...more] = parseConsumers({ consumers: { values: [{}] }, consumersJson: json });
    expect([consumer?.id, [...(consumer?.tools ?? [])], more]).toEqual([
      'client-json',
      ['find_order', 'get_order'],
      [],
    ]);
  });

  test('joins both, and a bearer in both is one too many', () => {
    const json = (id: string, hash: string) =>
      JSON.stringify([{ id, tokenSha256: hash, tools: 'find_order' }]);
    const other = makeToken();
    const joined = parseConsumers({ ...credential(good), consumersJson: json('client-json', other.sha256) });
    expect(joined.map(({ id }) => id)).toEqual(['web-app-openwebui', 'client-json']);
    const fault = faultOf(() =>
      parseConsumers({ ...credential(good), consumersJson: json('client-json', sha256) }),
    );
    expect(fault.message).toContain('shares a token');
  });

  test.each([
    ['no JSON', '[{'],
    ['no list', '{}'],
    [
      'a plain token, which such a field would show',
      `[{"id":"client-one","token":"${token}","tools":"a_b"}]`,
    ],
    ['no tools', `[{"id":"client-one","tokenSha256":"${sha256}"}]`],
  ])('is refused when its JSON holds %s, without repeating it', (_what, consumersJson) => {
    const fault = faultOf(() => parseConsumers({ consumersJson }));
    expect(fault.message).toContain('Consumers (JSON)');
    expect(fault.message).not.toContain(token);
  });

  test.each([
    ['no consumers at all', credential()],
    ['not a credential', undefined],
    ['an id that is none', credential({ ...good, id: 'Open WebUI' })],
    ['neither token nor hash', credential({ ...good, tokenSha256: '' })],
    ['token and hash for one bearer', credential({ ...good, token })],
    ['a hash that is none', credential({ ...good, tokenSha256: 'abc' })],
    ['a token that no bearer can carry', credential({ ...good, tokenSha256: '', token: 'zwölf Zeichen' })],
    ['a token that can be guessed', credential({ ...good, tokenSha256: '', token: 'short' })],
    ['no tools: nothing is granted by leaving it empty', credential({ ...good, tools: ' ' })],
    ['an expiry that is no date', credential({ ...good, expiresAt: 'soon' })],
    ['one consumer twice', credential(good, good)],
    ['a bearer that two consumers share', credential(good, { ...good, id: 'web-app-flowise' })],
  ])('is refused as a whole for %s', (_name, given) => {
    const fault = faultOf(() => parseConsumers(given));
    expect(fault.code).toBe('surface_unconfigured');
    expect(fault.message).not.toContain(token);
    expect(fault.message).not.toContain(sha256);
  });
});

describe('the bearer', () => {
  const first = makeToken();
  const second = makeToken();
  const expired = makeToken();
  const consumers = parseConsumers(
    credential(
      {
        id: 'client-one',
        tokenSha256: first.sha256,
        secondTokenSha256: `SHA256:${second.sha256}`,
        tools: 'a_b',
      },
      { id: 'client-old', tokenSha256: expired.sha256, tools: 'a_b', expiresAt: '2026-01-01T00:00:00Z' },
    ),
  );
  const now = Date.parse('2026-06-01T00:00:00Z');

  test.each([
    ['the token', `Bearer ${first.token}`],
    ['the second token, while rotating', `Bearer ${second.token}`],
    ['a lower-case scheme', `bearer ${first.token}`],
    ['an upper-case scheme', `BEARER  ${first.token}`],
  ])('names its consumer by %s', (_name, header) => {
    expect(authenticate([header], consumers, now).id).toBe('client-one');
  });

  test.each([
    ['none', [], 'bearer_missing'],
    ['an empty header', [' '], 'bearer_missing'],
    ['another scheme', ['Basic dXNlcjpwdw=='], 'bearer_malformed'],
    ['no token', ['Bearer '], 'bearer_malformed'],
    ['two tokens', [`Bearer ${first.token} ${first.token}`], 'bearer_malformed'],
    ['two headers', [`Bearer ${first.token}`, `Bearer ${first.token}`], 'bearer_malformed'],
    ['an oversized header', [`Bearer ${'a'.repeat(5_000)}`], 'bearer_malformed'],
    ['a wrong token', [`Bearer ${second.token}x`], 'bearer_invalid'],
    ['another case', [`Bearer ${first.token.toUpperCase()}_`], 'bearer_invalid'],
    ['the hash instead of the token', [`Bearer ${first.sha256}`], 'bearer_invalid'],
    ['an expired one', [`Bearer ${expired.token}`], 'bearer_expired'],
  ])('is refused for %s', (_name, headers, code) => {
    expect(faultOf(() => authenticate(headers, consumers, now)).code).toBe(code);
  });
});
