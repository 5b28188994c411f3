export interface Exchange {
  readonly status: number;
  readonly text: string;
}

/**
 * One request and its whole answer. No redirect is followed.
 *
 * @param limitMs how long the answer may take
 * @throws Error one sentence naming the origin and the cause when there is no answer; the reason of `init.signal`
 *   when that was aborted
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
    return { status: response.status, text: await response.text() };
  } catch (error) {
    signal?.throwIfAborted();
    const cause = limit.aborted ? `nothing within ${String(limitMs / 1000)} s` : causeOf(error);
    throw new Error(`No answer from ${new URL(url).origin}: ${cause}; is n8n running there?`, {
      cause: error,
    });
  }
}

/** `fetch failed` hides what happened in its cause. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  return cause?.code ?? cause?.message ?? 'the connection failed';
}
