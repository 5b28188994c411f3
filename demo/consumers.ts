import { makeBearer } from '../core/server/bearer';

/** One named client of the demo, with a bearer of its own. */
export interface DemoConsumer {
  readonly id: string;
  readonly label: string;
  readonly token: string;
  readonly tokenSha256: string;
}

const CLIENTS = [
  ['client-claude', 'Claude'],
  ['client-cursor', 'Cursor'],
  ['web-app-openwebui', 'Open WebUI'],
  ['client-inspector', 'MCP Inspector'],
] as const;

/** A fresh bearer for each client: when one leaks, one is replaced. n8n only ever gets the hashes. */
export function makeConsumers(): DemoConsumer[] {
  return CLIENTS.map(([id, label]) => {
    const { token, sha256: tokenSha256 } = makeBearer();
    return { id, label, token, tokenSha256 };
  });
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** How to connect each client, as a person would type it. */
export function connectionHelp(endpoint: string, consumers: readonly DemoConsumer[]): string {
  const bearer = (id: string) => consumers.find((consumer) => consumer.id === id)?.token ?? '<bearer>';
  const { hostname } = new URL(endpoint);
  const cursor = {
    mcpServers: { n8n: { url: endpoint, headers: { Authorization: `Bearer ${bearer('client-cursor')}` } } },
  };
  return [
    'Claude Code',
    `  claude mcp add --transport http n8n ${endpoint} --header "Authorization: Bearer ${bearer('client-claude')}"`,
    '',
    'Cursor, in ~/.cursor/mcp.json',
    ...JSON.stringify(cursor, null, 2)
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    'Open WebUI: Admin Settings, External Tools, + (Add Server), type MCP (Streamable HTTP)',
    `  URL ${endpoint}`,
    `  Auth Bearer ${bearer('web-app-openwebui')}`,
    ...(LOOPBACK.has(hostname)
      ? [`  (from a container of Docker Desktop, write host.docker.internal instead of ${hostname})`]
      : []),
    '',
    'MCP Inspector',
    `  npx @modelcontextprotocol/inspector --cli ${endpoint} --transport http --method tools/list --header "Authorization: Bearer ${bearer('client-inspector')}"`,
  ].join('\n');
}
