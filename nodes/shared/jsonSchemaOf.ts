import { z } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';
import type { JsonSchema } from '../../core/contract/pin';

/**
 * The input schema of a native n8n tool as JSON Schema. Hosts give zod 3 schemas, newer ones zod 4 or JSON Schema.
 * A schema that nobody can read becomes an object without declared arguments, never one that takes everything.
 */
export function jsonSchemaOf(schema: unknown): JsonSchema {
  return withTypes(converted(schema));
}

function converted(schema: unknown): JsonSchema {
  if (schema === null || typeof schema !== 'object') return {};
  if ('_zod' in schema) return z.toJSONSchema(schema as never, { io: 'input', unrepresentable: 'any' });
  if ('_def' in schema) {
    return zodToJsonSchema(schema as never, { effectStrategy: 'input', $refStrategy: 'none' });
  }
  return { ...(schema as JsonSchema) };
}

const DESCRIBED_BY = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'];

/**
 * MCP wants an object at the root, and several clients refuse a property that has no type: n8n's "JSON" inputs
 * arrive as empty schemas.
 */
function withTypes(schema: JsonSchema): JsonSchema {
  const { $schema: _dialect, ...root } = schema;
  const properties = (root['properties'] ?? {}) as Record<string, unknown>;
  return {
    ...root,
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, typed(property)]),
    ),
  };
}

function typed(property: unknown): JsonSchema {
  const schema = (property !== null && typeof property === 'object' ? property : {}) as JsonSchema;
  return DESCRIBED_BY.some((keyword) => keyword in schema) ? schema : { ...schema, type: 'object' };
}
