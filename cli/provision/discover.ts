import { cataloguePin } from '../../core/contract/pin';
import { sha256Of } from '../../core/contract/canonical';
import { listedTools, surfaceOf } from '../../core/contract/surface';
import { grantedTools } from '../operator/granted';
import type { Operator, WantedSurface } from '../operator/load';
import type { OperatorConsumer } from '../operator/schema';
import { bearerOf, isExpired, type Bearer } from './bearers';
import { knock } from './knock';

export type RejectionCode =
  | 'surface_disabled'
  | 'consumer_not_allowed'
  | 'transport_unsupported'
  | 'auth_unsupported'
  | 'credential_missing'
  | 'endpoint_unreachable';

/** Where the bearer of a pair is; never the bearer. */
export type SecretPlace =
  | { readonly kind: 'env'; readonly name: string }
  /** As the operator file writes it. */
  | { readonly kind: 'file'; readonly path: string }
  /** Only the client has it; the operator file holds its hash. */
  | { readonly kind: 'held_by_client'; readonly consumer: string };

/** One provider and one consumer. Fields are those of JSON output, hence their spelling. */
export interface Pair {
  readonly application_id: string;
  readonly consumer: string;
  /** Whether the operator file asks for it: the surface is enabled and names the consumer. */
  readonly requested: boolean;
  readonly status: 'accepted' | 'rejected';
  readonly code: RejectionCode | null;
  readonly message: string | null;
  /** As clients reach it. */
  readonly endpoint: string;
  /** `<name>@<origin>`, as the server says who it is; compared before any pin. */
  readonly server: string;
  /** `name@sha256:<hash>` of everything that this consumer may call; empty where it may call nothing. */
  readonly tools: readonly string[];
  /** The pin of the whole list that this consumer is shown. */
  readonly catalogue_pin: string;
  readonly secret: SecretPlace;
}

/** All pairs of an operator file at one moment. Every client is configured from one snapshot. */
export interface Snapshot {
  /** Of everything below: two renderings with one hash were made of the same state. */
  readonly sha256: string;
  readonly pairs: readonly Pair[];
}

export interface Discovered {
  readonly snapshot: Snapshot;
  /** The bearer of an accepted pair, read in the same moment; `undefined` where only the client has it. */
  readonly tokenOf: (pair: Pair) => string | undefined;
}

export interface DiscoverOptions {
  /** Address of n8n as this machine reaches it, without `/mcp`. */
  readonly address: string;
  /** The same as clients reach it. */
  readonly publicAddress: string;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const ASKS_FOR_A_BEARER = 401;

/**
 * Every provider with every consumer of an operator file, accepted or rejected with one code. Reads nothing of n8n but
 * whether its endpoints ask for a bearer, and shows them none.
 */
export async function discover(operator: Operator, options: DiscoverOptions): Promise<Discovered> {
  const tokens = new Map<Pair, string>();
  const pairs: Pair[] = [];
  for (const wanted of operator.surfaces) {
    options.signal.throwIfAborted();
    const unreachable = wanted.surface.enabled ? await unreachability(wanted, options) : undefined;
    for (const consumer of operator.file.consumers) {
      const bearer = await bearerOf(operator, consumer, wanted.surface.application_id);
      const pair = pairOf(wanted, consumer, bearer, unreachable, options);
      pairs.push(pair);
      if (bearer.kind === 'known') tokens.set(pair, bearer.token);
    }
  }
  const snapshot = frozen({ sha256: sha256Of(pairs), pairs });
  return { snapshot, tokenOf: (pair) => tokens.get(pair) };
}

function pairOf(
  { surface, contract }: WantedSurface,
  consumer: OperatorConsumer,
  bearer: Bearer,
  unreachable: string | undefined,
  { publicAddress, now }: DiscoverOptions,
): Pair {
  const { application_id } = surface;
  const isNamed = surface.consumers.includes(consumer.id);
  const granted = isNamed ? grantedTools(surface, contract, consumer.id) : [];
  const tools = listedTools(surfaceOf(contract)).filter(({ descriptor }) =>
    granted.includes(descriptor.name),
  );
  const fault = firstFault({ surface, contract }, consumer, bearer, unreachable, now);
  return {
    application_id,
    consumer: consumer.id,
    requested: surface.enabled && isNamed,
    status: fault ? 'rejected' : 'accepted',
    code: fault?.[0] ?? null,
    message: fault?.[1] ?? null,
    endpoint: `${publicAddress}/mcp/${contract.endpoint.path}`,
    server: `${application_id}@${new URL(publicAddress).origin}`,
    tools: tools.map(({ descriptor, pin }) => `${descriptor.name}@${pin}`),
    catalogue_pin: cataloguePin(tools.map(({ pin }) => pin)),
    secret: placeOf(consumer, application_id),
  };
}

/** The first thing that keeps a pair apart; what the operator decided comes before what went wrong. */
function firstFault(
  { surface, contract }: WantedSurface,
  consumer: OperatorConsumer,
  bearer: Bearer,
  unreachable: string | undefined,
  now: number,
): [RejectionCode, string] | undefined {
  const { id, transports, auths } = consumer;
  if (!surface.enabled) return ['surface_disabled', 'The surface is not enabled in the operator file.'];
  if (!surface.consumers.includes(id)) {
    return ['consumer_not_allowed', `The surface does not name ${id} among its consumers.`];
  }
  if (!transports.includes(contract.transport)) {
    const spoken = transports.join(', ');
    return ['transport_unsupported', `The surface speaks ${contract.transport}, and ${id} only ${spoken}.`];
  }
  if (!auths.includes('bearer_token')) {
    return [
      'auth_unsupported',
      `The surface asks for a bearer_token, and ${id} only has ${auths.join(', ')}.`,
    ];
  }
  if (bearer.kind === 'unreadable') return ['credential_missing', bearer.message];
  if (isExpired(consumer, now)) {
    return [
      'credential_missing',
      `The bearer of ${id} has expired; run mcp-curated rotate and renew expires_at.`,
    ];
  }
  return unreachable === undefined ? undefined : ['endpoint_unreachable', unreachable];
}

/** Why an endpoint cannot be used; `undefined` when it asks for a bearer. */
async function unreachability(
  { contract }: WantedSurface,
  { address, signal }: DiscoverOptions,
): Promise<string | undefined> {
  const { status, cause } = await knock(
    `${address}/mcp/${contract.endpoint.path}`,
    'POST',
    undefined,
    signal,
  );
  if (status === ASKS_FOR_A_BEARER) return undefined;
  if (status === undefined) return `Nobody answers at the endpoint: ${cause}.`;
  return status === 404
    ? 'Nothing is served at the endpoint yet; run mcp-curated apply.'
    : `The endpoint answers ${String(status)} instead of asking for a bearer.`;
}

function placeOf({ id, token }: OperatorConsumer, applicationId: string): SecretPlace {
  if (token === undefined) return { kind: 'held_by_client', consumer: id };
  const named = token.replaceAll('{application_id}', applicationId);
  return named.startsWith('env:')
    ? { kind: 'env', name: named.slice('env:'.length) }
    : { kind: 'file', path: named.slice('file:'.length) };
}

function frozen<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const entry of Object.values(value)) frozen(entry);
  }
  return value;
}
