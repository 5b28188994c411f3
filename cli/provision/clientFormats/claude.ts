import type { ClientFormat } from './connection';

/**
 * `.mcp.json` of Claude Code; each value of `mcpServers` is also what `claude mcp add-json <name> '<json>'` takes.
 *
 * Source: code.claude.com/docs/en/mcp ("Environment variable expansion in .mcp.json": `${VAR}` in `command`, `args`,
 * `env`, `url` and `headers`; an unset one arrives as the text). Names hold letters, digits, `-` and `_`.
 *
 * `claude_desktop_config.json` is not rendered: Claude Desktop reads only servers that it starts itself (stdio) from it,
 * and adds remote ones under Settings, Connectors.
 */
export const claude: ClientFormat = {
  consumer: 'client-claude',
  reference: (place) => (place.kind === 'env' ? `\${${place.name}}` : undefined),
  render: (connections, secretOf) => ({
    mcpServers: Object.fromEntries(
      connections.map((connection) => [
        connection.application_id,
        {
          type: 'http',
          url: connection.endpoint,
          headers: { Authorization: `Bearer ${secretOf(connection)}` },
        },
      ]),
    ),
  }),
};
