import { generateKeyPairSync } from 'node:crypto';
import { PolicyError } from '../../../core/policy/errors';
import { authenticateToken } from '../../../core/server/authenticateToken';
import { MOST_KEY_BYTES, RemoteKeys } from '../../../core/server/issuerKeys';
import { createTransport, type UpstreamTransport } from '../../../core/upstream/transport';
import { UpstreamDouble } from '../../support/upstreamDouble';
import { CREDENTIAL, issuerWith, keySetOf, KeyServer, NOW, pemOf, rsaKey, tokenOf } from './tokens';

const key = rsaKey('key-1');
const next = rsaKey('key-2');
const publicKeys = pemOf(key);
const jwksUrl = 'https://login.example.com/certs';

async function codeOf(run: () => Promise<unknown>): Promise<PolicyError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('the credential of an issuer', () => {
  test.each([
    ['no issuer', { publicKeys, issuer: '' }, 'Issuer'],
    ['an issuer that is no address', { publicKeys, issuer: 'login' }, 'Issuer'],
    ['no audience', { publicKeys, audience: ' , ' }, 'Audience'],
    ['neither keys nor their address', {}, 'JWKS Address or Public Keys'],
    ['both', { publicKeys, jwksUrl }, 'JWKS Address or Public Keys'],
    ['the algorithm none', { publicKeys, algorithms: 'RS256, none' }, 'Algorithms'],
    ['an algorithm with a shared secret', { publicKeys, algorithms: 'HS256' }, 'Algorithms'],
    ['a skew of an hour', { publicKeys, clockSkewSeconds: 3_600 }, 'Clock Skew'],
    ['no scopes', { publicKeys, toolScopes: '' }, 'Tools by Scope'],
    ['an empty map of scopes', { publicKeys, toolScopes: '{}' }, 'Tools by Scope'],
    ['a scope that grants nothing', { publicKeys, toolScopes: '{"a":[]}' }, 'Tools by Scope'],
    ['a scope that would break a header', { publicKeys, toolScopes: '{"a\\"b":["c"]}' }, 'Tools by Scope'],
    ['consumers that are no map', { publicKeys, consumers: '[]' }, 'Consumers'],
    ['a consumer without an id', { publicKeys, consumers: '{"x":{}}' }, 'Consumers'],
    ['a rate that is no number', { publicKeys, requestsPerMinute: 1.5 }, 'Requests per Minute'],
    ['keys fetched in the clear from elsewhere', { jwksUrl: 'http://login.example.com/certs' }, 'https'],
    ['a JWKS host on a link-local address', { jwksUrl: 'http://169.254.169.254/certs' }, 'link-local'],
    ['the same written as a number', { jwksUrl: 'https://2852039166/certs' }, 'link-local'],
    ['the same in IPv6', { jwksUrl: 'https://[::ffff:169.254.169.254]/certs' }, 'link-local'],
    ['an address with a password', { jwksUrl: 'https://a:b@login.example.com/certs' }, 'JWKS Address'],
    ['keys that are none', { publicKeys: 'MIIB' }, 'neither PEM nor a JWK set'],
    ['a set without keys', { publicKeys: '{"keys":[]}' }, 'there is none'],
    ['a shared key', { publicKeys: '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}' }, 'private or a shared key'],
  ])('is refused for %s, by the name of the field', (_name, changes, named) => {
    expect(() => issuerWith(changes)).toThrow(PolicyError);
    expect(() => issuerWith(changes)).toThrow(named);
  });

  test('is refused for a private key, without repeating it', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const jwks = JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] });
    for (const pasted of [pem, jwks]) {
      expect(() => issuerWith({ publicKeys: pasted })).toThrow(/a private/);
      expect(() => issuerWith({ publicKeys: pasted })).not.toThrow(pasted.slice(40, 60));
    }
  });
});

