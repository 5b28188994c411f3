import type { Operation } from './operation';
import type { JsonSchema, ToolDescriptor } from './pin';

/** What a model sees of an operation. The one place where a contract becomes an MCP tool. */
export function descriptorOf(operation: Operation): ToolDescriptor {
  return {
    name: operation.name,
    title: operation.title,
    description: operation.description.trim(),
    inputSchema: operation.input_schema,
    // A node of n8n answers with text; nobody holds it to a schema.
    ...(operation.request.kind === 'node' ? {} : { outputSchema: outputSchemaOf(operation) }),
    annotations: operation.annotations,
  };
}

/**
 * One record, or the envelope around a list: `{items, returned, truncated, next, …}`. `truncated` and `next` are
 * always there, so that a part of the records is never presented as all of them.
 */
function outputSchemaOf({ response, pagination, output_schema: record }: Operation): JsonSchema {
  if (response.items === null) return record;
  const extra = Object.entries(response.envelope);
  return {
    type: 'object',
    properties: {
      items: { type: 'array', items: record },
      returned: { type: 'integer', description: 'How many records this answer holds.' },
      truncated: { type: 'boolean', description: 'True when upstream has, or may have, more records.' },
      next: {
        type: [pagination.style === 'page' || pagination.style === 'offset' ? 'integer' : 'string', 'null'],
        description:
          pagination.position_argument === null
            ? 'Always null: this tool has no further pages.'
            : `Pass it as ${pagination.position_argument} to read on; null when there is no next page.`,
      },
      ...Object.fromEntries(extra.map(([name, { schema }]) => [name, schema])),
    },
    required: ['items', 'returned', 'truncated', 'next'],
    additionalProperties: false,
  };
}
