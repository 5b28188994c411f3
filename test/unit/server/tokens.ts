import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT, type JWTHeaderParameters } from 'jose';
import { parseIssuer, type Issuer } from '../../../core/server/issuer';
import type { UpstreamTransport } from '../../../core/upstream/transport';

export const ISSUER = 'https://login.example.com/realms/tools';
export const AUDIENCE = 'https://n8n.example.com/mcp/web-app-example';
/** The present of these tests, milliseconds. */
export const NOW = Date.parse('2026-06-01T12:00:00Z');

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function rsaKey(kid: string): SigningKey {
  return { kid, alg: 'RS256', ...generateKeyPairSync('rsa', { modulusLength: 2_048 }) };
}

export function ecKey(kid: string): SigningKey {
  return { kid, alg: 'ES256', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

export const pemOf = ({ publicKey }: SigningKey): string =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString();

/** A JWK set as an issuer publishes it. */
export const keySetOf = (...keys: readonly SigningKey[]): { keys: object[] } => ({
  keys: keys.map(({ kid, alg, publicKey }) => ({
    ...publicKey.export({ format: 'jwk' }),
    kid,
    alg,
    use: 'sig',
  })),
});

export interface TokenWishes {
  readonly claims?: Record<string, unknown>;
  readonly header?: Partial<JWTHeaderParameters> & Record<string, unknown>;
}

/** A token that would be good, but for what is wished. A claim that is `undefined` is left out. */
export async function tokenOf(
  key: SigningKey,
  { claims = {}, header = {} }: TokenWishes = {},
): Promise<string> {
  return await new SignJWT({
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'service-account',
    client_id: 'client-claude',
    scope: 'openid orders:read',
    iat: NOW / 1_000 - 10,
    exp: NOW / 1_000 + 300,
    ...claims,
  })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(key.privateKey);
}

export const CREDENTIAL = {
  issuer: ISSUER,
  audience: AUDIENCE,
  algorithms: 'RS256, ES256',
  clockSkewSeconds: 30,
  toolScopes: JSON.stringify({
    'orders:read': ['find_order', 'list_orders'],
    'orders:list': ['list_orders'],
  }),
};

const noTransport: UpstreamTransport = () => Promise.reject(new Error('Nothing is to be fetched.'));

/** An issuer whose keys are pasted, so that nothing is fetched. */
export function issuerWith(changes: object, transport: UpstreamTransport = noTransport): Issuer {
  return parseIssuer({ ...CREDENTIAL, ...changes }, transport);
}

/** An issuer that publishes keys at an address; counts how often it is asked. */
export class KeyServer {
  asked = 0;
  answer: { status: number; body: string; headers?: Record<string, string> };

  constructor(...keys: readonly SigningKey[]) {
    this.answer = { status: 200, body: JSON.stringify(keySetOf(...keys)) };
  }

  publish(...keys: readonly SigningKey[]): void {
    this.answer = { status: 200, body: JSON.stringify(keySetOf(...keys)) };
  }

  readonly transport: UpstreamTransport = async () => {
    this.asked += 1;
    const { status, body, headers = {} } = this.answer;
    return await Promise.resolve({
      status,
      header: (name: string) => headers[name],
      body: (async function* () {
        for (let at = 0; at < body.length; at += 1_000) {
          yield await Promise.resolve(Buffer.from(body.slice(at, at + 1_000)));
        }
      })(),
      discard: () => undefined,
    });
  };
}
