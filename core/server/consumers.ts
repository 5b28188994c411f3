import { z } from 'zod';
import { APPLICATION_ID_PATTERN } from '../contract/vocabulary';
import { PolicyError } from '../policy/errors';
import { BEARER_TOKEN, sha256 } from './bearer';
import { credentialText as text } from './credentialText';
import { MOST_CONCURRENT_CALLS, MOST_REQUESTS_PER_MINUTE, type ConsumerLimits } from './consumerLimits';

/** A named caller, as far as a request may know it. Holds digests, never a token. */
export interface Consumer extends ConsumerLimits {
  /** The client's application id, e.g. `web-app-openwebui`. */
  readonly id: string;
  readonly tenant: string | null;
  readonly tools: ReadonlySet<string>;
  /** Milliseconds since the epoch from which the bearer is refused; `null` for never. */
  readonly expiresAt: number | null;
  /** SHA-256 digests (32 bytes) of the bearers that name this consumer: one, or two while rotating. */
  readonly digests: readonly Buffer[];
  /** What the scopes of its issuer grant, by scope, where its bearer is a token of one; `null` for bearers of our own. */
  readonly scopes: ScopeMap | null;
}

/** Names of tools by scope. */
export type ScopeMap = ReadonlyMap<string, readonly string[]>;

const MINIMUM_TOKEN_CHARACTERS = 8;
const TOKEN = new RegExp(`^${BEARER_TOKEN}$`);
/** A number as n8n stores it: 0 is what a field starts with. */
const number = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => (value === 0 ? '' : String(value ?? '').trim()));

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
  requestsPerMinute: number,
  concurrentCalls: number,
});

/**
 * The same as JSON, for hosts whose credential dialog cannot show a list of fields (n8n 1.100.1). Hashes only: such a
 * text is not masked.
 */
const jsonRowSchema = z.strictObject({
  id: z.string(),
  tokenSha256: z.string(),
  secondTokenSha256: z.string().optional(),
  tools: z.union([z.string(), z.array(z.string()).transform((names) => names.join(','))]),
  expiresAt: z.string().optional(),
  tenant: z.string().optional(),
  requestsPerMinute: z.int().min(1).optional(),
  concurrentCalls: z.int().min(1).optional(),
});

const credentialSchema = z.object({
  consumers: z.object({ values: z.array(rowSchema).default([]) }).nullish(),
  consumersJson: text,
});

/**
 * Reads the consumers credential. One unusable row makes the whole list unusable: a list that quietly lost a row
 * would serve a surface that nobody reviewed.
 *
 * @throws PolicyError `surface_unconfigured` with a sentence that names the consumer and the field, never a value
 */
export function parseConsumers(credential: unknown): Consumer[] {
  const parsed = credentialSchema.safeParse(credential);
  const listed = (parsed.data?.consumers?.values ?? []).filter((row) => !isBlank(row));
  const rows = [...listed, ...jsonRows(parsed.data?.consumersJson ?? '')];
  if (rows.length === 0) throw unconfigured('The consumers credential names no consumer; add at least one.');
  const consumers = rows.map(parseRow);
  refuseDoubles(consumers);
  return consumers;
}

/** n8n starts the list with a row in which nothing is filled in. */
function isBlank(row: z.infer<typeof rowSchema>): boolean {
  return Object.values(row).every((value) => value === '');
}

function jsonRows(json: string): z.infer<typeof rowSchema>[] {
  if (json === '') return [];
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch {
    throw unconfigured('Consumers (JSON) is not valid JSON.');
  }
  const parsed = z.array(jsonRowSchema).safeParse(data);
  if (!parsed.success) {
    const at = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
    throw unconfigured(
      `Consumers (JSON) must be a list of {id, tokenSha256, tools}; look at ${at === '' ? 'its start' : at}.`,
    );
  }
  return parsed.data.map((row) => rowSchema.parse(row));
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
    scopes: null,
    requestsPerMinute: limitOf(who, 'requests per minute', row.requestsPerMinute, MOST_REQUESTS_PER_MINUTE),
    concurrentCalls: limitOf(who, 'concurrent calls', row.concurrentCalls, MOST_CONCURRENT_CALLS),
  };
}

function limitOf(who: string, field: string, given: string, most: number): number | null {
  if (given === '') return null;
  const limit = Number(given);
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  throw unconfigured(`The ${field} of ${who} must be a whole number from 1 to ${String(most)}.`);
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
    if (!TOKEN.test(token)) {
      throw unconfigured(`The token of ${who} holds characters that no bearer can have.`);
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

function unconfigured(sentence: string): PolicyError {
  return new PolicyError('surface_unconfigured', sentence);
}
