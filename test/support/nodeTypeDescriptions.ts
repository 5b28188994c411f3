import { readFileSync } from 'node:fs';

import { http } from '../hosts/api';
import type { AttachedHost } from '../hosts/host';
import { STATE_VARIABLE, type E2eState } from './hostsFixture';

/** What the editor knows of a node type, as far as an import depends on it. */
export interface NodeTypeDescription {
  name: string;
  version: number | number[];
  properties: {
    name: string;
    required?: boolean;
    default?: unknown;
    displayOptions?: { show?: Record<string, unknown[]> };
  }[];
  credentials?: { name: string; required?: boolean; displayOptions?: { show?: Record<string, unknown[]> } }[];
}

/** The descriptions of all node types that a host has, as its editor gets them. */
export async function nodeTypeDescriptions(host: AttachedHost): Promise<NodeTypeDescription[]> {
  const headers = { cookie: ownerCookieOf(host) };
  const { body } = await http({ method: 'GET', url: `${host.url}/types/nodes.json`, headers });
  return body as NodeTypeDescription[];
}

/** The session of the owner in the editor, for what the public API does not offer. */
export function ownerCookieOf(host: AttachedHost): string {
  const state = JSON.parse(readFileSync(process.env[STATE_VARIABLE] ?? '', 'utf8')) as E2eState;
  return state.hosts.find(({ url }) => url === host.url)?.ownerCookie ?? '';
}
