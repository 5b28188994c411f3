import { stringify } from 'yaml';
import { environmentReference, type ClientFormat } from './connection';

/**
 * The part `mcp_servers` of `~/.hermes/config.yaml`.
 *
 * Source: `website/docs/reference/mcp-config-reference.md` of NousResearch/hermes-agent (`url`, `headers`,
 * `tools.include` of exact names, `tools.resources` and `tools.prompts`; Streamable HTTP unless `transport: sse`;
 * `${env:NAME}` and `${NAME}` in any text, from `~/.hermes/.env` or the environment, and as text when it is unset).
 */
export const hermes: ClientFormat = {
  consumer: 'web-app-hermes',
  reference: environmentReference,
  render: (connections, secretOf) => ({
    mcp_servers: Object.fromEntries(
      connections.map((connection) => [
        connection.application_id,
        {
          url: connection.endpoint,
          headers: { Authorization: `Bearer ${secretOf(connection)}` },
          tools: { include: connection.toolNames, resources: false, prompts: false },
        },
      ]),
    ),
  }),
  text: (configuration) => stringify(configuration, { lineWidth: 0 }),
};
