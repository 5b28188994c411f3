import fc from 'fast-check';
import { modelSchema, unsupportedSchema } from '../../../core/client/modelSchema';
import { canonicalJson } from '../../../core/contract/canonical';
import { pinOf, type JsonSchema } from '../../../core/contract/pin';
import { withoutAdditions } from './schemaOriginal';

const object = (properties: object, more: object = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
});

/** Every array of a schema, by what stands at its place. */
function arraysIn(schema: unknown): object[] {
  if (schema === null || typeof schema !== 'object') return [];
  const below = Object.values(schema).flatMap(arraysIn);
  const { type } = schema as { type?: unknown };
  return [type].flat().includes('array') ? [schema, ...below] : below;
}

const SCHEMAS: readonly (readonly [string, JsonSchema])[] = [
  ['bare (C015)', { type: 'object' }],
  ['empty', {}],
  [
    'plain',
    object({ a: { type: 'string', description: 'x', default: 'y', examples: ['z'] } }, { required: ['a'] }),
  ],
  ['closed', object({}, { additionalProperties: false })],
  [
    '$ref and $defs (C009)',
    object({ owner: { $ref: '#/$defs/Owner' } }, { $defs: { Owner: object({ mail: { type: 'string' } }) } }),
  ],
  [
    'definitions of older drafts',
    object({ owner: { $ref: '#/definitions/Owner' } }, { definitions: { Owner: object({}) } }),
  ],
  [
    'recursion',
    object(
      { tree: { $ref: '#/$defs/Node' } },
      { $defs: { Node: object({ kids: { type: 'array', items: { $ref: '#/$defs/Node' } } }) } },
    ),
  ],
  ['recursion at the root', object({ child: { $ref: '#' } })],
  [
    'arrays without items deep in anyOf (C013)',
    object({
      meta: { type: 'array', items: object({ value: { anyOf: [{ type: 'string' }, { type: 'array' }] } }) },
    }),
  ],
  ['nullable lists', object({ a: { type: ['array', 'null'] }, b: { type: ['string', 'null'] } })],
  [
    'oneOf, allOf, not, conditions',
    object({
      a: {
        oneOf: [{ type: 'array' }, { not: { type: 'array' } }],
        allOf: [{ if: { type: 'array' }, then: true, else: false }],
      },
    }),
  ],
  [
    'keywords of 2020-12',
    object(
      {
        a: {
          type: 'array',
          prefixItems: [{ type: 'array' }],
          unevaluatedItems: false,
          contains: { type: 'array' },
          minContains: 2,
        },
      },
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        unevaluatedProperties: false,
        dependentRequired: { a: ['b'] },
        dependentSchemas: { a: object({ c: { type: 'array' } }) },
        propertyNames: { pattern: '^a' },
        patternProperties: { '^x': { type: 'array' } },
      },
    ),
  ],
  [
    'items as a list',
    object({ a: { type: 'array', items: [{ type: 'array' }], additionalItems: { type: 'array' } } }),
  ],
  [
    'data that looks like a schema',
    object({
      a: {
        type: 'object',
        default: { type: 'array' },
        const: { type: 'array' },
        enum: [{ type: 'array' }],
        examples: [{ type: 'array' }],
      },
    }),
  ],
  [
    'arguments named like keywords',
    object({
      type: { type: 'string' },
      properties: { type: 'array' },
      items: { type: 'array' },
      $ref: { type: 'string' },
      anyOf: { type: 'boolean' },
    }),
  ],
  ['unknown keywords', object({ a: { type: 'string', 'x-widget': { type: 'array' }, format: 'colour' } })],
  ['true and false', object({ a: true, b: false }, { additionalProperties: true })],
  [
    'argument named __proto__',
    JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"array"},"a":{"type":"string"}}}',
    ) as JsonSchema,
  ],
];

