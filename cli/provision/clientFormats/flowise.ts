import { NO_REFERENCE, type ClientFormat } from './connection';

/**
 * Registry entries of Flowise: each one is the body of a `POST` (or a `PUT` with its id) to
 * `/api/v1/custom-mcp-servers`, after which its `authorize` route reads the tools.
 *
 * Sources, FlowiseAI/Flowise 3.1.x: `packages/server/src/database/entities/CustomMcpServer.ts` (`name`, `serverUrl`,
 * `authType`, `authConfig`); `packages/server/src/services/custom-mcp-servers/index.ts` (`authType` is `NONE` or
 * `CUSTOM_HEADERS`, whose `authConfig.headers` is encrypted at rest; no reference in it is resolved; an address on a
 * private network is refused unless the deny list of Flowise lets it through). Document 003 has the name
 * `<owner>:<application_id>` and the exact tool names that the authorized entry must show.
 */
export const flowise: ClientFormat = {
  consumer: 'web-app-flowise',
  reference: NO_REFERENCE,
  render: (connections, secretOf) => ({
    custom_mcp_servers: connections.map((connection) => ({
      entry: {
        name: connection.managedName,
        serverUrl: connection.endpoint,
        authType: 'CUSTOM_HEADERS',
        authConfig: { headers: { Authorization: `Bearer ${secretOf(connection)}` } },
      },
      expected_tools: connection.toolNames,
    })),
  }),
};