describe('keys at an address', () => {
  const fetched = (server: KeyServer) => {
    let now = NOW;
    const keys = new RemoteKeys(new URL(jwksUrl), server.transport, () => now);
    const issuer = { ...issuerWith({ publicKeys }), keys: keys.resolve };
    return {
      keys,
      pass: (seconds: number) => {
        now += seconds * 1_000;
      },
      use: async (signer: typeof key, kid = signer.kid) =>
        (await authenticateToken([`Bearer ${await tokenOf({ ...signer, kid })}`], issuer, NOW)).id,
    };
  };

  test('are fetched when the first token comes, and once for many that come together', async () => {
    const server = new KeyServer(key);
    const { use } = fetched(server);
    expect(server.asked).toBe(0);
    await Promise.all([use(key), use(key), use(key)]);
    await use(key);
    expect(server.asked).toBe(1);
  });

  test('are fetched again for a new key id, and unknown ids ask only once in half a minute', async () => {
    const server = new KeyServer(key);
    const { use, pass } = fetched(server);
    await use(key);
    server.publish(key, next);
    expect((await codeOf(async () => await use(next))).code).toBe('bearer_invalid');
    pass(31);
    expect(await use(next)).toBe('client-claude');
    for (let index = 0; index < 20; index++) {
      await codeOf(async () => await use(next, `made-up-${String(index)}`));
    }
    expect(server.asked).toBe(2);
  });

  test('that the issuer has withdrawn are no good after five minutes', async () => {
    const server = new KeyServer(key, next);
    const { use, pass } = fetched(server);
    await use(next);
    server.publish(key);
    pass(301);
    expect((await codeOf(async () => await use(next))).code).toBe('bearer_invalid');
  });

  test('go on being used for an hour while the issuer is away, and not longer', async () => {
    const server = new KeyServer(key);
    const { use, pass } = fetched(server);
    await use(key);
    server.answer = { status: 500, body: '' };
    pass(3_500);
    expect(await use(key)).toBe('client-claude');
    pass(200);
    const error = await codeOf(async () => await use(key));
    expect([error.code, error.retryAfterSeconds]).toEqual(['issuer_keys_unavailable', 30]);
    server.publish(key);
    pass(31);
    expect(await use(key)).toBe('client-claude');
  });

  test.each([
    ['a redirect', { status: 302, body: '', headers: { location: 'http://169.254.169.254/' } }],
    ['a page', { status: 200, body: '<html>' }],
    ['no key', { status: 200, body: '{"keys":[]}' }],
    ['a shared key', { status: 200, body: '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}' }],
    ['more than is bounded', { status: 200, body: ' '.repeat(MOST_KEY_BYTES + 1) }],
  ])(
    'are refused when their address answers with %s, and asked for no sooner than before',
    async (_what, answer) => {
      const server = new KeyServer();
      server.answer = answer;
      const { use } = fetched(server);
      for (let index = 0; index < 3; index++) {
        expect((await codeOf(async () => await use(key))).code).toBe('issuer_keys_unavailable');
      }
      expect(server.asked).toBe(1);
    },
  );
});

describe('the address of the keys, with the transport that is shipped', () => {
  let double: UpstreamDouble;
  beforeAll(async () => {
    double = await UpstreamDouble.start();
  });
  afterAll(async () => {
    await double.stop();
  });

  const refusal = async (url: string, transport: UpstreamTransport = createTransport()) =>
    await codeOf(async () => await new RemoteKeys(new URL(url), transport).count());

  test('is asked once and no redirect is followed', async () => {
    const paths: string[] = [];
    double.on('/certs', (response) => {
      paths.push('/certs');
      response.writeHead(307, { location: `${double.origin}/elsewhere` }).end();
    });
    double.on('/elsewhere', (response) => {
      paths.push('/elsewhere');
      response.end(JSON.stringify(keySetOf(key)));
    });
    expect((await refusal(`${double.origin}/certs`)).code).toBe('issuer_keys_unavailable');
    expect(paths).toEqual(['/certs']);
  });

  test('is never a link-local one: the refusal comes before a connection', async () => {
    const error = await refusal('http://169.254.169.254/certs');
    expect(error.code).toBe('issuer_keys_unavailable');
    expect(error.cause).toMatchObject({ code: 'upstream_address_refused' });
    expect(error.message).not.toContain('169.254');
  });

  test('is read where it answers with keys', async () => {
    double.on('/good', (response) => response.end(JSON.stringify(keySetOf(key, next))));
    const remote = new RemoteKeys(new URL(`${double.origin}/good`), createTransport());
    expect(await remote.count()).toBe(2);
  });
});

test('an issuer on the own network may be spoken to in the clear', () => {
  for (const url of ['http://keycloak:8080/certs', 'http://127.0.0.1/certs', 'http://localhost/certs']) {
    expect(issuerWith({ jwksUrl: url }).issuer).toBe(CREDENTIAL.issuer);
  }
});