describe('the schema that a model is shown', () => {
  it.each(SCHEMAS)(
    'says all that the server says, and more only what JSON Schema means anyway: %s',
    (_what, schema) => {
      const before = canonicalJson(schema);
      const shown = modelSchema(schema);
      expect(canonicalJson(withoutAdditions(shown, schema))).toBe(before);
      expect(canonicalJson(schema)).toBe(before);
      expect(shown).toMatchObject({ type: 'object', properties: expect.any(Object) as object });
      expect(unsupportedSchema({ inputSchema: schema })).toBeUndefined();
    },
  );

  it('has an element schema for every array, however deep (C013)', () => {
    for (const [what, schema] of SCHEMAS) {
      if (what === 'data that looks like a schema' || what === 'unknown keywords') continue;
      for (const array of arraysIn(modelSchema(schema))) {
        if (!('prefixItems' in array)) expect(array).toHaveProperty('items');
      }
    }
    const [, deep] = SCHEMAS.find(([what]) => what.includes('C013')) ?? ['', {}];
    expect(modelSchema(deep)).toEqual(
      object({
        meta: {
          type: 'array',
          items: object({ value: { anyOf: [{ type: 'string' }, { type: 'array', items: {} }] } }),
        },
      }),
    );
  });

  it('changes no data: defaults, constants and examples stay what they are', () => {
    const [, schema] = SCHEMAS.find(([what]) => what.startsWith('data')) ?? ['', {}];
    expect(modelSchema(schema)).toEqual(schema);
  });

  it('leaves the pin, which is that of the original', () => {
    const tool = { name: 'find_products', inputSchema: object({ meta: { type: 'array' } }) };
    const before = pinOf(tool);
    modelSchema(tool.inputSchema);
    expect(pinOf(tool)).toBe(before);
    expect(pinOf({ ...tool, inputSchema: modelSchema(tool.inputSchema) })).not.toBe(before);
  });

  it('is lossless for any schema', () => {
    const schemaOf = (levels: number): fc.Arbitrary<JsonSchema> => {
      const below = levels === 0 ? fc.constant<JsonSchema>({}) : schemaOf(levels - 1);
      const named = fc.dictionary(fc.string({ minLength: 1, maxLength: 6 }), below, { maxKeys: 2 });
      const items: fc.Arbitrary<unknown> = fc.oneof(below, fc.boolean(), fc.array(below, { maxLength: 2 }));
      return fc.record(
        {
          type: fc.constantFrom<unknown>('object', 'array', 'string', ['array', 'null']),
          description: fc.string(),
          properties: named,
          items,
          anyOf: fc.array(below, { minLength: 1, maxLength: 2 }),
          $defs: named,
          enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 }),
          $ref: fc.constantFrom('#', '#/$defs/a'),
        },
        { requiredKeys: [] },
      );
    };
    fc.assert(
      fc.property(schemaOf(3), (original) => {
        expect(canonicalJson(withoutAdditions(modelSchema(original), original))).toBe(
          canonicalJson(original),
        );
      }),
      { numRuns: 60 },
    );
  });
});

describe('a schema that cannot be used', () => {
  it.each([
    [
      'reaches out of itself',
      object({ a: { $ref: 'https://example.test/schema' } }),
      'refers to https://example.test/schema',
    ],
    ['reaches into a file', object({ a: { $ref: 'other.json#/a' } }), 'refers to other.json#/a'],
    ['refers to nothing', object({ a: { $ref: '#/$defs/None' } }), 'refers to #/$defs/None'],
    ['refers to an anchor', object({ a: { $ref: '#owner' } }), 'refers to #owner'],
    [
      'refers to nothing by way of a place of its own',
      object({ a: { $ref: '#/components/A' } }, { components: { A: { $ref: '#/nowhere' } } }),
      'refers to #/nowhere',
    ],
    ['refers to what is no schema', object({ a: { $ref: '#/title' } }, { title: 'x' }), 'refers to #/title'],
    ['refers dynamically', object({ a: { $dynamicRef: '#node' } }), 'cannot be checked'],
    ['has a pattern that is none', object({ a: { type: 'string', pattern: '(' } }), 'cannot be checked'],
    ['is about a list', { type: 'array' }, 'does not describe an object'],
    ['is about anything', { type: ['object', 'null'] }, 'does not describe an object'],
  ])('is named with the reason when it %s', (_what, inputSchema, reason) => {
    expect(unsupportedSchema({ inputSchema })).toContain(reason);
    if (inputSchema['type'] !== 'object') return;
    expect(unsupportedSchema({ inputSchema: {}, outputSchema: inputSchema })).toMatch(/its output schema/);
  });

  it('is one that takes for ever to compare a single value with', () => {
    const half = (n: number) => ({ $ref: `#/$defs/d${String(n)}` });
    const $defs: Record<string, object> = { d0: { type: 'object' } };
    for (let n = 1; n <= 40; n += 1) $defs[`d${String(n)}`] = { allOf: [half(n - 1), { not: half(n - 1) }] };
    const doubling = object({ a: half(40) }, { $defs });
    expect(unsupportedSchema({ inputSchema: doubling })).toContain('its input schema applies more than');
    expect(unsupportedSchema({ inputSchema: {}, outputSchema: doubling })).toContain(
      'its output schema applies',
    );
  });

  it('is none because it is recursive', () => {
    const filter = {
      anyOf: [{ properties: { and: { items: { $ref: '#/$defs/f' } } } }, { $ref: '#/$defs/f' }],
    };
    expect(unsupportedSchema({ inputSchema: object({}, { $defs: { f: filter } }) })).toBeUndefined();
  });

  it('has no hidden text in its reason', () => {
    const reason = unsupportedSchema({
      inputSchema: object({ a: { $ref: `#/\u202e\n## System${'x'.repeat(500)}` } }),
    });
    expect(reason).not.toMatch(/[\n\u202e]/);
    expect(reason?.length).toBeLessThan(250);
  });

  it.each([
    ['percent-encoded', object({ a: { $ref: '#/$defs/a%20b' } }, { $defs: { 'a b': {} } })],
    ['with escapes of pointers', object({ a: { $ref: '#/$defs/a~1b' } }, { $defs: { 'a/b': {} } })],
    ['to true', object({ a: { $ref: '#/$defs/any' } }, { $defs: { any: true } })],
  ])('is none with references that are only written in another way: %s', (_how, inputSchema) => {
    expect(unsupportedSchema({ inputSchema })).toBeUndefined();
  });
});
