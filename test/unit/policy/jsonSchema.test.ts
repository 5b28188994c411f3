import { Ajv2020 } from 'ajv/dist/2020';
import fc from 'fast-check';
import type { JsonSchema } from '../../../core/contract/pin';
import { schemaCheck } from '../../../core/policy/jsonSchema';

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });

/** One schema per keyword that tools use, and those that converters are known to stumble over. */
const SCHEMAS: Record<string, JsonSchema> = {
  types: { type: ['string', 'integer', 'null'] },
  bounds: { type: 'integer', minimum: -2, exclusiveMaximum: 3, multipleOf: 2 },
  texts: { type: 'string', minLength: 1, maxLength: 3, pattern: '^[a-z]*$' },
  values: { enum: ['a', 1, null, { a: 1 }] },
  constant: { const: [1, 'a'] },
  objects: {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'integer' } },
    patternProperties: { '^c': { type: 'null' } },
    required: ['a'],
    additionalProperties: false,
    minProperties: 1,
  },
  lists: {
    type: 'array',
    prefixItems: [{ type: 'string' }],
    items: { type: 'integer' },
    uniqueItems: true,
    maxItems: 3,
  },
  either: { anyOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] },
  exactlyOne: { oneOf: [{ type: 'integer' }, { type: 'number', minimum: 1 }] },
  negation: { not: { type: 'object' } },
  conditions: { if: { type: 'string' }, then: { maxLength: 1 }, else: { type: 'null' } },
  unevaluated: { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
  recursion: {
    type: 'object',
    properties: { a: { $ref: '#/$defs/Node' } },
    $defs: {
      Node: { type: 'object', properties: { b: { $ref: '#/$defs/Node' } }, additionalProperties: false },
    },
  },
};

const small = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('a', 'abcd', 'B', '', null, true, 0, 1, 2, -2, 1.5, 4),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__'), tie('value'), {
      maxKeys: 3,
      // As JSON.parse makes them; the reference tells objects apart by their prototype.
      noNullPrototype: true,
    }),
  ),
})).value;

describe('a schema is interpreted as the reference validator compiles it', () => {
  test.each(Object.entries(SCHEMAS))('%s', (_name, schema) => {
    const check = schemaCheck(schema);
    const reference = ajv.compile(schema);
    fc.assert(
      fc.property(small, (value) => {
        expect(check(value) === undefined).toBe(reference(value));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a fault', () => {
  test('below a reference names the place in the value and what is expected there', () => {
    const check = schemaCheck({
      type: 'object',
      properties: { owner: { $ref: '#/$defs/Owner' } },
      $defs: { Owner: { type: 'object', properties: { mail: { type: 'string' } } } },
    });
    expect(check({ owner: { mail: 5 } })).toMatchObject({ pointer: '/owner/mail', reason: 'must be string' });
  });

  test('of a union names the union, not one of its branches', () => {
    const check = schemaCheck({ properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } });
    expect(check({ a: 5 })).toMatchObject({
      pointer: '/a',
      reason: expect.stringContaining('one of the forms') as unknown,
    });
  });

  test.each([
    [{ exclusiveMinimum: 1 }, 1, 'must be more than 1'],
    [{ exclusiveMaximum: 1 }, 1, 'must be less than 1'],
    [{ minimum: 1 }, 0, 'must be at least 1'],
    [{ minLength: 2 }, 'a', 'must have at least 2 characters'],
    [{ minItems: 1 }, [], 'must have at least 1 elements'],
    [{ maxItems: 0 }, [1], 'must have at most 0 elements'],
    [{ const: 'x' }, 'y', 'must be "x"'],
    [{ type: ['string', 'null'] }, 1, 'must be string or null'],
    [{ uniqueItems: true }, [1, 1], 'does not satisfy uniqueItems'],
  ])('of %j says what is expected', (schema, value, reason) => {
    expect(schemaCheck(schema)(value)).toMatchObject({ pointer: '', reason });
  });
});

test('a schema is not changed by being used', () => {
  const schema = {
    $id: 'https://a.test/s',
    type: 'object',
    properties: { a: { $ref: '#/$defs/A' } },
    $defs: { A: {} },
  };
  const before = structuredClone(schema);
  schemaCheck(schema)({ a: 1 });
  expect(schema).toEqual(before);
  expect(Object.getOwnPropertyNames(schema.properties.a)).toEqual(['$ref']);
});

test.each([
  ['a dynamic reference', { $dynamicRef: '#node' }],
  ['a pattern that is none', { pattern: '(' }],
])('a schema with %s is an error, never a check that passes', (_what, schema) => {
  expect(() => schemaCheck(schema)('x')).toThrow();
});
