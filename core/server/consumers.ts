import { createHash } from 'node:crypto';
import { z } from 'zod';
import { APPLICATION_ID_PATTERN } from '../contract/vocabulary';
import { PolicyError } from '../policy/errors';

/** A named caller, as far as a request may know it. Holds digests, never a token. */
export interface Consumer {
  /** The client's application id, e.g. `web-app-openwebui`. */
  readonly id: string;
  readonly tenant: string | null;
  readonly tools: ReadonlySet<string>;
  /** Milliseconds since the epoch from which the bearer is refused; `null` for never. */
  readonly expiresAt: number | null;
  /** SHA-256 digests (32 bytes) of the bearers that name this consumer: one, or two while rotating. */
  readonly digests: readonly Buffer[];
}

const MINIMUM_TOKEN_CHARACTERS = 8;
const text = z
  .string()
  .nullish()
  .transform((value) => (value ?? '').trim());

/** One row of the consumers credential. Empty fields are how n8n stores what was left blank. */
const rowSchema = z.object({
  id: text,
  token: text,
  tokenSha256: text,
  secondToken: text,
  secondTokenSha256: text,
  expiresAt: text,
  tenant: text,
  tools: text,
});

const credentialSchema = z.object({ consumers: z.object({ values: z.array(rowSchema) }) });

/**
 * Reads the consumers credential. One unusable row makes the whole list unusable: a list that quietly lost a row
 * would serve a surface that nobody reviewed.
 *
 * @throws PolicyError `surface_unconfigured` with a sentence that names the consumer and the field, never a value
 */
export function parseConsumers(credential: unknown): Consumer[] {
  const parsed = credentialSchema.safeParse(credential);
  if (!parsed.success || parsed.data.consumers.values.length === 0) {
    throw unconfigured('The consumers credential names no consumer; add at least one.');
  }
  const consumers = parsed.data.consumers.values.map(parseRow);
  refuseDoubles(consumers);
  return consumers;
}

function parseRow(row: z.infer<typeof rowSchema>, index: number): Consumer {
  const who = APPLICATION_ID_PATTERN.test(row.id)
    ? `Consumer ${row.id}`
    : `Consumer number ${String(index + 1)}`;
  if (!APPLICATION_ID_PATTERN.test(row.id)) {
    throw unconfigured(`${who} needs an id such as web-app-openwebui.`);
  }
  const digests = [
    ...digestOf(who, row.token, row.tokenSha256),
    ...digestOf(who, row.secondToken, row.secondTokenSha256),
  ];
  if (digests.length === 0) throw unconfigured(`${who} has neither a token nor a token SHA-256.`);
  const tools = row.tools.split(/[\s,]+/).filter((name) => name !== '');
  if (tools.length === 0) throw unconfigured(`${who} is allowed no tool; list the tool names it may call.`);
  const expiresAt = row.expiresAt === '' ? null : Date.parse(row.expiresAt);
  if (Number.isNaN(expiresAt)) throw unconfigured(`The expiry of ${who} is not a date such as 2027-01-31.`);
  return {
    id: row.id,
    tenant: row.tenant === '' ? null : row.tenant,
    tools: new Set(tools),
    expiresAt,
    digests,
  };
}

function digestOf(who: string, token: string, hash: string): Buffer[] {
  if (token !== '' && hash !== '')
    throw unconfigured(`${who} has both a token and its SHA-256; keep one of them.`);
  if (token !== '') {
    if (token.length < MINIMUM_TOKEN_CHARACTERS) {
      throw unconfigured(
        `The token of ${who} is shorter than ${String(MINIMUM_TOKEN_CHARACTERS)} characters.`,
      );
    }
    return [sha256(token)];
  }
  if (hash === '') return [];
  const hex = hash.replace(/^sha256:/i, '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hex)) throw unconfigured(`The token SHA-256 of ${who} must be 64 hex digits.`);
  return [Buffer.from(hex, 'hex')];
}

function refuseDoubles(consumers: readonly Consumer[]): void {
  const ids = new Set<string>();
  const bearers = new Set<string>();
  for (const { id, digests } of consumers) {
    if (ids.has(id)) throw unconfigured(`Consumer ${id} is listed twice.`);
    ids.add(id);
    for (const digest of digests) {
      const key = digest.toString('hex');
      if (bearers.has(key))
        throw unconfigured(`Consumer ${id} shares a token; every consumer needs its own.`);
      bearers.add(key);
    }
  }
}

export function sha256(value: string): Buffer {
  return createHash('sha256').update(value, 'utf8').digest();
}

function unconfigured(sentence: string): PolicyError {
  return new PolicyError('surface_unconfigured', sentence);
}
