export interface Exchange {
  readonly status: number;
  readonly text: string;
  /** The header `Retry-After` as it came. */
  readonly retryAfter: string | null;
}

/** There was no answer: nobody is there, or the connection ended before the answer was whole. */
export class NoAnswerError extends Error {
  constructor(
    message: string,
    /** Whether the request may have reached the server all the same. */
    readonly maybeSent: boolean,
    options: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'NoAnswerError';
  }
}

/**
 * One request and its whole answer. No redirect is followed.
 *
 * @param limitMs how long the answer may take
 * @throws NoAnswerError one sentence naming the origin and the cause when there is no answer; the reason of
 *   `init.signal` when that was aborted
 */
export async function exchange(
  url: string,
  { signal, ...init }: RequestInit,
  limitMs: number,
): Promise<Exchange> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const { status, headers } = response;
    return { status, text: await response.text(), retryAfter: headers.get('retry-after') };
  } catch (error) {
    signal?.throwIfAborted();
    const cause = limit.aborted ? `nothing within ${String(limitMs / 1000)} s` : causeOf(error);
    throw new NoAnswerError(
      `No answer from ${new URL(url).origin}: ${cause}; is n8n running there?`,
      limit.aborted || !NOT_CONNECTED.test(codeOf(error)),
      { cause: error },
    );
  }
}

/** What ends an attempt before there is a connection that a request could be sent on. */
const NOT_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_\w+|ERR_(?:TLS|SSL)_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

function codeOf(error: unknown): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code ?? '';
}

/** `fetch failed` hides what happened in its cause. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? 'the connection failed';
}
