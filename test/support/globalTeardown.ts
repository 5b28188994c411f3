import { rm } from 'node:fs/promises';

import type { RunningE2e } from './globalSetup';

/** Jest's globalTeardown for the end-to-end suites: stops what globalSetup started. */
export default async function globalTeardown(): Promise<void> {
  const running = (globalThis as { __mcpCuratedE2e?: RunningE2e }).__mcpCuratedE2e;
  if (!running) return;
  await Promise.all(running.hosts.map((host) => host.stop()));
  await rm(running.folder, { recursive: true, force: true });
}
