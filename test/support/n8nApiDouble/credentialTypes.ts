import type { Json } from './store';

const text = { type: 'string' };

/** JSON Schemas as n8n 1.100.1 makes them of the pack's credential types, and of one that it brings along. */
export const CREDENTIAL_TYPES: Readonly<Record<string, Json>> = {
  mcpConsumersApi: closed({ consumers: { type: 'fixedCollection' }, consumersJson: text }, []),
  mcpUpstreamApi: closed(
    {
      baseUrl: text,
      authentication: {
        type: 'string',
        enum: ['basic', 'bearer', 'bigbluebutton', 'header', 'none', 'query', 'body', 'session', 'yourls'],
      },
      name: text,
      secret: text,
      settings: text,
      consumerSecrets: text,
      testPath: text,
    },
    ['baseUrl'],
  ),
  mcpS3Api: closed(
    {
      ...{ endpoint: text, region: text, pathStyle: { type: 'boolean' } },
      ...{ accessKeyId: text, secretAccessKey: text, locations: text },
    },
    ['endpoint', 'accessKeyId', 'secretAccessKey', 'locations'],
  ),
  mcpDatabaseApi: closed(
    {
      dialect: { type: 'string', enum: ['mariadb', 'postgresql'] },
      ...{ host: text, port: { type: 'number' }, database: text, user: text, password: text },
      tls: { type: 'string', enum: ['disable', 'verify'] },
      ...{ caPem: text, settings: text },
    },
    ['host', 'database', 'user', 'password'],
  ),
  mcpAllowlistClientApi: closed(
    {
      endpoint: text,
      transport: { type: 'string', enum: ['auto', 'sse', 'httpStreamable'] },
      authentication: {
        type: 'string',
        enum: ['bearer', 'header', 'none', 'clientCredentials', 'privateKeyJwt', 'headers'],
      },
      token: text,
      headerName: text,
      headerSecret: text,
      secretHeaders: text,
      issuer: text,
      clientId: text,
      clientSecret: text,
      privateKey: text,
      algorithm: {
        type: 'string',
        enum: ['ES256', 'ES384', 'EdDSA', 'PS256', 'RS256', 'RS384', 'RS512'],
      },
      scope: text,
      allowedNetworks: text,
    },
    ['endpoint'],
  ),
  httpHeaderAuth: closed({ name: text, value: text, useCustomAuth: { type: 'notice' } }, []),
};

function closed(properties: Json, required: readonly string[]): Json {
  return { additionalProperties: false, type: 'object', properties, required };
}
