import type { INodeProperties } from 'n8n-workflow';

const byHand = { show: { serve: ['names'] } };

const limits: INodeProperties = {
  displayName: 'Limits',
  name: 'limits',
  type: 'collection',
  default: {
    request_bytes: 65_536,
    response_bytes: 1_048_576,
    timeout_seconds: 30,
    concurrent_requests: 4,
    page_size: 100,
    result_items: 500,
    stream_seconds: 300,
  },
  description: 'All seven are needed; a limit that is removed stops the surface',
  displayOptions: byHand,
  options: [
    ['Concurrent Requests', 'concurrent_requests', 'Calls that one n8n process runs at the same time'],
    ['Page Size', 'page_size', 'Most records asked for at once'],
    ['Request Bytes', 'request_bytes', 'Largest request body in bytes'],
    ['Response Bytes', 'response_bytes', 'Largest result in bytes'],
    ['Result Items', 'result_items', 'Most records in one result'],
    ['Stream Seconds', 'stream_seconds', 'Seconds until a streamed answer is ended'],
    ['Timeout Seconds', 'timeout_seconds', 'Seconds until a call is ended'],
  ].map(([displayName = '', name = '', description = '']): INodeProperties => ({
    displayName,
    name,
    description,
    type: 'number',
    typeOptions: { minValue: 1 },
    default: 1,
  })),
};

export const triggerProperties: INodeProperties[] = [
  {
    displayName: 'HTTP Method',
    name: 'httpMethod',
    type: 'hidden',
    // n8n finds the allowed origins of a preflight by path and this parameter.
    default: 'POST',
  },
  {
    displayName: 'Path',
    name: 'path',
    type: 'string',
    noDataExpression: true,
    default: '',
    placeholder: 'web-app-example',
    required: true,
    description: 'Last part of the endpoint address, after /mcp/',
  },
  {
    displayName: 'Authentication',
    name: 'authentication',
    type: 'options',
    noDataExpression: true,
    default: 'consumers',
    description: 'How a caller shows who it is. There is no way to serve anybody without it.',
    options: [
      {
        name: 'Bearers of Named Consumers',
        value: 'consumers',
        description: 'One bearer per consumer, handed out by you',
      },
      {
        name: 'Tokens of an Issuer (JWT)',
        value: 'jwt',
        description: 'Signed tokens of an authorization server, whose scopes say which tools they grant',
      },
    ],
  },
  {
    displayName: 'Serve',
    name: 'serve',
    type: 'options',
    noDataExpression: true,
    default: 'contract',
    description: 'What says which of the connected tools are served. Being connected alone serves nothing.',
    options: [
      {
        name: 'Pinned Contract',
        value: 'contract',
        description: 'The contract of a rendered workflow: exact tools, pins, consumers and limits',
      },
      { name: 'Listed Tool Names', value: 'names', description: 'Exact names of connected tools' },
    ],
  },
  {
    displayName: 'Surface',
    name: 'surface',
    type: 'json',
    noDataExpression: true,
    default: '',
    required: true,
    description: 'The pinned surface as rendered from contract.yml. Change the contract and render it again.',
    displayOptions: { show: { serve: ['contract'] } },
  },
  {
    displayName: 'Application ID',
    name: 'applicationId',
    type: 'string',
    noDataExpression: true,
    default: '',
    placeholder: 'web-app-example',
    required: true,
    description: 'Names this server to clients and in the audit event',
    displayOptions: byHand,
  },
  {
    displayName: 'Tool Names',
    name: 'toolNames',
    type: 'string',
    noDataExpression: true,
    typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Tool Name' },
    default: [],
    placeholder: 'find_order',
    required: true,
    description: 'Exact names of the tools to serve, in the order in which they are listed',
    displayOptions: byHand,
  },
  limits,
  {
    displayName: 'Record Executions',
    name: 'recording',
    type: 'options',
    noDataExpression: true,
    default: 'refusals',
    description:
      'Which audit events leave the main output as an execution. Every event is a log line in any case. Saving an execution costs more than the call itself.',
    options: [
      { name: 'All', value: 'all', description: 'Every call of an identified consumer' },
      { name: 'None', value: 'none', description: 'Log lines only' },
      { name: 'Refusals and Errors', value: 'refusals', description: 'Calls that were refused or failed' },
    ],
  },
  {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add option',
    // n8n answers a preflight by itself, and lets the page of any origin pass where no list is saved.
    default: { allowedOrigins: 'none' },
    options: [
      {
        displayName: 'Allowed Hosts',
        name: 'allowedHosts',
        type: 'string',
        default: '',
        placeholder: 'mcp.example.com, n8n.internal',
        description:
          'Comma-separated host names under which this endpoint may be called. Empty: any name, except that a call over the loopback address must be for localhost or for the address that n8n is configured with.',
      },
      {
        displayName: 'Allowed Origins (CORS)',
        name: 'allowedOrigins',
        type: 'string',
        default: '',
        placeholder: 'https://chat.example.com',
        description:
          'Comma-separated web origins whose pages may call this endpoint, without spaces. Programs send no origin and are not affected. The word none: no page may.',
      },
      {
        displayName: 'Public Address',
        name: 'publicAddress',
        type: 'string',
        default: '',
        placeholder: 'https://tools.example.com/mcp/web-app-example',
        description:
          'Address of this endpoint as clients know it, for tokens of an issuer. Empty: as n8n is told to be reached (WEBHOOK_URL).',
      },
    ],
  },
];
