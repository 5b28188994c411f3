import { z } from 'zod';

const count = z.int().min(0);
const named = <T extends z.ZodType>(value: T) => z.record(z.string(), value);
const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] as const;
const type = z.enum(TYPES);

const schema: z.ZodType = z.lazy(() => dialectSchema);

const regularExpression = z.string().refine((source) => {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}, 'must be a regular expression');

/**
 * The part of JSON Schema 2020-12 in which our own tools are described. Closed: a misspelled keyword would otherwise be
 * an unchecked one. References stay inside the schema, and there is no `format`, since it checks nothing by itself.
 */
const schemaObject = z.strictObject({
  $ref: z
    .string()
    .regex(/^#\/\$defs\/[A-Za-z0-9_]+$/, 'must point to #/$defs')
    .optional(),
  $defs: named(schema).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  examples: z.array(z.unknown()).optional(),
  type: z.union([type, z.array(type).min(1)]).optional(),
  enum: z.array(z.unknown()).min(1).optional(),
  const: z.unknown().optional(),
  minLength: count.optional(),
  maxLength: count.optional(),
  pattern: regularExpression.optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
  multipleOf: z.number().positive().optional(),
  properties: named(schema).optional(),
  patternProperties: named(schema).optional(),
  additionalProperties: z.union([z.boolean(), schema]).optional(),
  required: z.array(z.string()).optional(),
  minProperties: count.optional(),
  maxProperties: count.optional(),
  items: schema.optional(),
  prefixItems: z.array(schema).min(1).optional(),
  minItems: count.optional(),
  maxItems: count.optional(),
  uniqueItems: z.boolean().optional(),
  anyOf: z.array(schema).min(1).optional(),
  oneOf: z.array(schema).min(1).optional(),
  allOf: z.array(schema).min(1).optional(),
});

/** Keywords by the types that they say something about; on another type they would check nothing. */
const APPLIES_TO: Record<string, readonly string[]> = {
  minLength: ['string'],
  maxLength: ['string'],
  pattern: ['string'],
  minimum: ['integer', 'number'],
  maximum: ['integer', 'number'],
  exclusiveMinimum: ['integer', 'number'],
  exclusiveMaximum: ['integer', 'number'],
  multipleOf: ['integer', 'number'],
  properties: ['object'],
  patternProperties: ['object'],
  additionalProperties: ['object'],
  required: ['object'],
  minProperties: ['object'],
  maxProperties: ['object'],
  items: ['array'],
  prefixItems: ['array'],
  minItems: ['array'],
  maxItems: ['array'],
  uniqueItems: ['array'],
};

export const dialectSchema: z.ZodType = schemaObject.superRefine((given, context) => {
  const types: readonly string[] = [given.type ?? []].flat();
  for (const [keyword, applicable] of Object.entries(APPLIES_TO)) {
    if (!(keyword in given) || applicable.some((name) => types.includes(name))) continue;
    const message = `needs the type ${applicable.join(' or ')}`;
    context.addIssue({ code: 'custom', path: [keyword], message });
  }
  for (const name of given.required ?? []) {
    if (given.properties && !Object.hasOwn(given.properties, name)) {
      context.addIssue({ code: 'custom', path: ['required'], message: `${name} is no property` });
    }
  }
});
