import type {
  Icon,
  ICredentialDataDecryptedObject,
  ICredentialTestRequest,
  ICredentialType,
  IHttpRequestOptions,
  INodeProperties,
} from 'n8n-workflow';
import { upstreamAccess } from '../core/upstream/access';
import { forTest, type ConsumersUpstreamCredential } from '../core/upstream/consumerSecret';

export class McpUpstreamApi implements ICredentialType {
  name = 'mcpUpstreamApi';

  displayName = 'MCP Upstream API';

  documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-mcp-curated#upstream-credential';

  icon: Icon = { light: 'file:../icons/mcp-curated.svg', dark: 'file:../icons/mcp-curated.dark.svg' };

  properties: INodeProperties[] = [
    {
      displayName: 'Base Address',
      name: 'baseUrl',
      type: 'string',
      default: '',
      placeholder: 'https://app.example.com',
      required: true,
      description: 'Fixed origin of every request, with a path prefix if the application is served under one',
    },
    {
      displayName: 'Authentication',
      name: 'authentication',
      type: 'options',
      default: 'bearer',
      options: [
        { name: 'Basic', value: 'basic' },
        { name: 'Bearer', value: 'bearer' },
        {
          name: 'BigBlueButton Checksum',
          value: 'bigbluebutton',
          description: 'Every request is signed with the shared secret',
        },
        { name: 'Header', value: 'header' },
        {
          name: 'None',
          value: 'none',
          description: 'For upstreams that show public data, or that know only the network',
        },
        { name: 'Query Parameter', value: 'query' },
        {
          name: 'Secret in the Body',
          value: 'body',
          description: 'For upstreams whose contract puts the secret into the body',
        },
        {
          name: 'Session',
          value: 'session',
          description: 'Signs in with name and secret and uses the token that it gets',
        },
        {
          name: 'YOURLS Signature',
          value: 'yourls',
          description: 'Every request is signed with the signature token',
        },
      ],
      description:
        'How the upstream learns who is asking. Use a dedicated identity that can only read what the tools return.',
    },
    // No displayOptions: n8n 1.100.1 makes of them a schema under which only one of the kinds could be created by API.
    {
      displayName: 'Name',
      name: 'name',
      type: 'string',
      default: '',
      placeholder: 'X-API-Key',
      description:
        'Name of the header, user or query parameter. Leave it empty for None, Bearer, a secret in the body and signatures.',
    },
    {
      displayName: 'Secret',
      name: 'secret',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      description: 'Token, header value, password or parameter value. Leave it empty for None.',
    },
    {
      displayName: 'Settings',
      name: 'settings',
      type: 'string',
      typeOptions: { rows: 3 },
      default: '',
      placeholder: 'collections = docs, wiki',
      description:
        'What the application needs besides address and secret, one name = value per line. The catalogue names them for every application.',
    },
    {
      displayName: 'Secrets by Consumer',
      name: 'consumerSecrets',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      placeholder: '{"client-claude": "…", "web-app-openwebui": {"name": "user", "secret": "…"}}',
      description:
        'For data that is private to each user. As JSON: the secret, or name and secret, of every consumer. If set, each call uses the one of its consumer, and a consumer without one reaches nothing; Secret is for the connection test only.',
    },
    {
      displayName: 'Test Path',
      name: 'testPath',
      type: 'string',
      default: '/',
      placeholder: '/api/v1/workflows?limit=1',
      description: 'What the connection test asks for below the base address',
    },
  ];

  authenticate = async (
    credentials: ICredentialDataDecryptedObject,
    options: IHttpRequestOptions,
  ): Promise<IHttpRequestOptions> => {
    const { base, headers, query } = upstreamAccess(
      forTest(credentials as unknown as ConsumersUpstreamCredential),
    );
    // n8n lets a node choose the address: whoever may use the credential must not be able to send it elsewhere.
    if (new URL(options.url, options.baseURL ?? base.href).origin !== base.origin) {
      throw new Error('This credential is for its own base address only.');
    }
    return await Promise.resolve({
      ...options,
      headers: { ...options.headers, ...headers },
      qs: { ...options.qs, ...query },
    });
  };

  test: ICredentialTestRequest = {
    request: {
      baseURL: '={{ $credentials.baseUrl.replace(/\\/+$/, "") }}',
      url: '={{ $credentials.testPath || "/" }}',
      disableFollowRedirect: true,
    },
  };
}
