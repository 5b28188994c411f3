import path from 'node:path';
import { canonicalJson, sha256Of } from '../../core/contract/canonical';
import type { Contract } from '../../core/contract/schema';
import { sha256 } from '../../core/server/bearer';
import { OperatorError } from '../operator/error';
import { grantedTools } from '../operator/granted';
import type { Operator, WantedSurface } from '../operator/load';
import type { OperatorConsumer, OperatorFile, OperatorSurface } from '../operator/schema';
import { readSecret } from '../secrets';
import type { ServedLedger } from './ledger';
import { nextReference } from './secretFiles';
import {
  describe,
  refuseUnusable,
  upstreamData,
  upstreamTypeOf,
  type UpstreamData,
  type UpstreamType,
} from './upstreamKinds';

/** One row of the consumers credential, as n8n keeps it: hashes, never bearers. */
export interface ConsumerRow {
  readonly id: string;
  readonly tokenSha256: string;
  /** While a bearer is being replaced: that of the new one. Empty otherwise. */
  readonly secondTokenSha256: string;
  readonly tools: string;
  readonly expiresAt: string;
  readonly tenant: string;
  /** Absent without one, so that what was written before there were such limits is no change. */
  readonly requestsPerMinute?: number;
  readonly concurrentCalls?: number;
}

/** What n8n is to hold for one enabled surface. */
export interface DesiredSurface {
  readonly applicationId: string;
  /** `<owner>:<application_id>`: the workflow, and the start of the names of its credentials. */
  readonly name: string;
  readonly contract: Contract;
  readonly contractHash: string;
  readonly recording: OperatorSurface['recording'];
  readonly consumers: { readonly name: string; readonly data: { consumers: { values: ConsumerRow[] } } };
  readonly upstream: {
    readonly name: string;
    readonly type: UpstreamType;
    readonly data: UpstreamData;
    /** The same with another secret. */
    with(secret: string): UpstreamData;
  };
  /** The same without secrets, for the ledger. */
  readonly described: {
    readonly rows: ServedLedger['consumers']['rows'];
    readonly upstream: Omit<ServedLedger['upstream'], 'id' | 'fingerprint'>;
  };
}

export const surfaceName = (owner: string, applicationId: string): string => `${owner}:${applicationId}`;
export const consumersName = (name: string): string => `${name} consumers`;
export const upstreamName = (name: string): string => `${name} upstream`;

/** `mcp-curated token` gives 43 characters. */
const LEAST_TOKEN_CHARACTERS = 32;

/**
 * What an enabled surface is to look like, its secrets included.
 *
 * @throws OperatorError that names the reference at fault, never the secret
 */
export async function desiredSurface(operator: Operator, wanted: WantedSurface): Promise<DesiredSurface> {
  const { file, folder } = operator;
  const { surface, contract } = wanted;
  const { application_id: applicationId } = surface;
  const name = surfaceName(file.owner, applicationId);
  const secretOf = async (reference: string) => await resolveSecret(reference, applicationId, folder);
  const nextOf = async (reference: string) => await nextReference(reference, applicationId, folder);
  const rows = await Promise.all(
    [...surface.consumers]
      .sort()
      .map(async (id) => rowOf(consumerOf(file, id), surface, contract, secretOf, nextOf)),
  );
  refuseShared(applicationId, rows);
  const { secret: reference } = surface.upstream;
  const described = describe(surface.upstream, contract);
  const consumerSecrets = await consumerSecretsOf(surface, secretOf);
  const own = reference === undefined ? '' : await secretOf(reference);
  const data = upstreamData(described, own, consumerSecrets);
  refuseUnusable(data);
  const upstream = {
    ...{ name: upstreamName(name), type: upstreamTypeOf(contract), data },
    with: (secret: string) => upstreamData(described, secret, consumerSecrets),
  };
  return {
    applicationId,
    name,
    contract,
    contractHash: sha256Of(contract),
    recording: surface.recording,
    consumers: { name: consumersName(name), data: { consumers: { values: rows } } },
    upstream,
    described: {
      rows: rows.map(({ id, tools, expiresAt, tenant, requestsPerMinute, concurrentCalls }) => ({
        id,
        tools: tools.split(', '),
        expires_at: expiresAt || null,
        tenant: tenant || null,
        ...(requestsPerMinute === undefined ? {} : { requests_per_minute: requestsPerMinute }),
        ...(concurrentCalls === undefined ? {} : { concurrent_calls: concurrentCalls }),
      })),
      upstream: described,
    },
  };
}

