/** Terminal, npm and tsx may each pass the same Ctrl-C on; a person's second one comes later. */
const SAME_KEY_MS = 1_000;

/** Aborts at the first Ctrl-C or request to end, so that what was made can be removed. The second one ends at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  let since = Infinity;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (Date.now() - since > SAME_KEY_MS) process.exit(INTERRUPTED);
      since = Math.min(since, Date.now());
      controller.abort(new Error('Interrupted'));
    });
  }
  return controller.signal;
}

/** Exit code of a program that was ended with Ctrl-C. */
export const INTERRUPTED = 130;
