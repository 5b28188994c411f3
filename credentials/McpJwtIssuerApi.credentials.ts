import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

export class McpJwtIssuerApi implements ICredentialType {
  name = 'mcpJwtIssuerApi';

  displayName = 'MCP JWT Issuer API';

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-mcp-curated#tokens-of-an-issuer';

  icon: Icon = { light: 'file:../icons/mcp-curated.svg', dark: 'file:../icons/mcp-curated.dark.svg' };

  // No displayOptions: n8n 1.100.1 makes of them a schema under which only one of the kinds could be created by API.
  properties: INodeProperties[] = [
    {
      displayName: 'Issuer',
      name: 'issuer',
      type: 'string',
      default: '',
      placeholder: 'https://login.example.com/realms/tools',
      required: true,
      description: 'The claim iss of every token, character by character',
    },
    {
      displayName: 'Audience',
      name: 'audience',
      type: 'string',
      default: '',
      placeholder: 'https://n8n.example.com/mcp/web-app-example',
      required: true,
      description: 'What the claim aud has to name. Several are separated by commas; one of them is enough.',
    },
    {
      displayName: 'JWKS Address',
      name: 'jwksUrl',
      type: 'string',
      default: '',
      placeholder: 'https://login.example.com/realms/tools/protocol/openid-connect/certs',
      description:
        'Where the issuer publishes its keys. This address alone is asked, redirects are refused. Leave it empty where the keys stand below.',
    },
    {
      displayName: 'Public Keys',
      name: 'publicKeys',
      type: 'string',
      typeOptions: { rows: 4 },
      default: '',
      placeholder: '-----BEGIN PUBLIC KEY-----',
      description: 'Instead of an address: public keys or certificates in PEM, or a JWK set',
    },
    {
      displayName: 'Algorithms',
      name: 'algorithms',
      type: 'string',
      default: 'RS256, ES256',
      description:
        'With which tokens may be signed: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519',
    },
    {
      displayName: 'Clock Skew',
      name: 'clockSkewSeconds',
      type: 'number',
      typeOptions: { minValue: 0, maxValue: 300 },
      default: 30,
      description: 'Seconds by which the clocks of the issuer and of n8n may differ',
    },
    {
      displayName: 'Consumer Claim',
      name: 'consumerClaim',
      type: 'string',
      default: 'client_id',
      placeholder: 'azp',
      description:
        'The claim that names the consumer. Dots lead into objects. Its value has to be an application ID such as web-app-openwebui, unless it stands in Consumers.',
    },
    {
      displayName: 'Consumers',
      name: 'consumers',
      type: 'string',
      typeOptions: { rows: 4 },
      default: '',
      placeholder: '{"<value of the claim>": {"id": "web-app-openwebui", "requestsPerMinute": 60}}',
      description:
        'As JSON: the consumer for each value of the claim, where the values are not application IDs. If set, nobody else gets in. Optional for each: tenant, requestsPerMinute, concurrentCalls.',
    },
    {
      displayName: 'Scope Claim',
      name: 'scopeClaim',
      type: 'string',
      default: 'scope',
      placeholder: 'realm_access.roles',
      description: 'The claim whose values grant tools: a text separated by spaces, or a list',
    },
    {
      displayName: 'Tools by Scope',
      name: 'toolScopes',
      type: 'string',
      typeOptions: { rows: 4 },
      default: '',
      placeholder: '{"orders:read": ["find_order", "list_orders"]}',
      required: true,
      description: 'As JSON: the tools that each scope grants. What no scope grants nobody may call.',
    },
    {
      displayName: 'Tenant Claim',
      name: 'tenantClaim',
      type: 'string',
      default: '',
      placeholder: 'tenant',
      description: 'The claim that fills arguments which a contract binds to the tenant',
    },
    {
      displayName: 'Requests per Minute',
      name: 'requestsPerMinute',
      type: 'number',
      typeOptions: { minValue: 0 },
      default: 0,
      description:
        'Most requests of each consumer per minute, lists included, in each process of n8n. 0: no limit of its own.',
    },
    {
      displayName: 'Concurrent Calls',
      name: 'concurrentCalls',
      type: 'number',
      typeOptions: { minValue: 0 },
      default: 0,
      description:
        'Most calls of each consumer at the same time, in each process of n8n. 0: no limit of its own.',
    },
  ];
}
