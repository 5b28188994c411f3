import type { OperationDefinition } from '../../core/contract/definition';

/** What a new node starts with: a complete operation that a person can edit. */
export const EXAMPLE: OperationDefinition = {
  application_id: 'web-app-example',
  adapter: {
    type: 'named_query',
    dialect: 'postgresql',
    upstream_api_version: '15',
    specification_sha256: `sha256:${'0'.repeat(64)}`,
    authentication: { kind: 'database', name: 'User', secret: 'Password', optional: false },
  },
  limits: {
    request_bytes: 65_536,
    response_bytes: 262_144,
    timeout_seconds: 10,
    concurrent_requests: 4,
    page_size: 50,
    result_items: 200,
    stream_seconds: 60,
  },
  operation: {
    name: 'example_list_orders',
    title: 'List orders',
    description: 'Lists orders of one state, newest first, with number and date. At most 50 per call.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input_schema: {
      type: 'object',
      properties: {
        state: { type: 'string', enum: ['open', 'paid', 'sent'], description: 'State of the orders.' },
        limit: { type: 'integer', minimum: 1, maximum: 50, description: 'How many; 50 when left out.' },
      },
      required: ['state'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: { number: { type: 'string' }, created_at: { type: ['string', 'null'] } },
      additionalProperties: false,
    },
    request: {
      kind: 'sql',
      statement:
        'SELECT number, created_at FROM shop.orders WHERE state = :state ORDER BY created_at DESC, number',
      parameters: ['state'],
      arguments: { state: { in: 'template' }, limit: { in: 'result', match: 'limit', at: [] } },
      bound: {},
    },
    pagination: { style: 'none', size_argument: 'limit', position_argument: null, next: null },
    response: {
      items: '/rows',
      map: null,
      keep: ['number', 'created_at'],
      redact: [],
      envelope: {},
      text_characters: 4_000,
      redirect: 'refuse',
    },
    errors: { message: null },
  },
};

export const NOTICE =
  'One reviewed SELECT of a contract. Server and user come from the credential, and the user has to be one that can only read; what a caller sends becomes parameters and never text of the statement.';
