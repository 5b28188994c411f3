import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SseError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type PriorDiscovery,
  type Transport,
} from '@modelcontextprotocol/client';
import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import { packName, packVersion } from '../version';
import type { ServerAccess } from './access';
import { failureOf, statusOf } from './failure';
import { guardedFetch, withExchange, type ClientFetch } from './fetch';
import { identityOf, type ServerIdentity } from './identity';
import { oauthProvider, secretsOf } from './oauth';
import { watchedTransport } from './watchedTransport';

/** Lines for the host's log; each starts with a stable word. */
export interface ClientLog {
  warn(line: string): void;
  debug(line: string): void;
}

/** What a server logs to its client; nothing of it is to be believed. */
export interface ServerLog {
  readonly level: unknown;
  readonly data: unknown;
  readonly logger?: string | undefined;
}

export interface ConnectOptions {
  readonly timeoutMs: number;
  /** Most bytes of one answer. */
  readonly responseBytes: number;
  /** Aborted when nobody wants the connection any more. */
  readonly signal: AbortSignal;
  readonly log: ClientLog;
  /** Called when the server says that its list of tools has changed. */
  readonly onToolsChanged: () => void;
  /** Called for every log message of the server. */
  readonly onLog?: (message: ServerLog) => void;
  /** Called when the connection is over, whoever ended it. */
  readonly onClosed: () => void;
}

/** A server that has shaken hands. */
export interface Connection {
  readonly client: Client;
  readonly identity: ServerIdentity;
  readonly transport: 'httpStreamable' | 'sse';
  readonly protocolVersion: string;
  /** Whether the server keeps a session, which it can forget. */
  readonly hasSession: boolean;
  /** Ends the session at the server and closes the connection. Never throws. */
  close(): Promise<void>;
}

/**
 * Connects: Streamable HTTP in both protocol eras, and the old SSE transport where the server's answer says that it
 * has nothing newer (MCP 2025-11-25, "Backwards Compatibility"). A network failure is never a reason to try another
 * transport, since its error would hide the cause.
 *
 * @throws PolicyError
 */
export async function connect(access: ServerAccess, options: ConnectOptions): Promise<Connection> {
  const fetch = guardedFetch(access.policy, options.responseBytes);
  try {
    if (access.transport === 'sse') return await connectSse(access, fetch, options);
    return await connectStreamable(access, fetch, options).catch(async (error: unknown) => {
      if (access.transport !== 'auto' || !suggestsOldServer(error)) throw error;
      const timeoutMs = Math.min(options.timeoutMs, OLD_SERVER_MS);
      return await connectSse(access, fetch, { ...options, timeoutMs }).catch(() => {
        throw error;
      });
    });
  } catch (error) {
    if (options.signal.aborted) throw new PolicyError('call_cancelled', 'The request was cancelled.');
    throw failureOf(error, secretsOf(access));
  }
}

/** An old server names its endpoint at once. A newer one may open a stream here and never say a word. */
const OLD_SERVER_MS = 10_000;

/** What a server that only knows the older transport answers to the first POST. */
function suggestsOldServer(error: unknown): boolean {
  return [400, 404, 405].includes(statusOf(error) ?? 0);
}

const MOST_REMEMBERED = 500;
/** Endpoints that answered in the 2025 way, so that the next connection need not ask again which era they speak. */
const legacyEndpoints = new Set<string>();

async function connectStreamable(
  access: ServerAccess,
  fetch: ClientFetch,
  options: ConnectOptions,
): Promise<Connection> {
  const { href } = access.endpoint;
  if (legacyEndpoints.has(href)) {
    try {
      return await attempt(access, fetch, options, { kind: 'legacy' });
    } catch (error) {
      legacyEndpoints.delete(href);
      if (statusOf(error) === undefined) throw error;
    }
  }
  const connection = await attempt(access, fetch, options).catch(async (error: unknown) => {
    // Some servers of the 2025 era fail on a first request that they do not know.
    const status = statusOf(error) ?? 0;
    if (status < 500 && status !== 403) throw error;
    return await attempt(access, fetch, options, { kind: 'legacy' }).catch(() => {
      throw error;
    });
  });
  if (connection.client.getProtocolEra() === 'legacy') {
    if (legacyEndpoints.size >= MOST_REMEMBERED) legacyEndpoints.clear();
    legacyEndpoints.add(href);
  }
  return connection;
}

async function attempt(
  access: ServerAccess,
  fetch: ClientFetch,
  options: ConnectOptions,
  prior?: PriorDiscovery,
): Promise<Connection> {
  const authProvider = oauthProvider(access);
  const transport = new StreamableHTTPClientTransport(access.endpoint, {
    fetch,
    requestInit: { headers: access.headers },
    reconnectionScheduler: reconnectLater,
    ...(authProvider ? { authProvider } : {}),
  });
  return await handshake(access, transport, 'httpStreamable', options, prior);
}

