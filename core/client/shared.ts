import { PolicyError } from '../policy/errors';

/**
 * Work whose outcome several callers wait for. One of them that gives up harms no other; when the last one gives up
 * before the work is done, the work is ended.
 */
export class Shared<T> {
  readonly #end = new AbortController();
  readonly #work: Promise<T>;
  #state: 'running' | 'done' | 'failed' = 'running';
  #waiting = 0;

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work(this.#end.signal);
    this.#work.then(
      () => (this.#state = 'done'),
      () => (this.#state = 'failed'),
    );
  }

  /** Nothing more can be got here. */
  get isOver(): boolean {
    return this.#state === 'failed' || this.#end.signal.aborted;
  }

  /** @throws PolicyError `call_cancelled` when `signal` is aborted first; whatever the work throws */
  async outcome(signal: AbortSignal): Promise<T> {
    let cancel: () => void = () => undefined;
    const cancelled = new Promise<never>((_resolve, reject) => {
      cancel = () => {
        reject(new PolicyError('call_cancelled', 'The execution was cancelled.'));
      };
    });
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    this.#waiting += 1;
    try {
      return await Promise.race([cancelled, this.#work]);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#waiting -= 1;
      if (this.#waiting === 0 && this.#state === 'running') this.#end.abort();
    }
  }

  /** What came out of it, or `undefined` when it failed. Never throws. */
  async settled(): Promise<T | undefined> {
    return await this.#work.catch(() => undefined);
  }
}
