import { readFileSync } from 'node:fs';

import { HostError } from '../hosts/errors';
import { type AttachedHost, attachHost, type HostState } from '../hosts/host';

/** The environment variable that names the state file; set by globalSetup, inherited by jest's workers. */
export const STATE_VARIABLE = 'MCP_CURATED_E2E_STATE';

/** What globalSetup leaves for the suites. The file holds keys: mode 0600, in a folder of mode 0700. */
export interface E2eState {
  /** The packed pack that is installed in every host. */
  tarball: string;
  hosts: HostState[];
}

/**
 * The hosts that globalSetup started, each with the packed pack installed. Meant for the top level of a
 * suite: `describe.each(hosts())('n8n $version', (host) => { … })`. The hosts are shared by all suites, so a
 * suite names its workflows and paths after itself and removes them.
 *
 * @throws HostError `no_state` outside of the jest project `e2e`
 */
export function hosts(): AttachedHost[] {
  return readState().hosts.map(attachHost);
}

/** The packed tarball, for suites that start a host of their own with `startHost`. */
export function packedTarball(): string {
  return readState().tarball;
}

function readState(): E2eState {
  const file = process.env[STATE_VARIABLE];
  if (!file) {
    throw new HostError('no_state', 'no hosts are running: use "npx jest --selectProjects e2e"');
  }
  return JSON.parse(readFileSync(file, 'utf8')) as E2eState;
}