const LEAST_RETRY_MS = 100;
const MOST_RETRY_MS = 60_000;

/** A server says when its stream is to be opened again; with `retry: 0` it would keep us doing nothing else. */
function reconnectLater(reconnect: () => void, delay: number): () => void {
  const bounded = Math.min(Math.max(delay, LEAST_RETRY_MS), MOST_RETRY_MS);
  const timer = setTimeout(reconnect, bounded).unref();
  return () => {
    clearTimeout(timer);
  };
}

async function connectSse(
  access: ServerAccess,
  fetch: ClientFetch,
  options: ConnectOptions,
): Promise<Connection> {
  const authProvider = oauthProvider(access);
  // The transport tells of a stream that it could not open only that it could not.
  let cause: unknown;
  const remembered: ClientFetch = async (url, init) => {
    try {
      return await fetch(url, init);
    } catch (error) {
      cause ??= error;
      throw error;
    }
  };
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- servers that know nothing newer are still around.
  const transport = new SSEClientTransport(access.endpoint, {
    fetch: remembered,
    requestInit: { headers: access.headers },
    ...(authProvider ? { authProvider } : {}),
  });
  return await handshake(access, transport, 'sse', options, { kind: 'legacy' }).catch((error: unknown) => {
    throw error instanceof SseError ? (cause ?? error) : error;
  });
}

/** A server that asks again and again fills no log. */
const MOST_LOGGED = 20;

async function handshake(
  access: ServerAccess,
  transport: Transport & { terminateSession?(): Promise<void> },
  kind: Connection['transport'],
  { timeoutMs, signal, log, onToolsChanged, onLog, onClosed }: ConnectOptions,
  prior?: PriorDiscovery,
): Promise<Connection> {
  // No capability of ours is declared: tools are all that is used of a server.
  const client = new Client(
    { name: packName, version: packVersion },
    { capabilities: {}, versionNegotiation: { mode: 'auto' }, inputRequired: { autoFulfill: false } },
  );
  let refusals = 0;
  client.fallbackRequestHandler = ({ method }) => {
    refusals += 1;
    if (refusals <= MOST_LOGGED) log.warn(refusedCapability(method, access));
    return Promise.reject(
      new ProtocolError(ProtocolErrorCode.MethodNotFound, 'This client offers no such capability.'),
    );
  };
  client.setNotificationHandler('notifications/tools/list_changed', onToolsChanged);
  if (onLog) {
    client.setNotificationHandler('notifications/message', ({ params }) => {
      onLog(params);
    });
  }
  client.onerror = (error) => {
    log.debug(`mcp_client_transport ${foreignText(error.message, 300, secretsOf(access))}`);
    // The stream of an old server is its session: opened again it would belong to another one.
    if (error instanceof SseError) setImmediate(() => void client.close().catch(() => undefined));
  };
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    await withDeadline(deadline, async () => {
      await client.connect(watchedTransport(transport), {
        timeout: timeoutMs,
        signal: deadline,
        ...(prior ? { prior } : {}),
      });
    });
  } catch (error) {
    await client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
    throw deadline.aborted && !signal.aborted ? timedOut(timeoutMs) : error;
  }
  client.onclose = onClosed;
  return {
    client,
    identity: identityOf(client.getServerVersion()?.name, access.endpoint),
    transport: kind,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    hasSession: kind === 'sse' || transport.sessionId !== undefined,
    close: async () => {
      await ended(transport);
      await client.close().catch(() => undefined);
    },
  };
}

/** `work` under an exchange of its own, so that what the deadline ends is ended at the socket too. */
export async function withDeadline<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const over = () => {
    fail(signal.reason as Error);
  };
  signal.addEventListener('abort', over, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([failed, withExchange({ signal, fail }, work)]);
  } finally {
    signal.removeEventListener('abort', over);
  }
}

const SESSION_END_MS = 2_000;

/** A server that keeps sessions is told that this one is over (MCP 2025-11-25, "Session Management"). */
async function ended(transport: { terminateSession?(): Promise<void> }): Promise<void> {
  if (!transport.terminateSession) return;
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, SESSION_END_MS);
  });
  await Promise.race([transport.terminateSession().catch(() => undefined), enough]);
  clearTimeout(timer);
}

/** The log line for what a server asked of us and did not get. */
export function refusedCapability(method: string, { endpoint, secrets }: ServerAccess): string {
  return `mcp_client_refused capability_refused: ${foreignText(endpoint.host, 120)} asked for ${foreignText(method, 80, secrets)}, which is not offered`;
}

export function timedOut(timeoutMs: number): PolicyError {
  return new PolicyError(
    'upstream_timeout',
    `The MCP server did not answer within ${String(timeoutMs / 1_000)} seconds.`,
  );
}
