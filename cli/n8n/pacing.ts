import { setTimeout as wait } from 'node:timers/promises';

/** What time means to the client; tests bring their own. */
export interface Pace {
  /** Milliseconds since 1970. */
  now(): number;
  /** @throws the reason of `signal` when that is aborted while waiting */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to, not including, 1. */
  random(): number;
}

export const REAL_PACE: Pace = {
  now: () => Date.now(),
  random: () => Math.random(),
  async sleep(ms, signal) {
    try {
      await wait(ms, undefined, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};

const FIRST_BACK_OFF_MS = 500;
const LONGEST_BACK_OFF_MS = 8_000;

/** How long to wait after the `attempt`th failure, counted from 1: twice as long each time, half of it by chance. */
export function backOffMs(attempt: number, random: number): number {
  const whole = Math.min(FIRST_BACK_OFF_MS * 2 ** (attempt - 1), LONGEST_BACK_OFF_MS);
  return Math.round(whole * (0.5 + random / 2));
}

/** The header `Retry-After`, seconds or a date, in milliseconds from now; undefined when it says nothing. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Lets at most `places` run at the same time; the others wait in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** @throws the reason of `signal` when that is aborted before there is a place */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason as Error);
      };
      this.#waiting.push(enter);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
