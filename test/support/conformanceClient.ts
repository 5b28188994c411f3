import { serverAccess, type ServerCredential } from '../../core/client/access';
import { parseAllowlist, pinText } from '../../core/client/allowlist';
import { identityText } from '../../core/client/identity';
import { ListingCache } from '../../core/client/listingCache';
import { ToolServer } from '../../core/client/toolServer';

/**
 * The client that the official conformance suite tests: our own core as the action node uses it. It pins what the
 * server lists and calls every tool of it. The suite gives the address as the last argument.
 */
interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
}

const SETTINGS = { timeoutSeconds: 20, responseBytes: 1_048_576, listAgeSeconds: 0, compareEveryCall: false };

async function main(): Promise<void> {
  const endpoint = process.argv.at(-1) ?? '';
  const log = { warn: console.error, debug: () => undefined };
  const server = new ToolServer(
    serverAccess(await credentialFor(endpoint)),
    SETTINGS,
    log,
    new ListingCache(),
  );
  const { signal } = new AbortController();
  try {
    const { identity, tools } = await server.listing(signal);
    if (tools.length === 0) return;
    const allowlist = parseAllowlist({
      server: identityText(identity),
      tools: tools.map(({ descriptor, pin }) => pinText({ name: descriptor.name, pin })),
    });
    for (const { descriptor } of tools) {
      const args = descriptor.name === 'add_numbers' ? { a: 2, b: 3 } : {};
      await server.call(allowlist, descriptor.name, args, signal);
    }
  } finally {
    await server.close();
  }
}

async function credentialFor(endpoint: string): Promise<ServerCredential> {
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
  const common = { endpoint, allowedNetworks: 'loopback' };
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  if (clientId === undefined) return { ...common, authentication: 'none' };
  const issuer = process.env['EXPECTED_ISSUER'] ?? (await issuerOf(endpoint));
  if (clientSecret !== undefined) {
    return { ...common, authentication: 'clientCredentials', clientId, clientSecret, issuer };
  }
  const algorithm = context.signing_algorithm;
  return { ...common, authentication: 'privateKeyJwt', clientId, privateKey, algorithm, issuer };
}

/** An operator knows the issuer; the suite makes one up and tells it to nobody but those who ask. */
async function issuerOf(endpoint: string): Promise<string> {
  const answer = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', endpoint));
  const { authorization_servers: [issuer = ''] = [] } = (await answer.json()) as {
    authorization_servers?: string[];
  };
  return issuer;
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
