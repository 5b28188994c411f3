import { PolicyError } from '../policy/errors';

/** Time for a tool to say in its own words what it was waiting for, once its time is over. */
const LAST_WORDS_MS = 250;

/**
 * Runs `work` until it is done, its time is over or the caller goes away, whichever comes first. What does not listen
 * to the signal is left behind; nobody waits for it. Timers and listeners are gone when this returns.
 *
 * @param seconds time limit
 * @param caller aborted when the caller goes away
 * @throws PolicyError `tool_timeout` or `call_cancelled`; else what `work` throws
 */
export async function withinDeadline<T>(
  seconds: number,
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  let lastWords: NodeJS.Timeout | undefined;
  let fail: (error: PolicyError) => void = () => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const gone = () => {
    own.abort(caller.reason);
    fail(new PolicyError('call_cancelled', 'The caller ended the request.'));
  };
  const timer = setTimeout(() => {
    own.abort(new DOMException('The time limit is over.', 'TimeoutError'));
    const sentence = `The tool did not answer within ${String(seconds)} seconds.`;
    lastWords = setTimeout(fail, LAST_WORDS_MS, new PolicyError('tool_timeout', sentence));
  }, seconds * 1_000);
  if (caller.aborted) gone();
  else caller.addEventListener('abort', gone, { once: true });
  try {
    return await Promise.race([ended, work(own.signal)]);
  } finally {
    clearTimeout(timer);
    clearTimeout(lastWords);
    caller.removeEventListener('abort', gone);
  }
}
