import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { PolicyError } from '../../../core/policy/errors';
import { authenticateToken } from '../../../core/server/authenticateToken';
import type { Consumer } from '../../../core/server/consumers';
import { parseIssuer, type Issuer } from '../../../core/server/issuer';
import { createTransport } from '../../../core/upstream/transport';
import { AUDIENCE, CREDENTIAL, ecKey, issuerWith, keySetOf, NOW, pemOf, rsaKey, tokenOf } from './tokens';

const key = rsaKey('key-1');
const other = rsaKey('key-2');
const curve = ecKey('key-3');
const issuer = issuerWith({ publicKeys: JSON.stringify(keySetOf(key, curve)) });

const identify = async (token: string, by: Issuer = issuer, now = NOW): Promise<Consumer> =>
  await authenticateToken([`Bearer ${token}`], by, now);

/** The code of the refusal. */
async function refused(token: string, by: Issuer = issuer): Promise<string> {
  try {
    await identify(token, by);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    expect(error.message).not.toContain(token.slice(-20));
    return error.code;
  }
  return 'let in';
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const seconds = NOW / 1_000;

describe('a token of the issuer', () => {
  test('names its consumer and the tools that its scopes grant', async () => {
    const consumer = await identify(await tokenOf(key));
    expect(consumer).toMatchObject({ id: 'client-claude', tenant: null, expiresAt: NOW + 300_000 });
    expect([...consumer.tools]).toEqual(['find_order', 'list_orders']);
  });

  test.each([
    ['RSA', key],
    ['an elliptic curve', curve],
  ])('may be signed with %s', async (_name, signer) => {
    expect((await identify(await tokenOf(signer))).id).toBe('client-claude');
  });

  test('is checked with a key in PEM whatever id it names, and with the right one of several', async () => {
    const pasted = issuerWith({ publicKeys: `${pemOf(other)}\n${pemOf(key)}` });
    expect((await identify(await tokenOf(key), pasted)).id).toBe('client-claude');
    expect(await refused(await tokenOf(rsaKey('key-1')), pasted)).toBe('bearer_invalid');
  });

  test('is good within the clock skew, before and after', async () => {
    const early = await tokenOf(key, { claims: { nbf: seconds + 29 } });
    const late = await tokenOf(key, { claims: { exp: seconds - 29 } });
    expect([(await identify(early)).id, (await identify(late)).id]).toEqual([
      'client-claude',
      'client-claude',
    ]);
  });

  test('may be for several audiences, ours among them', async () => {
    const token = await tokenOf(key, { claims: { aud: ['https://else.example', AUDIENCE] } });
    expect((await identify(token)).id).toBe('client-claude');
  });

  test.each([
    [
      'a list of roles inside of an object',
      { realm_access: { roles: ['orders:list'] } },
      'realm_access.roles',
    ],
    ['a name with dots', { 'https://example.com/roles': 'orders:list' }, 'https://example.com/roles'],
  ])('is granted tools by %s', async (_name, claims, scopeClaim) => {
    const by = issuerWith({ publicKeys: pemOf(key), scopeClaim });
    expect([...(await identify(await tokenOf(key, { claims }), by)).tools]).toEqual(['list_orders']);
  });

  test('is granted nothing by scopes that the operator has not mapped', async () => {
    const token = await tokenOf(key, { claims: { scope: 'admin find_order __proto__' } });
    expect((await identify(token)).tools.size).toBe(0);
  });

  test('carries the tenant where a claim is named for it, and no other claim becomes one', async () => {
    const claims = { org: { id: 'acme' } };
    const by = issuerWith({ publicKeys: pemOf(key), tenantClaim: 'org.id' });
    expect((await identify(await tokenOf(key, { claims }), by)).tenant).toBe('acme');
    expect((await identify(await tokenOf(key, { claims }))).tenant).toBeNull();
  });

  test('is mapped to a consumer with limits of its own where the claim is no application id', async () => {
    const consumers = JSON.stringify({
      '0b7f-uuid': { id: 'web-app-openwebui', tenant: 'acme', concurrentCalls: 2 },
    });
    const by = issuerWith({ publicKeys: pemOf(key), consumerClaim: 'sub', consumers, requestsPerMinute: 60 });
    const consumer = await identify(await tokenOf(key, { claims: { sub: '0b7f-uuid' } }), by);
    expect(consumer).toMatchObject({
      ...{ id: 'web-app-openwebui', tenant: 'acme' },
      ...{ requestsPerMinute: 60, concurrentCalls: 2 },
    });
    expect(await refused(await tokenOf(key, { claims: { sub: 'client-claude' } }), by)).toBe(
      'consumer_not_allowed',
    );
  });
});

describe('what is refused of a token', () => {
  test('expired', async () => {
    expect(await refused(await tokenOf(key, { claims: { exp: seconds - 31 } }))).toBe('bearer_expired');
  });

  test('not yet valid', async () => {
    expect(await refused(await tokenOf(key, { claims: { nbf: seconds + 31 } }))).toBe('bearer_not_yet_valid');
  });

  test('without an expiry', async () => {
    expect(await refused(await tokenOf(key, { claims: { exp: undefined } }))).toBe('bearer_invalid');
  });

  test.each([['https://else.example'], [[]], [undefined], [`${AUDIENCE}/`]])(
    'wrong audience: %p',
    async (aud) => {
      const code = await refused(await tokenOf(key, { claims: { aud } }));
      expect(code).toBe(aud === undefined ? 'bearer_invalid' : 'bearer_wrong_audience');
    },
  );

  test.each([['https://login.example.com/realms/other'], [undefined]])('wrong issuer: %p', async (iss) => {
    const code = await refused(await tokenOf(key, { claims: { iss } }));
    expect(code).toBe(iss === undefined ? 'bearer_invalid' : 'bearer_wrong_issuer');
  });

  test.each(['none', 'None', 'NONE', ''])('alg %p, with and without a signature', async (alg) => {
    const [, claims = '', signature = ''] = (await tokenOf(key)).split('.');
    const unsigned = `${part({ alg, kid: 'key-1' })}.${claims}.`;
    expect([await refused(unsigned), await refused(unsigned + signature)]).toEqual([
      'bearer_invalid',
      'bearer_invalid',
    ]);
  });

  test('HMAC with the public key as the shared secret', async () => {
    const forged = await new SignJWT({ iss: CREDENTIAL.issuer, aud: AUDIENCE, client_id: 'client-claude' })
      .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
      .setExpirationTime(seconds + 300)
      .sign(Buffer.from(pemOf(key)));
    expect(await refused(forged)).toBe('bearer_invalid');
    expect(await refused(forged, issuerWith({ publicKeys: pemOf(key) }))).toBe('bearer_invalid');
  });

  test('an algorithm that the operator has not allowed, although the key would fit', async () => {
    const narrow = issuerWith({ publicKeys: pemOf(key), algorithms: 'PS256' });
    expect(await refused(await tokenOf(key), narrow)).toBe('bearer_invalid');
  });

  test('unknown key id', async () => {
    expect(await refused(await tokenOf(key, { header: { kid: 'key-9' } }))).toBe('bearer_invalid');
  });

  test('a key of somebody else under a known id', async () => {
    expect(await refused(await tokenOf({ ...other, kid: 'key-1' }))).toBe('bearer_invalid');
  });

  test('claims that were changed after signing', async () => {
    const [header = '', , signature = ''] = (await tokenOf(key)).split('.');
    const claims = part({
      iss: CREDENTIAL.issuer,
      aud: AUDIENCE,
      client_id: 'client-root',
      exp: seconds + 9,
    });
    expect(await refused(`${header}.${claims}.${signature}`)).toBe('bearer_invalid');
  });

  test('huge token', async () => {
    const token = await tokenOf(key, { claims: { padding: 'x'.repeat(9_000) } });
    expect(await refused(token)).toBe('bearer_malformed');
  });

  test.each([
    ['no token at all', 'opaque-token-of-another-kind'],
    ['two parts', 'e30.e30'],
    ['parts that are no JSON', 'AAAA.AAAA.AAAA'],
    ['an encrypted token', 'e30.e30.e30.e30.e30'],
  ])('what is %s', async (_name, token) => {
    expect(await refused(token)).toBe('bearer_invalid');
  });

  test.each(['logout+jwt', 'dpop+jwt', 'entity-statement+jwt'])('another kind of token: %s', async (typ) => {
    expect(await refused(await tokenOf(key, { header: { typ } }))).toBe('bearer_invalid');
  });

  test('a token that is bound to a key nobody has shown', async () => {
    expect(await refused(await tokenOf(key, { claims: { cnf: { jkt: 'abc' } } }))).toBe('bearer_invalid');
  });

  test.each([
    ['no claim for the consumer', { client_id: undefined }],
    ['one that is no text', { client_id: ['client-claude'] }],
    ['one that is no application id', { client_id: 'Client Claude' }],
  ])('%s', async (_name, claims) => {
    expect(await refused(await tokenOf(key, { claims }))).toBe('consumer_not_allowed');
  });

  test('critical extensions that nobody here understands', async () => {
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
      .sign(key.privateKey);
    const [, claims = '', signature = ''] = token.split('.');
    const header = part({ alg: 'RS256', kid: 'key-1', crit: ['exp2'], exp2: 1 });
    expect(await refused(`${header}.${claims}.${signature}`)).toBe('bearer_invalid');
  });

  test('a key that the token itself brings or points to; nothing is asked for it', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end(JSON.stringify(keySetOf(other)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const at = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/keys`;
    const jwk = other.publicKey.export({ format: 'jwk' }) as never;
    const token = await tokenOf(other, { header: { jwk, jku: at, x5u: at } });
    const trusting = parseIssuer({ ...CREDENTIAL, publicKeys: pemOf(key) }, createTransport());
    expect([await refused(token), await refused(token, trusting), asked]).toEqual([
      'bearer_invalid',
      'bearer_invalid',
      0,
    ]);
    await new Promise((resolve) => server.close(resolve));
  });
});
