import { exchange, NoAnswerError } from '../n8n/exchange';
import { REAL_PACE } from '../n8n/pacing';
import { ApplyError } from './applyError';

export const POLL_MS = 300;
const STATUS_LIMIT_MS = 10_000;
/** n8n 2.x publishes in the background and retries for 15 seconds. */
const BACKGROUND_LIMIT_MS = 25_000;
/** How often to look until n8n has had its time. */
export const POLLS = Math.ceil(BACKGROUND_LIMIT_MS / POLL_MS);
const NOT_SERVED = 404;
const ASKS_FOR_A_BEARER = 401;

/**
 * The status of a request without a bearer: 401 from a surface that works, 404 where nothing is served.
 *
 * @throws ApplyError `endpoint_unreachable` when nobody answers
 */
export async function probeEndpoint(endpoint: string, signal: AbortSignal): Promise<number> {
  try {
    return (await exchange(endpoint, { method: 'POST', signal }, STATUS_LIMIT_MS)).status;
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    throw new ApplyError('endpoint_unreachable', error.message);
  }
}

/** Waits until the endpoint asks for a bearer. @throws ApplyError `not_served` */
export async function untilServed(endpoint: string, name: string, signal: AbortSignal): Promise<void> {
  const seen = await until(endpoint, signal, (status) => status === ASKS_FOR_A_BEARER);
  if (seen === ASKS_FOR_A_BEARER) return;
  throw new ApplyError(
    'not_served',
    `${name} is active but its endpoint answers ${String(seen)} instead of asking for a bearer; n8n's log says why.`,
  );
}

/** Waits until nothing answers at the endpoint. @throws ApplyError `still_served` */
export async function untilGone(endpoint: string, name: string, signal: AbortSignal): Promise<void> {
  const seen = await until(endpoint, signal, (status) => status === NOT_SERVED);
  if (seen === NOT_SERVED) return;
  throw new ApplyError(
    'still_served',
    `${name} was deactivated but its endpoint still answers ${String(seen)}.`,
  );
}

/** @returns the last status; `nothing` where nobody answered */
async function until(
  endpoint: string,
  signal: AbortSignal,
  isDone: (status: number | 'nothing') => boolean,
): Promise<number | 'nothing'> {
  for (let polls = 1; ; polls += 1) {
    const status = await statusOrNothing(endpoint, signal);
    if (isDone(status) || polls >= POLLS) return status;
    await REAL_PACE.sleep(POLL_MS, signal);
  }
}

async function statusOrNothing(endpoint: string, signal: AbortSignal): Promise<number | 'nothing'> {
  try {
    return await probeEndpoint(endpoint, signal);
  } catch (error) {
    if (error instanceof ApplyError) return 'nothing';
    throw error;
  }
}
