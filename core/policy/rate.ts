const MINUTE_MS = 60_000;
/** From this many keys on, those that have been quiet long enough to be like new are forgotten before one is added. */
const SWEEP_AT = 1_000;

/**
 * Requests per minute by key, as a token bucket: after a quiet minute as many at once as the limit says, then evenly
 * spread. One number is kept per key, and none for a key that was quiet for a minute, so memory is bounded by who was
 * here within the last one. One instance lives in each process, so rates are per process.
 */
export class RateLimiter {
  /** When the bucket of a key is full again, in milliseconds. */
  readonly #fullAt = new Map<string, number>();

  /**
   * Takes one request from the bucket of `key`.
   *
   * @param perMinute size of the bucket and what flows into it within a minute
   * @param now the present in milliseconds
   * @returns 0, or the whole seconds after which the next request may come
   */
  take(key: string, perMinute: number, now: number): number {
    const interval = MINUTE_MS / perMinute;
    // A clock that was set back must not lock anybody out for longer than a minute.
    const fullAt = Math.min(Math.max(this.#fullAt.get(key) ?? now, now), now + MINUTE_MS);
    const missing = fullAt + interval - now - MINUTE_MS;
    // Sums of fractions: what is less than a millionth of a millisecond is nothing.
    if (missing > 1e-6) {
      this.#fullAt.set(key, fullAt);
      return Math.ceil(missing / 1_000);
    }
    if (this.#fullAt.size >= SWEEP_AT && !this.#fullAt.has(key)) this.#sweep(now);
    this.#fullAt.set(key, fullAt + interval);
    return 0;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#fullAt.size;
  }

  #sweep(now: number): void {
    for (const [key, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(key);
  }
}
