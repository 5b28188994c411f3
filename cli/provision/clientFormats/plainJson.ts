import { environmentReference, neutralReference, type ClientFormat } from './connection';

/** Every accepted pair of every consumer, for whoever configures a client that is not listed here. */
export const plainJson: ClientFormat = {
  consumer: undefined,
  reference: (place) => environmentReference(place) ?? neutralReference(place),
  render: (connections, secretOf) => ({
    connections: connections.map((connection) => ({
      name: connection.managedName,
      application_id: connection.application_id,
      consumer: connection.consumer,
      transport: 'streamable_http',
      url: connection.endpoint,
      headers: { Authorization: `Bearer ${secretOf(connection)}` },
      server: connection.server,
      tools: connection.tools,
      catalogue_pin: connection.catalogue_pin,
    })),
  }),
};
