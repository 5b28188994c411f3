import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

const KINDS = ['bearer', 'header', 'headers', 'clientCredentials', 'privateKeyJwt', 'none'];

/**
 * Shows a field for some kinds of authentication. `hide`, not `show`: of `show` n8n 1.100.1 makes a schema under which
 * its public API could create only one of the kinds.
 */
const onlyFor = (...kinds: string[]) => ({
  hide: { authentication: KINDS.filter((kind) => !kinds.includes(kind)) },
});

export class McpAllowlistClientApi implements ICredentialType {
  name = 'mcpAllowlistClientApi';

  displayName = 'MCP Allowlist Client API';

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-mcp-curated#use-a-foreign-mcp-server';

  icon: Icon = { light: 'file:../icons/mcp-curated.svg', dark: 'file:../icons/mcp-curated.dark.svg' };

  properties: INodeProperties[] = [
    {
      displayName: 'Endpoint',
      name: 'endpoint',
      type: 'string',
      default: '',
      placeholder: 'e.g. https://mcp.example.com/mcp',
      required: true,
      description: 'Address of the MCP server',
    },
    {
      displayName: 'Transport',
      name: 'transport',
      type: 'options',
      default: 'auto',
      options: [
        {
          name: 'Automatic',
          value: 'auto',
          description: 'Streamable HTTP, and SSE where the server knows nothing newer',
        },
        { name: 'SSE', value: 'sse', description: 'The older transport, deprecated since 2025' },
        { name: 'Streamable HTTP', value: 'httpStreamable' },
      ],
    },
    {
      displayName: 'Authentication',
      name: 'authentication',
      type: 'options',
      default: 'bearer',
      options: [
        { name: 'Bearer', value: 'bearer' },
        { name: 'Header', value: 'header' },
        { name: 'None', value: 'none', description: 'For servers that show the same to everybody' },
        { name: 'OAuth2 Client Credentials', value: 'clientCredentials' },
        { name: 'OAuth2 Private Key JWT', value: 'privateKeyJwt' },
        { name: 'Several Headers', value: 'headers' },
      ],
      description: 'How the server learns who is asking',
    },
    {
      displayName: 'Token',
      name: 'token',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      description: 'The bearer, with or without the word Bearer in front',
      displayOptions: onlyFor('bearer'),
    },
    {
      displayName: 'Header Name',
      name: 'headerName',
      type: 'string',
      default: '',
      placeholder: 'e.g. X-API-Key',
      displayOptions: onlyFor('header'),
    },
    {
      displayName: 'Header Value',
      name: 'headerSecret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      displayOptions: onlyFor('header'),
    },
    {
      displayName: 'Headers (JSON)',
      name: 'secretHeaders',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      placeholder: 'e.g. {"X-API-Key": "…", "X-Tenant": "…"}',
      description: 'A JSON object of header names and values',
      displayOptions: onlyFor('headers'),
    },
    {
      displayName: 'Issuer',
      name: 'issuer',
      type: 'string',
      default: '',
      placeholder: 'e.g. https://login.example.com',
      description:
        'The authorization server that may be shown the secret. One that the MCP server names instead is refused.',
      displayOptions: onlyFor('clientCredentials', 'privateKeyJwt'),
    },
    {
      displayName: 'Client ID',
      name: 'clientId',
      type: 'string',
      default: '',
      displayOptions: onlyFor('clientCredentials', 'privateKeyJwt'),
    },
    {
      displayName: 'Client Secret',
      name: 'clientSecret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      displayOptions: onlyFor('clientCredentials'),
    },
    {
      displayName: 'Private Key',
      name: 'privateKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      placeholder: 'e.g. -----BEGIN PRIVATE KEY-----…',
      description: 'PKCS #8 in PEM',
      displayOptions: onlyFor('privateKeyJwt'),
    },
    {
      displayName: 'Algorithm',
      name: 'algorithm',
      type: 'options',
      default: 'RS256',
      options: ['ES256', 'ES384', 'EdDSA', 'PS256', 'RS256', 'RS384', 'RS512'].map((name) => ({
        name,
        value: name,
      })),
      description: 'With which the private key signs',
      displayOptions: onlyFor('privateKeyJwt'),
    },
    {
      displayName: 'Scope',
      name: 'scope',
      type: 'string',
      default: '',
      placeholder: 'e.g. mcp:read',
      description: 'Scopes to ask for, separated by spaces. Empty: those that the server names.',
      displayOptions: onlyFor('clientCredentials', 'privateKeyJwt'),
    },
    {
      displayName: 'Allowed Networks',
      name: 'allowedNetworks',
      type: 'string',
      default: '',
      placeholder: 'e.g. loopback, private, 10.1.0.0/16',
      description:
        'Internal networks in which the server may be, by commas. Empty: only public addresses. Link-local and cloud metadata addresses are never reached.',
    },
  ];
}
