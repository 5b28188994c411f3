import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

/** Tested by the MCP S3 Read Tool, which signs as the tools do. */
export class McpS3Api implements ICredentialType {
  name = 'mcpS3Api';

  displayName = 'MCP S3 API';

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-mcp-curated#s3-credential';

  icon: Icon = { light: 'file:../icons/mcp-curated.svg', dark: 'file:../icons/mcp-curated.dark.svg' };

  properties: INodeProperties[] = [
    {
      displayName: 'Endpoint',
      name: 'endpoint',
      type: 'string',
      default: '',
      placeholder: 'https://s3.example.com',
      required: true,
      description: 'Origin of the S3 API, without a path',
    },
    {
      displayName: 'Region',
      name: 'region',
      type: 'string',
      default: 'us-east-1',
      description: 'Region that requests are signed for; us-east-1 for most servers of your own',
    },
    {
      displayName: 'Path Style',
      name: 'pathStyle',
      type: 'boolean',
      default: true,
      description: 'Whether the bucket is the first part of the path instead of a part of the host name',
    },
    {
      displayName: 'Access Key ID',
      name: 'accessKeyId',
      type: 'string',
      default: '',
      required: true,
      description: 'Of a dedicated identity that may list and get below the locations and nothing else',
    },
    {
      displayName: 'Secret Access Key',
      name: 'secretAccessKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
    },
    {
      displayName: 'Locations',
      name: 'locations',
      type: 'string',
      typeOptions: { rows: 4 },
      default: '',
      placeholder: 'documents/reports',
      required: true,
      description:
        'What can be listed and read: one bucket/prefix per line. Nothing outside of them can be reached.',
    },
  ];
}
