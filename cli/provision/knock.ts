/** What an endpoint answers to somebody at the door. */
export interface Seen {
  /** `undefined` when nobody answered. */
  readonly status: number | undefined;
  /** The header `WWW-Authenticate`. */
  readonly challenge: string | null;
  /** Why nobody answered; '' otherwise. */
  readonly cause: string;
}

const LIMIT_MS = 10_000;

/** A whole first message, so that whoever is let in by mistake is answered like a client. */
const FIRST_MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'mcp-curated verify', version: '1' },
  },
});

/**
 * One request of which only status and challenge are looked at: no redirect is followed, no body read.
 *
 * @throws the reason of `signal` when that was aborted
 */
export async function knock(
  endpoint: string,
  method: 'GET' | 'POST',
  bearer: string | undefined,
  signal: AbortSignal,
): Promise<Seen> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const response = await fetch(endpoint, {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(method === 'POST' ? { body: FIRST_MESSAGE } : {}),
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit]),
    });
    await response.body?.cancel();
    return { status: response.status, challenge: response.headers.get('www-authenticate'), cause: '' };
  } catch (error) {
    signal.throwIfAborted();
    const cause = limit.aborted ? `nothing within ${String(LIMIT_MS / 1_000)} s` : causeOf(error);
    return { status: undefined, challenge: null, cause };
  }
}

/** `fetch failed` hides what happened in its cause. Only its code is told: its sentence may name addresses. */
function causeOf(error: unknown): string {
  const { code } = ((error as { cause?: unknown } | null)?.cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'the connection failed';
}
