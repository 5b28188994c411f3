import { setTimeout as sleep } from 'node:timers/promises';

import type { AttachedHost } from '../../hosts/host';

const EVERY_MS = 200;
/** So often nothing has changed: n8n does not list what it still has in memory, so a look may miss it. */
const LOOKS = 6;
const LONGEST_MS = 120_000;

/**
 * Waits until n8n has saved the executions that answered calls have left behind. It answers first and works them off
 * afterwards, so a rate that counts answers only is one that no host can keep up.
 *
 * @returns milliseconds since the start of the process when the last one was seen to be finished
 */
export async function executionsSaved(host: AttachedHost): Promise<number> {
  const started = performance.now();
  let seen = '';
  let since = started;
  let looks = 0;
  while (looks < LOOKS) {
    const [newest, finished] = await Promise.all([newestOf(host, ''), newestOf(host, '&status=success')]);
    const now = performance.now();
    const state = `${newest} ${finished}`;
    if (state !== seen) {
      seen = state;
      since = now;
      looks = 0;
    } else if (newest === finished) looks += 1;
    if (now - started > LONGEST_MS) throw new Error('n8n did not finish its executions.');
    await sleep(EVERY_MS);
  }
  return since;
}

async function newestOf(host: AttachedHost, filter: string): Promise<string> {
  const { data } = await host.api.get<{ data: { id: string | number }[] }>(`/executions?limit=1${filter}`);
  return String(data[0]?.id ?? '');
}
