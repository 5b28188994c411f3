import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { APPLICATION_ID_PATTERN } from '../contract/vocabulary';
import { PolicyError } from '../policy/errors';
import { bearerOf } from './authenticate';
import type { Consumer } from './consumers';
import type { Issuer, MappedConsumer } from './issuer';

/** Characters of a header with a token. n8n's Node takes 16 KiB of headers altogether. */
const LONGEST_HEADER = 8_192;

/**
 * Finds the consumer that a token of the issuer names, and the tools that its scopes grant.
 *
 * The signature is checked first and what the token says afterwards, so that only the issuer's own tokens learn which of
 * their claims was wrong. Keys in or behind the token's header (`jwk`, `jku`, `x5u`, `x5c`) are not looked at.
 *
 * @param authorization every value of the `Authorization` header as received
 * @param now milliseconds since the epoch
 * @throws PolicyError `bearer_*`, `consumer_not_allowed`, or `issuer_keys_unavailable`
 */
export async function authenticateToken(
  authorization: readonly string[],
  issuer: Issuer,
  now: number,
): Promise<Consumer> {
  const payload = await verified(bearerOf(authorization, LONGEST_HEADER), issuer, now);
  // RFC 9449, section 7.1, and RFC 8705: such a token is worth nothing without a proof, which nobody has shown us.
  if (payload['cnf'] !== undefined) throw invalid();
  const scopes = valuesOf(claimOf(payload, issuer.scopeClaim));
  return {
    ...namedBy(payload, issuer),
    tools: new Set(scopes.flatMap((scope) => issuer.scopes.get(scope) ?? [])),
    scopes: issuer.scopes,
    expiresAt: (payload.exp ?? 0) * 1_000,
    digests: [],
  };
}

async function verified(token: string, issuer: Issuer, now: number): Promise<JWTPayload> {
  const options = {
    issuer: issuer.issuer,
    audience: [...issuer.audiences],
    algorithms: [...issuer.algorithms],
    clockTolerance: issuer.clockSkewSeconds,
    currentDate: new Date(now),
    requiredClaims: ['exp'],
  };
  try {
    const { payload, protectedHeader } = await verify(token, issuer, options);
    // RFC 9068, section 2.1; a logout token or a proof of possession is no access token.
    if (!/^(?:(?:application\/)?at\+jwt|jwt)?$/i.test(protectedHeader.typ ?? '')) throw invalid();
    return payload;
  } catch (error) {
    throw refusalOf(error);
  }
}

async function verify(
  token: string,
  { keys }: Issuer,
  options: JWTVerifyOptions,
): Promise<Awaited<ReturnType<typeof jwtVerify>>> {
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    // The token names none of several keys that fit.
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (mismatch) {
        if (!(mismatch instanceof errors.JWSSignatureVerificationFailed)) throw mismatch;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function refusalOf(error: unknown): PolicyError {
  if (error instanceof PolicyError) return error;
  if (error instanceof errors.JWTExpired) {
    return new PolicyError('bearer_expired', 'The token has expired; get a new one from its issuer.');
  }
  if (error instanceof errors.JWTClaimValidationFailed && error.reason === 'check_failed') {
    switch (error.claim) {
      case 'nbf':
        return new PolicyError('bearer_not_yet_valid', 'The token is not valid yet; compare the clocks.');
      case 'iss':
        return new PolicyError(
          'bearer_wrong_issuer',
          'The token is of another issuer than this server trusts.',
        );
      case 'aud':
        return new PolicyError(
          'bearer_wrong_audience',
          'The token is for another audience than this server.',
        );
    }
  }
  return invalid();
}

function invalid(): PolicyError {
  return new PolicyError(
    'bearer_invalid',
    'The token cannot be accepted here; get one for this server from its issuer.',
  );
}

function namedBy(
  payload: JWTPayload,
  { consumerClaim, consumers, tenantClaim, limits }: Issuer,
): MappedConsumer {
  const value = claimOf(payload, consumerClaim);
  const tenant = tenantClaim === null ? undefined : claimOf(payload, tenantClaim);
  const ofToken = typeof tenant === 'string' && tenant !== '' ? tenant : null;
  if (typeof value === 'string') {
    const mapped = consumers?.get(value);
    if (mapped) return { ...mapped, tenant: mapped.tenant ?? ofToken };
    if (!consumers && APPLICATION_ID_PATTERN.test(value)) return { id: value, tenant: ofToken, ...limits };
  }
  throw new PolicyError('consumer_not_allowed', 'The token names no consumer that is known here.');
}

/** A claim by its name or, where there is none of that name, by the path that the dots in it say. */
function claimOf(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  let at: unknown = payload;
  for (const key of name.split('.')) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** Scopes stand in one text, separated by spaces, or in a list. */
function valuesOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((value) => typeof value === 'string') : [];
}
