import { z } from 'zod';
import { APPLICATION_ID_PATTERN } from '../contract/vocabulary';
import { literalAddress, refuseForbiddenHost } from '../policy/address';
import { PolicyError } from '../policy/errors';
import type { UpstreamTransport } from '../upstream/transport';
import type { ScopeMap } from './consumers';
import { MOST_CONCURRENT_CALLS, MOST_REQUESTS_PER_MINUTE, type ConsumerLimits } from './consumerLimits';
import { credentialText as text } from './credentialText';
import { fixedKeys, RemoteKeys, type KeySource } from './issuerKeys';

/** Whose tokens let a caller in, and what they say about it. */
export interface Issuer {
  readonly issuer: string;
  /** A token has to name one of them. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly clockSkewSeconds: number;
  readonly keys: KeySource;
  /** The keys at an address, to be tried out; `undefined` where they were pasted. */
  readonly remote: RemoteKeys | undefined;
  readonly consumerClaim: string;
  /** Consumers by the value of that claim; `null` where the value is the consumer's id itself. */
  readonly consumers: ReadonlyMap<string, MappedConsumer> | null;
  readonly tenantClaim: string | null;
  readonly scopeClaim: string;
  readonly scopes: ScopeMap;
  /** For consumers that have no limits of their own. */
  readonly limits: ConsumerLimits;
}

export interface MappedConsumer extends ConsumerLimits {
  readonly id: string;
  readonly tenant: string | null;
}

/**
 * Algorithms that sign with a private key and are checked with a public one. `none` and those with a shared secret are
 * no choice: whoever knows the public key could make tokens.
 */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

const MOST_SKEW_SECONDS = 300;
/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

const number = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => Number(value ?? 0));

const credentialSchema = z.object({
  issuer: text,
  audience: text,
  jwksUrl: text,
  publicKeys: text,
  algorithms: text,
  clockSkewSeconds: number,
  consumerClaim: text,
  consumers: text,
  scopeClaim: text,
  toolScopes: text,
  tenantClaim: text,
  requestsPerMinute: number,
  concurrentCalls: number,
});

const toolScopesSchema = z
  .record(z.string().regex(SCOPE), z.array(z.string().min(1).max(128)).min(1))
  .refine((scopes) => Object.keys(scopes).length > 0);

const consumersSchema = z
  .record(
    z.string().min(1),
    z.strictObject({
      id: z.string().regex(APPLICATION_ID_PATTERN),
      tenant: z.string().min(1).max(200).optional(),
      requestsPerMinute: z.int().min(1).max(MOST_REQUESTS_PER_MINUTE).optional(),
      concurrentCalls: z.int().min(1).max(MOST_CONCURRENT_CALLS).optional(),
    }),
  )
  .refine((consumers) => Object.keys(consumers).length > 0);

/**
 * Reads the credential of an issuer. Nothing has a default that would let somebody in: issuer, audience, keys and the
 * scopes that grant tools have to be there.
 *
 * @param transport by which keys are fetched
 * @throws PolicyError `surface_unconfigured` that names the field to correct
 */
export function parseIssuer(credential: unknown, transport: UpstreamTransport): Issuer {
  const given = credentialSchema.safeParse(credential);
  if (!given.success) throw unconfigured('a field has another type than it should');
  const { data } = given;
  const audiences = listOf(data.audience);
  if (audiences.length === 0) throw unconfigured('Audience is empty; a token for somebody else would do');
  const limits = {
    requestsPerMinute: limitOf(data.requestsPerMinute, MOST_REQUESTS_PER_MINUTE, 'Requests per Minute'),
    concurrentCalls: limitOf(data.concurrentCalls, MOST_CONCURRENT_CALLS, 'Concurrent Calls'),
  };
  return {
    issuer: addressOf(data.issuer, 'Issuer'),
    audiences,
    algorithms: algorithmsOf(data.algorithms),
    clockSkewSeconds: skewOf(data.clockSkewSeconds),
    ...keysOf(data.jwksUrl, data.publicKeys, transport),
    consumerClaim: data.consumerClaim || 'client_id',
    consumers: consumersOf(data.consumers, limits),
    tenantClaim: data.tenantClaim || null,
    scopeClaim: data.scopeClaim || 'scope',
    scopes: new Map(Object.entries(jsonOf(toolScopesSchema, data.toolScopes, 'Tools by Scope'))),
    limits,
  };
}

function keysOf(
  jwksUrl: string,
  publicKeys: string,
  transport: UpstreamTransport,
): Pick<Issuer, 'keys' | 'remote'> {
  if ((jwksUrl === '') === (publicKeys === '')) {
    throw unconfigured('it needs either JWKS Address or Public Keys');
  }
  if (publicKeys !== '') return { keys: fixedKeys(publicKeys), remote: undefined };
  const url = new URL(addressOf(jwksUrl, 'JWKS Address'));
  // Whoever can change what is under way could let himself in; a name without a dot is inside of one's own network.
  const isNear = !url.hostname.includes('.') || literalAddress(url.hostname) !== undefined;
  if (url.protocol !== 'https:' && !isNear) throw unconfigured('JWKS Address must be https');
  try {
    refuseForbiddenHost(url.hostname);
  } catch {
    throw unconfigured('JWKS Address is link-local, multicast or reserved');
  }
  const remote = new RemoteKeys(url, transport);
  return { keys: remote.resolve, remote };
}

function addressOf(given: string, field: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isHttp || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw unconfigured(`${field} is not an address such as https://login.example.com`);
  }
  return given;
}

function algorithmsOf(given: string): string[] {
  const names = listOf(given === '' ? 'RS256, ES256' : given);
  const known: readonly string[] = ALGORITHMS;
  if (names.length === 0 || names.some((name) => !known.includes(name))) {
    throw unconfigured(`Algorithms can be ${ALGORITHMS.join(', ')}`);
  }
  return names;
}

function skewOf(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= MOST_SKEW_SECONDS) return seconds;
  throw unconfigured(`Clock Skew must be a whole number of seconds up to ${String(MOST_SKEW_SECONDS)}`);
}

function limitOf(given: number, most: number, field: string): number | null {
  if (given === 0) return null;
  if (Number.isInteger(given) && given >= 1 && given <= most) return given;
  throw unconfigured(`${field} must be a whole number up to ${String(most)}`);
}

function consumersOf(json: string, limits: ConsumerLimits): ReadonlyMap<string, MappedConsumer> | null {
  if (json === '') return null;
  const rows = Object.entries(jsonOf(consumersSchema, json, 'Consumers'));
  return new Map(
    rows.map(([claim, row]) => [
      claim,
      {
        id: row.id,
        tenant: row.tenant ?? null,
        requestsPerMinute: row.requestsPerMinute ?? limits.requestsPerMinute,
        concurrentCalls: row.concurrentCalls ?? limits.concurrentCalls,
      },
    ]),
  );
}

function jsonOf<T>(schema: z.ZodType<T>, json: string, field: string): T {
  if (json === '') throw unconfigured(`${field} is empty, so nothing would be granted`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw unconfigured(`${field} is not valid JSON`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unconfigured(`${field} has another form than its example`);
}

function listOf(given: string): string[] {
  return given.split(/[\s,]+/).filter((entry) => entry !== '');
}

function unconfigured(reason: string): PolicyError {
  return new PolicyError('surface_unconfigured', `The issuer credential cannot be used: ${reason}.`);
}
