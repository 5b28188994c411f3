import { serverAccess } from '../../core/client/access';
import { pinText } from '../../core/client/allowlist';
import { identityText } from '../../core/client/identity';
import { ListingCache } from '../../core/client/listingCache';
import { ToolServer } from '../../core/client/toolServer';
import type { ToolDescriptor } from '../../core/contract/pin';
import type { AttachedHost } from '../hosts/host';
import type { CredentialRef } from './agent';
import { node, type ToolNode } from './handMade';

export const CLIENT_TYPE = 'n8n-nodes-mcp-curated.mcpAllowlistClient';
export const CLIENT_TOOL_TYPE = 'n8n-nodes-mcp-curated.mcpAllowlistClientTool';
export const CLIENT_CREDENTIAL = 'mcpAllowlistClientApi';

/** A foreign server as a person who reviews it sees it. */
export interface ReviewedServer {
  /** `<name>@<origin>`, the parameter `server`. */
  readonly server: string;
  readonly descriptors: readonly ToolDescriptor[];
  /** `name@sha256:<hash>` of each of these tools. */
  pins(...names: string[]): string[];
}

/** Reads the list of a server on loopback, with its bearer where it wants one. */
export async function reviewServer(endpoint: string, bearer?: string): Promise<ReviewedServer> {
  const access = serverAccess({
    endpoint,
    ...(bearer === undefined ? { authentication: 'none' } : { authentication: 'bearer', token: bearer }),
    allowedNetworks: 'loopback',
  });
  const settings = {
    timeoutSeconds: 20,
    responseBytes: 1_048_576,
    listAgeSeconds: 0,
    compareEveryCall: false,
  };
  const quiet = { warn: () => undefined, debug: () => undefined };
  const server = new ToolServer(access, settings, quiet, new ListingCache());
  try {
    const { identity, tools } = await server.listing(new AbortController().signal);
    return {
      server: identityText(identity),
      descriptors: tools.map(({ descriptor }) => descriptor),
      pins: (...names) =>
        names.map((name) => {
          const found = tools.find(({ descriptor }) => descriptor.name === name);
          if (!found) throw new Error(`${endpoint} lists no tool ${name}`);
          return pinText({ name, pin: found.pin });
        }),
    };
  } finally {
    await server.close();
  }
}

/** A credential for a server on loopback; with `data` anything else that the credential type knows. */
export async function clientCredential(
  host: AttachedHost,
  name: string,
  endpoint: string,
  data: Record<string, unknown> = { authentication: 'none' },
): Promise<CredentialRef> {
  return await host.api.post<CredentialRef>('/credentials', {
    name,
    type: CLIENT_CREDENTIAL,
    data: { endpoint, transport: 'auto', allowedNetworks: 'loopback', ...data },
  });
}

export function clientToolNode(
  name: string,
  { id, name: credentialName }: CredentialRef,
  parameters: { server: string; tools: readonly string[]; options?: object },
): ToolNode {
  return {
    ...node(name, CLIENT_TOOL_TYPE, 1, { options: {}, ...parameters }),
    credentials: { [CLIENT_CREDENTIAL]: { id, name: credentialName } },
  };
}

export function clientNode(
  name: string,
  { id, name: credentialName }: CredentialRef,
  parameters: Record<string, unknown>,
): ToolNode {
  return {
    ...node(name, CLIENT_TYPE, 1, { options: {}, ...parameters }),
    credentials: { [CLIENT_CREDENTIAL]: { id, name: credentialName } },
  };
}
