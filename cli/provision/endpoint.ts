import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from '../n8n/exchange';
import { ApplyError } from './applyError';

const POLL_MS = 300;
const STATUS_LIMIT_MS = 10_000;
/** n8n 2.x publishes in the background and retries for 15 seconds. */
const BACKGROUND_LIMIT_MS = 25_000;
const NOT_SERVED = 404;
const ASKS_FOR_A_BEARER = 401;

/** The status of a request without a bearer: 401 from a surface that works, 404 where nothing is served. */
export async function probeEndpoint(endpoint: string, signal: AbortSignal): Promise<number> {
  return (await exchange(endpoint, { method: 'POST', signal }, STATUS_LIMIT_MS)).status;
}

/** Waits until the endpoint asks for a bearer. @throws ApplyError `not_served` */
export async function untilServed(endpoint: string, name: string, signal: AbortSignal): Promise<void> {
  const status = await until(endpoint, signal, (seen) => seen !== NOT_SERVED);
  if (status === ASKS_FOR_A_BEARER) return;
  throw new ApplyError(
    'not_served',
    `${name} is active but its endpoint answers ${String(status)} instead of asking for a bearer; n8n's log says why.`,
  );
}

/** Waits until nothing answers at the endpoint. @throws ApplyError `still_served` */
export async function untilGone(endpoint: string, name: string, signal: AbortSignal): Promise<void> {
  const status = await until(endpoint, signal, (seen) => seen === NOT_SERVED);
  if (status === NOT_SERVED) return;
  throw new ApplyError(
    'still_served',
    `${name} was deactivated but its endpoint still answers ${String(status)}.`,
  );
}

async function until(
  endpoint: string,
  signal: AbortSignal,
  isDone: (status: number) => boolean,
): Promise<number> {
  const deadline = Date.now() + BACKGROUND_LIMIT_MS;
  let status = await probeEndpoint(endpoint, signal);
  while (!isDone(status) && Date.now() < deadline) {
    await sleep(POLL_MS, undefined, { signal });
    status = await probeEndpoint(endpoint, signal);
  }
  return status;
}
