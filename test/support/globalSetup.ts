import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { progressToStderr } from '../hosts/errors';
import { type Host, startHost } from '../hosts/host';
import { HOST_VERSIONS } from '../hosts/install';
import { removeOnExit } from '../hosts/process';
import { type E2eState, STATE_VARIABLE } from './hostsFixture';
import { packTarball } from './pack';

/** Shared with globalTeardown, which jest loads separately in the same process. */
export interface RunningE2e {
  folder: string;
  hosts: Host[];
}

/**
 * Jest's globalSetup for the end-to-end suites: packs the checkout once, then installs (the first time) and
 * starts the hosts in parallel. `MCP_CURATED_TEST_HOSTS=1.100.1` restricts them, by commas.
 */
export default async function globalSetup(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-e2e-'));
  removeOnExit(folder);
  const started: Host[] = [];
  try {
    const tarball = await packTarball(join(folder, 'pack'));
    const versions = (process.env['MCP_CURATED_TEST_HOSTS'] || HOST_VERSIONS.join(','))
      .split(',')
      .map((version) => version.trim())
      .filter(Boolean);
    const results = await Promise.allSettled(
      versions.map(async (version) => {
        const host = await startHost({ version, tarball, onProgress: progressToStderr });
        started.push(host);
        return host;
      }),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;

    // In the order asked for, not in the order of getting ready.
    const hosts = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const state: E2eState = { tarball, hosts: hosts.map((host) => host.state) };
    const file = join(folder, 'state.json');
    await writeFile(file, JSON.stringify(state, null, 2), { mode: 0o600 });
    await chmod(folder, 0o700);
    process.env[STATE_VARIABLE] = file;
    (globalThis as { __mcpCuratedE2e?: RunningE2e }).__mcpCuratedE2e = { folder, hosts };
  } catch (error) {
    await Promise.all(started.map((host) => host.stop()));
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
