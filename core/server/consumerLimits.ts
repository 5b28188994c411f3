import { PolicyError } from '../policy/errors';
import type { ConcurrencyGate } from '../policy/limits';
import type { RateLimiter } from '../policy/rate';
import type { Consumer } from './consumers';

/** The limits of one consumer, beside those of the surface. `null` where it has none of its own. */
export interface ConsumerLimits {
  /** Requests of any kind, lists and pings included, per minute, surface and process. */
  readonly requestsPerMinute: number | null;
  /** Calls that one process runs at the same time for this consumer on one surface. */
  readonly concurrentCalls: number | null;
}

export const MOST_REQUESTS_PER_MINUTE = 100_000;
export const MOST_CONCURRENT_CALLS = 256;

/** @throws PolicyError `consumer_rate_exceeded`, with the seconds to wait */
export function spendRequest(
  { id, requestsPerMinute }: Consumer,
  rates: RateLimiter,
  surfaceKey: string,
  now: number,
): void {
  if (requestsPerMinute === null) return;
  const seconds = rates.take(keyOf(surfaceKey, id), requestsPerMinute, now);
  if (seconds === 0) return;
  throw new PolicyError(
    'consumer_rate_exceeded',
    `This consumer may send ${String(requestsPerMinute)} requests per minute; try again in ${String(seconds)} s.`,
    { retryAfterSeconds: seconds },
  );
}

/**
 * Takes one of the consumer's own places.
 *
 * @returns gives the place back
 * @throws PolicyError `consumer_concurrency_exceeded`
 */
export function enterAsConsumer(
  { id, concurrentCalls }: Consumer,
  gate: ConcurrencyGate,
  surfaceKey: string,
): () => void {
  if (concurrentCalls === null) return () => undefined;
  const leave = gate.tryEnter(keyOf(surfaceKey, id), concurrentCalls);
  if (leave) return leave;
  throw new PolicyError(
    'consumer_concurrency_exceeded',
    `This consumer runs ${String(concurrentCalls)} calls at a time here and all are busy; try again.`,
    { retryAfterSeconds: 1 },
  );
}

/** A space is in no id of a surface or a consumer. */
const keyOf = (surfaceKey: string, consumerId: string) => `${surfaceKey} ${consumerId}`;
