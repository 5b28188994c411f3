import { createPublicKey } from 'node:crypto';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';
import { PolicyError } from '../policy/errors';
import type { UpstreamTransport } from '../upstream/transport';

/** Where the keys come from that tokens are checked with. A key that a token brings or points to is never one. */
export type KeySource = JWTVerifyGetKey;

export const MOST_KEY_BYTES = 262_144;
const MOST_KEYS = 100;
const FETCH_MS = 5_000;
/** So long a fetched set is used without asking again. */
const FRESH_MS = 5 * 60_000;
/** So long it is used at most, while the issuer cannot be reached. */
const STALE_MS = 60 * 60_000;
/** Between two fetches. Anybody can send a token with an unknown key id. */
const COOLDOWN_MS = 30_000;

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/**
 * Keys that an operator has pasted: a JWK set, or one or more public keys or certificates in PEM.
 *
 * @throws PolicyError `surface_unconfigured` that says what is wrong, never what was pasted
 */
export function fixedKeys(text: string): KeySource {
  const isJson = text.trimStart().startsWith('{');
  const resolve = createLocalJWKSet(keySet(isJson ? parsed(text) : { keys: jwksOfPem(text) }));
  if (isJson) return resolve;
  // A key in PEM has no id, so the id that a token names says nothing.
  return async ({ kid: _kid, ...header }, token) => await resolve(header, token);
}

const PEM = /-----BEGIN ([A-Z0-9 ]{1,40})-----[\s\S]{1,20000}?-----END \1-----/g;

function jwksOfPem(text: string): JWK[] {
  if (/PRIVATE KEY/.test(text)) throw unusable('a private key stands there; paste the public one');
  const blocks = text.match(PEM) ?? [];
  if (blocks.length === 0) throw unusable('they are neither PEM nor a JWK set');
  return blocks.map((block) => {
    try {
      return createPublicKey(block).export({ format: 'jwk' });
    } catch {
      throw unusable('one of them cannot be read as a public key or a certificate');
    }
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unusable('they are not valid JSON');
  }
}

/** A key set without what cannot be a public key. */
function keySet(value: unknown): JSONWebKeySet {
  const keys = (value as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys)) throw unusable('the JWK set has no list named keys');
  if (keys.length > MOST_KEYS) throw unusable(`there are more than ${String(MOST_KEYS)}`);
  const usable = (keys as unknown[]).filter((key): key is JWK => key !== null && typeof key === 'object');
  if (usable.some((key) => PRIVATE_MEMBERS.some((member) => Object.hasOwn(key, member)))) {
    throw unusable('a private or a shared key stands there');
  }
  if (usable.length === 0) throw unusable('there is none');
  return { keys: usable };
}

function unusable(reason: string): PolicyError {
  return new PolicyError('surface_unconfigured', `The public keys of the issuer cannot be used: ${reason}.`);
}

interface KnownKeys {
  readonly resolve: KeySource;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
}

/**
 * The key set at one fixed address: fetched when it is first needed, again after five minutes, and once more when a
 * token names a key that is not in it, but never more than once in half a minute. While the issuer cannot be reached the
 * keys that are known go on being used for an hour.
 */
export class RemoteKeys {
  #known: KnownKeys | undefined;
  #fetching: Promise<void> | undefined;
  #triedAt = -Infinity;
  #failure: unknown;

  constructor(
    private readonly url: URL,
    private readonly transport: UpstreamTransport,
    private readonly now: () => number = Date.now,
  ) {}

  /** @throws PolicyError `issuer_keys_unavailable`; a JOSE error when there is no such key */
  readonly resolve: KeySource = async (header, token) => {
    const known = await this.#usable();
    try {
      return await known.resolve(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#refresh();
      return await (this.#known ?? known).resolve(header, token);
    }
  };

  /** How many keys there are. @throws PolicyError `issuer_keys_unavailable` */
  async count(): Promise<number> {
    return (await this.#usable()).count;
  }

  async #usable(): Promise<KnownKeys> {
    if (this.#age() > FRESH_MS) await this.#refresh();
    if (this.#known && this.#age() <= STALE_MS) return this.#known;
    const wait = Math.max(1, Math.ceil((this.#triedAt + COOLDOWN_MS - this.now()) / 1_000));
    throw new PolicyError(
      'issuer_keys_unavailable',
      'The keys of the issuer cannot be had at the moment, so no token can be checked; try again.',
      { retryAfterSeconds: wait, cause: this.#failure },
    );
  }

  #age(): number {
    return this.#known ? this.now() - this.#known.fetchedAt : Infinity;
  }

  /** Asks again unless it was asked a moment ago. Requests that come at the same time wait for the same answer. */
  async #refresh(): Promise<void> {
    if (!this.#fetching) {
      if (this.now() - this.#triedAt < COOLDOWN_MS) return;
      this.#triedAt = this.now();
      this.#fetching = this.#fetch().finally(() => {
        this.#fetching = undefined;
      });
    }
    await this.#fetching;
  }

  async #fetch(): Promise<void> {
    try {
      const set = keySet(await this.#body());
      this.#known = { resolve: createLocalJWKSet(set), count: set.keys.length, fetchedAt: this.now() };
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
    }
  }

  /** One GET, bounded in time and bytes. A redirect is a failure: only the address that was reviewed is asked. */
  async #body(): Promise<unknown> {
    const signal = AbortSignal.timeout(FETCH_MS);
    const response = await this.transport({
      method: 'GET',
      url: this.url,
      headers: { accept: 'application/json' },
      body: undefined,
      signal,
    });
    if (response.status !== 200) {
      response.discard();
      throw unusable(`their address answers ${String(response.status)}`);
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (bytes > MOST_KEY_BYTES) {
        response.discard();
        throw unusable(`their address answers with more than ${String(MOST_KEY_BYTES)} bytes`);
      }
      chunks.push(chunk);
    }
    return parsed(Buffer.concat(chunks).toString('utf8'));
  }
}
