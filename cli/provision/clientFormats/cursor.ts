import { environmentReference, type ClientFormat } from './connection';

/**
 * `~/.cursor/mcp.json`, or `.cursor/mcp.json` of a project.
 *
 * Source: cursor.com/docs/mcp ("Config interpolation": `${env:NAME}` in `command`, `args`, `env`, `url` and `headers`).
 */
export const cursor: ClientFormat = {
  consumer: 'client-cursor',
  reference: environmentReference,
  render: (connections, secretOf) => ({
    mcpServers: Object.fromEntries(
      connections.map((connection) => [
        connection.application_id,
        { url: connection.endpoint, headers: { Authorization: `Bearer ${secretOf(connection)}` } },
      ]),
    ),
  }),
};
