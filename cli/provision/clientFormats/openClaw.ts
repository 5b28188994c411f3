import type { ClientFormat } from './connection';

/** Other names are not substituted. */
const SUBSTITUTED = /^[A-Z_][A-Z0-9_]*$/;

/**
 * The part `mcp.servers` of `~/.openclaw/openclaw.json`; each value is also what `openclaw mcp set <name> '<json>'`
 * takes.
 *
 * Sources, openclaw/openclaw: `docs/gateway/config-extensions.md` (`url`, `transport: streamable-http`, `headers` with
 * `${NAME}`, `toolFilter.include` of exact names); `docs/cli/mcp/transports.md` (`transport` left out means SSE);
 * `docs.openclaw.ai/gateway/configuration/environment-variables` (only upper-case names are substituted, in any text).
 * SecretRef objects are for fields that say so, and headers are none of them.
 */
export const openClaw: ClientFormat = {
  consumer: 'web-app-openclaw',
  reference: (place) =>
    place.kind === 'env' && SUBSTITUTED.test(place.name) ? `\${${place.name}}` : undefined,
  render: (connections, secretOf) => ({
    mcp: {
      servers: Object.fromEntries(
        connections.map((connection) => [
          connection.application_id,
          {
            url: connection.endpoint,
            transport: 'streamable-http',
            headers: { Authorization: `Bearer ${secretOf(connection)}` },
            toolFilter: { include: connection.toolNames },
          },
        ]),
      ),
    },
  }),
};
