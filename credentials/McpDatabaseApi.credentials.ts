import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

/** Tested by the MCP Named Query Tool, which checks that the user can only read. */
export class McpDatabaseApi implements ICredentialType {
  name = 'mcpDatabaseApi';

  displayName = 'MCP Database API';

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-mcp-curated#database-credential';

  icon: Icon = { light: 'file:../icons/mcp-curated.svg', dark: 'file:../icons/mcp-curated.dark.svg' };

  properties: INodeProperties[] = [
    {
      displayName: 'Dialect',
      name: 'dialect',
      type: 'options',
      default: 'postgresql',
      options: [
        { name: 'MariaDB', value: 'mariadb' },
        { name: 'PostgreSQL', value: 'postgresql' },
      ],
    },
    {
      displayName: 'Host',
      name: 'host',
      type: 'string',
      default: '',
      placeholder: 'db.example.com',
      required: true,
    },
    {
      displayName: 'Port',
      name: 'port',
      type: 'number',
      default: 5432,
      description: 'Usually 5432 for PostgreSQL and 3306 for MariaDB',
    },
    {
      displayName: 'Database',
      name: 'database',
      type: 'string',
      default: '',
      required: true,
    },
    {
      displayName: 'User',
      name: 'user',
      type: 'string',
      default: '',
      required: true,
      description:
        'A user with SELECT on what the tools return and nothing else; one that can write or owns tables is refused',
    },
    {
      displayName: 'Password',
      name: 'password',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
    },
    {
      displayName: 'TLS',
      name: 'tls',
      type: 'options',
      default: 'verify',
      options: [
        {
          name: 'Disable',
          value: 'disable',
          description: 'For a server on the same machine or in a network of its own',
        },
        { name: 'Verify', value: 'verify', description: 'Encrypted, with a certificate for the host name' },
      ],
    },
    // No displayOptions: n8n 1.100.1 makes of them a schema under which only one of the choices could be created by API.
    {
      displayName: 'CA Certificate',
      name: 'caPem',
      type: 'string',
      typeOptions: { rows: 4 },
      default: '',
      description:
        'PEM certificate of the authority that signed that of the server, where it is one of your own',
    },
    {
      displayName: 'Settings',
      name: 'settings',
      type: 'string',
      typeOptions: { rows: 4 },
      default: '',
      placeholder: 'sample_columns = public.orders.id, public.orders.state',
      description:
        'What a contract needs to know besides, one "name = value" per line; the contract says which',
    },
  ];
}