/** The secrets by consumer as the credential holds them; `undefined` where there are none. */
async function consumerSecretsOf(
  { upstream }: OperatorSurface,
  secretOf: (reference: string) => Promise<string>,
): Promise<string | undefined> {
  const references = 'consumer_secrets' in upstream ? upstream.consumer_secrets : undefined;
  if (references === undefined) return undefined;
  const secrets: Record<string, string> = {};
  for (const [id, reference] of Object.entries(references)) secrets[id] = await secretOf(reference);
  return canonicalJson(secrets);
}

function consumerOf({ consumers }: OperatorFile, id: string): OperatorConsumer {
  const found = consumers.find((consumer) => consumer.id === id);
  if (!found)
    throw new OperatorError('operator_file_invalid', `${id} is not one of the consumers of this file.`);
  return found;
}

async function rowOf(
  consumer: OperatorConsumer,
  surface: OperatorSurface,
  contract: Contract,
  secretOf: (reference: string) => Promise<string>,
  nextOf: (reference: string) => Promise<string | undefined>,
): Promise<ConsumerRow> {
  const tools = grantedTools(surface, contract, consumer.id);
  const next = consumer.token === undefined ? undefined : await nextOf(consumer.token);
  return {
    id: consumer.id,
    tokenSha256: consumer.token_sha256 ?? hashOf(await secretOf(consumer.token ?? ''), consumer.id),
    secondTokenSha256: next === undefined ? '' : hashOf(await secretOf(next), consumer.id),
    tools: tools.join(', '),
    expiresAt: consumer.expires_at ?? '',
    tenant: consumer.tenant ?? '',
    ...limitsOf(consumer),
  };
}

/** The limits of a consumer as its row holds them: those that are there. */
export function limitsOf(given: {
  readonly requests_per_minute?: number | undefined;
  readonly concurrent_calls?: number | undefined;
}): Pick<ConsumerRow, 'requestsPerMinute' | 'concurrentCalls'> {
  const { requests_per_minute: rate, concurrent_calls: calls } = given;
  return {
    ...(rate === undefined ? {} : { requestsPerMinute: rate }),
    ...(calls === undefined ? {} : { concurrentCalls: calls }),
  };
}

/** @throws OperatorError `secret_too_short` */
export function hashOf(token: string, id: string): string {
  if (token.length < LEAST_TOKEN_CHARACTERS) {
    throw new OperatorError(
      'secret_too_short',
      `The bearer of ${id} is shorter than ${String(LEAST_TOKEN_CHARACTERS)} characters; mcp-curated token makes one.`,
    );
  }
  return sha256(token).toString('hex');
}

function refuseShared(applicationId: string, rows: readonly ConsumerRow[]): void {
  const shared = sharedBearer(rows);
  if (!shared) return;
  throw new OperatorError(
    'token_shared',
    `The consumers ${shared.join(' and ')} have one bearer at ${applicationId}; every consumer needs its own.`,
  );
}

/** Two consumers with one bearer: nobody could tell who calls. */
export function sharedBearer(rows: readonly ConsumerRow[]): readonly [string, string] | undefined {
  const holders = new Map<string, string>();
  for (const { id, tokenSha256, secondTokenSha256 } of rows) {
    for (const hash of [tokenSha256, secondTokenSha256]) {
      const holder = hash === '' ? undefined : holders.get(hash);
      if (holder !== undefined && holder !== id) return [holder, id];
      if (hash !== '') holders.set(hash, id);
    }
  }
  return undefined;
}

/** The secret that a reference of an operator file points to. @throws OperatorError `secret_unreadable` */
export async function resolveSecret(
  reference: string,
  applicationId: string,
  folder: string,
): Promise<string> {
  const named = reference.replaceAll('{application_id}', applicationId);
  const at = named.startsWith('file:') ? `file:${path.resolve(folder, named.slice('file:'.length))}` : named;
  try {
    return await readSecret(at);
  } catch (error) {
    throw new OperatorError(
      'secret_unreadable',
      error instanceof Error ? error.message : 'The secret cannot be read.',
      {
        cause: error,
      },
    );
  }
}
