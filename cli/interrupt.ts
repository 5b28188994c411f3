/**
 * Runs work that Ctrl-C ends between two requests: what was sent is waited for, so that nobody has to guess whether it
 * was done. A second Ctrl-C ends the process at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = () => {
    controller.abort(new Error('Interrupted; run the command again to go on.'));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}
