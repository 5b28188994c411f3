import type { OperationDefinition } from '../../core/contract/definition';

/** What a new node starts with: a complete operation that a person can edit. */
export const EXAMPLE: OperationDefinition = {
  application_id: 'web-app-example',
  adapter: {
    type: 'openapi_allowlist',
    upstream_api_version: 'v1',
    specification_sha256: `sha256:${'0'.repeat(64)}`,
    authentication: { kind: 'bearer', name: null, secret: 'API token', optional: false },
    test_path: '/api/v1/orders',
  },
  limits: {
    request_bytes: 65_536,
    response_bytes: 1_048_576,
    timeout_seconds: 15,
    concurrent_requests: 4,
    page_size: 50,
    result_items: 200,
    stream_seconds: 60,
  },
  operation: {
    name: 'example_get_order',
    title: 'Get one order',
    description: 'Returns number, state and date of one order. Use it when the order number is known.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input_schema: {
      type: 'object',
      properties: { order_id: { type: 'string', maxLength: 40, description: 'Order number, e.g. A-1007.' } },
      required: ['order_id'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        id: { type: ['string', 'null'] },
        state: { type: ['string', 'null'] },
        date: { type: ['string', 'null'] },
      },
      additionalProperties: false,
    },
    request: {
      kind: 'http',
      method: 'GET',
      path: '/api/v1/orders/{order_id}',
      arguments: { order_id: { in: 'path', as: 'order_id' } },
      bound: {},
      fixed_query: {},
      fixed_headers: {},
    },
    pagination: { style: 'none', size_argument: null, position_argument: null, next: null },
    response: {
      items: null,
      map: null,
      keep: ['id', 'state', 'date'],
      redact: [],
      envelope: {},
      text_characters: 4_000,
      redirect: 'refuse',
    },
    errors: { message: null },
  },
};

export const NOTICE =
  'One operation of a contract. Origin and identity come from the credential; a caller fills declared arguments and nothing else.';
