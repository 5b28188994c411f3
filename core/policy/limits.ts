import { z } from 'zod';

const bounded = (maximum: number, meaning: string) => z.int().min(1).max(maximum).describe(meaning);

/**
 * The seven limits of document 003, "Target Metadata Contract". All are required and none has a default: a limit
 * that is not stated is not a limit.
 */
export const limitsSchema = z
  .strictObject({
    request_bytes: bounded(1_048_576, 'Largest request body in bytes.'),
    response_bytes: bounded(16_777_216, 'Largest upstream body and largest tool result in bytes.'),
    timeout_seconds: bounded(300, 'Seconds until one call is ended, the upstream request included.'),
    concurrent_requests: bounded(256, 'Calls that one process runs at the same time for this surface.'),
    page_size: bounded(1_000, 'Most records that one upstream page is asked for.'),
    result_items: bounded(10_000, 'Most records that one result returns.'),
    stream_seconds: bounded(3_600, 'Seconds until a streamed answer is ended.'),
  })
  .describe('All seven limits, each explicit. Counted per process.');

export type Limits = z.infer<typeof limitsSchema>;

/** Counts calls in flight per surface. One instance lives in each process, so limits are per process. */
export class ConcurrencyGate {
  readonly #running = new Map<string, number>();

  /**
   * Takes a place for `key`, or returns `undefined` when `limit` calls are running already.
   * The returned function gives the place back; calling it again does nothing.
   */
  tryEnter(key: string, limit: number): (() => void) | undefined {
    const running = this.#running.get(key) ?? 0;
    if (running >= limit) return undefined;
    this.#running.set(key, running + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const now = (this.#running.get(key) ?? 1) - 1;
      if (now <= 0) this.#running.delete(key);
      else this.#running.set(key, now);
    };
  }
}

/** Bytes of `text` in UTF-8, the unit of every byte limit. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Levels of nesting up to which foreign data is followed. */
export const DEEPEST_NESTING = 64;
