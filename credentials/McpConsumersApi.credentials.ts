import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

export class McpConsumersApi implements ICredentialType {
  name = 'mcpConsumersApi';

  displayName = 'MCP Consumers API';

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-mcp-curated#consumers';

  icon: Icon = { light: 'file:../icons/mcp-curated.svg', dark: 'file:../icons/mcp-curated.dark.svg' };

  properties: INodeProperties[] = [
    {
      displayName: 'Consumers',
      name: 'consumers',
      type: 'fixedCollection',
      typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Consumer' },
      default: { values: [{}] },
      description:
        'Every client that may call the surface, each with a bearer of its own. If nothing can be entered here, this n8n is too old to show the list: use the field below.',
      options: [
        {
          displayName: 'Consumer',
          name: 'values',
          values: [
            {
              displayName: 'Consumer ID',
              name: 'id',
              type: 'string',
              default: '',
              placeholder: 'web-app-openwebui',
              required: true,
              description: 'Application ID of the client, as in the allowed consumers of the contract',
            },
            {
              displayName: 'Token SHA-256',
              name: 'tokenSha256',
              type: 'string',
              default: '',
              description:
                'SHA-256 of the bearer in hex. Prefer it to the token itself: then n8n holds nothing that can be used.',
            },
            {
              displayName: 'Token',
              name: 'token',
              type: 'string',
              typeOptions: { password: true },
              default: '',
              description: 'The bearer itself, where no hash is given',
            },
            {
              displayName: 'Second Token SHA-256',
              name: 'secondTokenSha256',
              type: 'string',
              default: '',
              description: 'SHA-256 of a second bearer that is valid too, while one is being replaced',
            },
            {
              displayName: 'Second Token',
              name: 'secondToken',
              type: 'string',
              typeOptions: { password: true },
              default: '',
              description: 'A second bearer that is valid too, while one is being replaced',
            },
            {
              displayName: 'Tools',
              name: 'tools',
              type: 'string',
              default: '',
              placeholder: 'n8n_list_workflows, n8n_list_executions',
              required: true,
              description: 'Names of the tools that this consumer may list and call, separated by commas',
            },
            {
              displayName: 'Expires At',
              name: 'expiresAt',
              type: 'dateTime',
              default: '',
              description: 'From when on the bearers of this consumer are refused. Empty: never.',
            },
            {
              displayName: 'Tenant',
              name: 'tenant',
              type: 'string',
              default: '',
              description: 'Fills arguments that a contract binds to the tenant',
            },
            {
              displayName: 'Requests per Minute',
              name: 'requestsPerMinute',
              type: 'number',
              typeOptions: { minValue: 0 },
              default: 0,
              description:
                'Most requests of this consumer per minute, lists included, in each process of n8n. 0: no limit of its own.',
            },
            {
              displayName: 'Concurrent Calls',
              name: 'concurrentCalls',
              type: 'number',
              typeOptions: { minValue: 0 },
              default: 0,
              description:
                'Most calls of this consumer at the same time, in each process of n8n. 0: no limit of its own.',
            },
          ],
        },
      ],
    },
    {
      displayName: 'Consumers (JSON)',
      name: 'consumersJson',
      type: 'string',
      typeOptions: { rows: 6 },
      default: '',
      placeholder: '[{"id": "web-app-openwebui", "tokenSha256": "…", "tools": ["find_order"]}]',
      description:
        'The same as a JSON list, for versions of n8n that cannot show the list above. Fields: id, tokenSha256, tools, and optionally secondTokenSha256, expiresAt, tenant, requestsPerMinute, concurrentCalls. Hashes only.',
    },
  ];
}
