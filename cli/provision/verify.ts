import { listedTools, surfaceOf, type Surface } from '../../core/contract/surface';
import { chosenSurfaces } from '../operator/chosen';
import { grantedTools } from '../operator/granted';
import type { Operator, WantedSurface } from '../operator/load';
import type { OperatorConsumer, OperatorSurface } from '../operator/schema';
import { bearerOf, isExpired, type Bearer } from './bearers';
import { verifyConsumer, type Session } from './verifyConsumer';
import { verifyRead } from './verifyRead';
import {
  verifyExpired,
  verifyForeignBearers,
  verifyRefusals,
  verifySilent,
  type StrangeBearer,
} from './verifyRefusals';
import { SurfaceReport, type Check } from './verifyReport';

export interface VerifyOptions {
  /** Address of n8n as this machine reaches it, without `/mcp`. */
  readonly address: string;
  readonly signal: AbortSignal;
  /** A line for a person that waits. */
  readonly onProgress: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Surfaces that are looked at side by side. Each one is looked at by one request after the other. */
const SIDE_BY_SIDE = 4;

/**
 * Looks at every surface of an operator file as its consumers, and as somebody who is none, would. Changes nothing.
 *
 * @param only application ids to look at; all when empty
 * @throws OperatorError for an id that the file does not have; never for what a surface does
 */
export async function verify(
  operator: Operator,
  only: readonly string[],
  options: VerifyOptions,
): Promise<Check[]> {
  const waiting = chosenSurfaces(operator, only).map((wanted) => ({
    wanted,
    report: new SurfaceReport(wanted.surface.application_id),
  }));
  const reports = waiting.map(({ report }) => report);
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      options.signal.throwIfAborted();
      await verifySurface(operator, next.wanted, next.report, options);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  return reports.flatMap(({ checks }) => checks);
}

async function verifySurface(
  operator: Operator,
  { surface, contract }: WantedSurface,
  report: SurfaceReport,
  options: VerifyOptions,
): Promise<void> {
  const { address, signal, onProgress } = options;
  const endpoint = `${address}/mcp/${contract.endpoint.path}`;
  onProgress(`${surface.application_id}: verifying`);
  if (!surface.enabled) {
    await verifySilent(endpoint, report, signal);
    return;
  }
  const named = operator.file.consumers.filter(({ id }) => surface.consumers.includes(id));
  const known = await Promise.all(
    named.map(async (consumer) => ({
      consumer,
      bearer: await bearerOf(operator, consumer, surface.application_id),
    })),
  );
  const pinned = surfaceOf(contract);
  const sessions: Session[] = [];
  try {
    for (const { consumer, bearer } of known) {
      signal.throwIfAborted();
      const tools = grantedTools(surface, contract, consumer.id);
      const session = await verifyOne(endpoint, pinned, { consumer, bearer, tools }, report, options);
      if (session) sessions.push(session);
    }
    await verifyRead(endpoint, contract, sessions, report, signal);
  } finally {
    for (const { server } of sessions) await server.close();
  }
  await verifyRefusals(endpoint, report, signal);
  const valid = known.map(({ bearer }) => bearer);
  const strangers = await strangersOf(operator, surface, valid);
  await verifyForeignBearers(endpoint, strangers, report, signal);
}

async function verifyOne(
  endpoint: string,
  surface: Surface,
  caller: {
    readonly consumer: OperatorConsumer;
    readonly bearer: Bearer;
    readonly tools: readonly string[];
  },
  report: SurfaceReport,
  { signal, now }: VerifyOptions,
): Promise<Session | undefined> {
  const { consumer, bearer, tools } = caller;
  if (bearer.kind === 'unreadable') {
    report.failed('bearer', consumer.id, bearer.code, bearer.message);
    return undefined;
  }
  if (bearer.kind === 'held_by_client') {
    const message = 'The operator file holds only the hash of this bearer, so it cannot be tried.';
    report.skipped('bearer', consumer.id, 'bearer_unknown', message);
    return undefined;
  }
  if (isExpired(consumer, now)) {
    await verifyExpired(endpoint, consumer.id, bearer.token, report, signal);
    return undefined;
  }
  const expected = listedTools(surface).filter(({ descriptor }) => tools.includes(descriptor.name));
  return await verifyConsumer(
    endpoint,
    surface,
    { consumer: consumer.id, token: bearer.token, expected },
    report,
    signal,
  );
}

/**
 * Bearers that this surface has to refuse: of every consumer that it does not admit, and of its own consumers the one
 * for another surface, where they have one for each.
 */
async function strangersOf(
  operator: Operator,
  surface: OperatorSurface,
  valid: readonly Bearer[],
): Promise<StrangeBearer[]> {
  const hashes = new Set(valid.flatMap((bearer) => ('sha256' in bearer ? [bearer.sha256] : [])));
  const own = surface.application_id;
  const others = operator.surfaces.map((wanted) => wanted.surface.application_id).filter((id) => id !== own);
  const strangers: StrangeBearer[] = [];
  for (const consumer of operator.file.consumers) {
    const isAdmitted = surface.consumers.includes(consumer.id);
    const places = isAdmitted ? others.slice(0, 1) : [own];
    for (const place of places) {
      const bearer = await bearerOf(operator, consumer, place);
      if (bearer.kind !== 'known' || hashes.has(bearer.sha256)) continue;
      const where = place === own ? '' : ` at ${place}`;
      strangers.push({ consumer: consumer.id, token: bearer.token, where });
    }
  }
  return strangers;
}
