import { serverAccess } from '../../core/client/access';
import { ListingCache } from '../../core/client/listingCache';
import type { Listing } from '../../core/client/listing';
import { ToolServer } from '../../core/client/toolServer';
import type { Surface } from '../../core/contract/surface';
import { PolicyError } from '../../core/policy/errors';
import { foreignText } from '../../core/policy/redaction';
import type { SurfaceReport } from './verifyReport';

/** A consumer that is to be let in, with what it should find. */
export interface Caller {
  readonly consumer: string;
  readonly token: string;
  /** The tools that it may call, as the tightened contract pins them. */
  readonly expected: Surface['tools'];
}

/** A consumer that was let in. */
export interface Session extends Caller {
  readonly server: ToolServer;
  /** Names that are listed exactly as they are pinned. */
  readonly exact: ReadonlySet<string>;
}

/** n8n may be on loopback or in any network of the operator. Link-local and metadata addresses stay refused. */
const EVERY_NETWORK = '0.0.0.0/0, ::/0';
const RESPONSE_BYTES = 16_777_216;
/** Beyond the limit of the contract, within which the surface itself ends a call. */
const GRACE_SECONDS = 5;
const NO_LOG = { warn: () => undefined, debug: () => undefined };

/**
 * A real handshake with one consumer's bearer, and what is listed for it.
 *
 * @returns the open session, to be closed by the caller; `undefined` when there was no handshake
 */
export async function verifyConsumer(
  endpoint: string,
  surface: Surface,
  caller: Caller,
  report: SurfaceReport,
  signal: AbortSignal,
): Promise<Session | undefined> {
  const { consumer } = caller;
  const server = serverFor(endpoint, surface, caller, report);
  if (!server) return undefined;
  const listing = await shakeHands(server, surface, consumer, report, signal);
  if (!listing) {
    await server.close();
    return undefined;
  }
  compareNames(listing, caller, report);
  return { ...caller, server, exact: comparePins(listing, caller, report) };
}

function serverFor(
  endpoint: string,
  { limits }: Surface,
  { consumer, token }: Caller,
  report: SurfaceReport,
): ToolServer | undefined {
  const settings = {
    timeoutSeconds: limits.timeout_seconds + GRACE_SECONDS,
    responseBytes: RESPONSE_BYTES,
    listAgeSeconds: 0,
    compareEveryCall: false,
  };
  try {
    const access = serverAccess({
      endpoint,
      transport: 'httpStreamable',
      authentication: 'bearer',
      token,
      allowedNetworks: EVERY_NETWORK,
    });
    return new ToolServer(access, settings, NO_LOG, new ListingCache());
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    notShaken(error, consumer, report);
    return undefined;
  }
}

async function shakeHands(
  server: ToolServer,
  surface: Surface,
  consumer: string,
  report: SurfaceReport,
  signal: AbortSignal,
): Promise<Listing | undefined> {
  try {
    const { protocolVersion } = await server.describe(signal);
    const listing = await server.listing(signal);
    const { name } = listing.identity;
    if (name === surface.application_id) {
      report.passed('handshake', consumer, `${name} speaks MCP ${foreignText(protocolVersion, 20)}.`);
      return listing;
    }
    const message = `Another server answers at this endpoint: it calls itself ${foreignText(name, 80)}.`;
    notShaken({ code: 'server_drift', message }, consumer, report);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof PolicyError)) throw error;
    notShaken(error, consumer, report);
  }
  return undefined;
}

function notShaken(
  { code, message }: { readonly code: string; readonly message: string },
  consumer: string,
  report: SurfaceReport,
): void {
  report.failed('handshake', consumer, code, message);
  for (const check of ['tool_names', 'tool_pins'] as const) {
    report.skipped(check, consumer, 'handshake_failed', 'Without a handshake nothing is compared.');
  }
}

function compareNames(
  { tools, unreadable }: Listing,
  { consumer, expected }: Caller,
  report: SurfaceReport,
): void {
  const wanted = new Set(expected.map(({ descriptor }) => descriptor.name));
  const listed = tools.map(({ descriptor }) => descriptor.name);
  const missing = [...wanted].filter((name) => !listed.includes(name));
  const more = listed.filter((name, index) => !wanted.has(name) || listed.indexOf(name) !== index);
  if (more.length > 0 || unreadable > 0) {
    const names = more.map((name) => foreignText(name, 80)).join(', ') || 'an unreadable entry';
    report.failed('tool_names', consumer, 'tool_unexpected', `More is listed than is pinned: ${names}.`);
  } else if (missing.length > 0) {
    report.failed('tool_names', consumer, 'tool_missing', `Not listed: ${missing.join(', ')}.`);
  } else {
    report.passed('tool_names', consumer, `Exactly ${[...wanted].join(', ')}.`);
  }
}

function comparePins(
  { tools }: Listing,
  { consumer, expected }: Caller,
  report: SurfaceReport,
): ReadonlySet<string> {
  const exact = new Set<string>();
  const drifts: string[] = [];
  for (const { descriptor, pin } of expected) {
    const listed = tools.filter((tool) => tool.descriptor.name === descriptor.name);
    if (listed.some((tool) => tool.pin !== pin)) {
      drifts.push(
        `${descriptor.name}: pinned ${pin}, listed ${listed.map((tool) => tool.pin).join(' and ')}`,
      );
    } else if (listed.length === 1) exact.add(descriptor.name);
  }
  if (drifts.length > 0) {
    report.failed('tool_pins', consumer, 'schema_drift', `${drifts.join('; ')}.`);
  } else if (exact.size === 0) {
    report.skipped('tool_pins', consumer, 'tool_missing', 'No pinned tool is listed exactly once.');
  } else {
    report.passed('tool_pins', consumer, `${String(exact.size)} pins are those of the contract.`);
  }
  return exact;
}
