import type { OperationDefinition } from '../../core/contract/definition';

/** What a new node starts with: a complete operation that a person can edit. */
export const EXAMPLE: OperationDefinition = {
  application_id: 'web-app-example',
  adapter: {
    type: 's3_prefix',
    upstream_api_version: '2006-03-01',
    specification_sha256: `sha256:${'0'.repeat(64)}`,
    authentication: { kind: 's3', name: 'Access key id', secret: 'Secret access key', optional: false },
  },
  limits: {
    request_bytes: 65_536,
    response_bytes: 262_144,
    timeout_seconds: 15,
    concurrent_requests: 4,
    page_size: 100,
    result_items: 200,
    stream_seconds: 60,
  },
  operation: {
    name: 'example_get_object',
    title: 'Get one object',
    description:
      'Returns text or JSON of one object below the declared prefixes. Use it when the key is known.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input_schema: {
      type: 'object',
      properties: {
        key: { type: 'string', minLength: 1, maxLength: 1_024, description: 'Key, e.g. reports/2026.csv.' },
      },
      required: ['key'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        key: { type: 'string' },
        size: { type: ['integer', 'null'] },
        content_type: { type: ['string', 'null'] },
        content: { type: 'string' },
        text: { type: ['string', 'null'] },
        json: { description: 'The content where it is JSON.' },
      },
      additionalProperties: false,
    },
    request: { kind: 's3', action: 'get', arguments: { key: { in: 'template' } }, bound: {} },
    pagination: { style: 'none', size_argument: null, position_argument: null, next: null },
    response: {
      items: null,
      map: null,
      keep: ['key', 'size', 'content_type', 'content', 'text', 'json'],
      redact: [],
      envelope: {},
      text_characters: 262_144,
      redirect: 'refuse',
    },
    errors: { message: null },
  },
};

export const NOTICE =
  'One operation of a contract on an object store. Endpoint, identity and the prefixes that can be reached come from the credential; a caller fills declared arguments and nothing else.';
