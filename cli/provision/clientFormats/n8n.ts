import { NO_REFERENCE, type ClientFormat } from './connection';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * For our own client nodes: the data of a credential `mcpAllowlistClientApi` (`credentials/McpAllowlistClientApi`), and
 * the server and the pins of the node's parameters, so that nothing has to be reviewed again that the contract pins.
 * The credential may reach loopback only where the endpoint is there; another internal network is for the operator to
 * name in `allowedNetworks`.
 */
export const n8n: ClientFormat = {
  consumer: 'web-app-n8n',
  reference: NO_REFERENCE,
  render: (connections, secretOf) => ({
    clients: connections.map((connection) => ({
      credential: {
        name: connection.managedName,
        type: 'mcpAllowlistClientApi',
        data: {
          endpoint: connection.endpoint,
          transport: 'httpStreamable',
          authentication: 'bearer',
          token: secretOf(connection),
          allowedNetworks: LOOPBACK.has(new URL(connection.endpoint).hostname) ? 'loopback' : '',
        },
      },
      server: connection.server,
      tools: connection.tools,
      catalogue_pin: connection.catalogue_pin,
    })),
  }),
};
