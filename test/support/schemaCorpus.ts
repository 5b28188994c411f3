const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });

/** Input schemas as real servers have them, each with what conversions are known to lose, by the name of a tool. */
export const SCHEMA_CORPUS: Readonly<Record<string, Record<string, unknown>>> = {
  references: object(
    { owner: { $ref: '#/$defs/Owner' }, other: { $ref: '#/properties/owner' } },
    {
      required: ['owner'],
      $defs: { Owner: object({ mail: { type: 'string', format: 'email' } }, { required: ['mail'] }) },
    },
  ),
  recursion: object(
    { filter: { $ref: '#/definitions/Node' } },
    {
      definitions: {
        Node: object({
          op: { enum: ['and', 'or', 'is'] },
          children: { type: 'array', items: { $ref: '#/definitions/Node' } },
        }),
      },
    },
  ),
  reference_at_root: { $ref: '#/$defs/Input', $defs: { Input: object({ id: { type: 'string' } }) } },
  alternatives: object({
    id: { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^[A-Z]{2}-[0-9]+$' }] },
    target: {
      oneOf: [
        object({ kind: { const: 'user' }, name: { type: 'string' } }, { required: ['kind'] }),
        object({ kind: { const: 'team' }, size: { type: 'number' } }, { required: ['kind'] }),
      ],
      discriminator: { propertyName: 'kind' },
    },
    both: { allOf: [object({ a: { type: 'string' } }), object({ b: { type: 'string' } })] },
    never: { not: { type: 'null' } },
  }),
  alternatives_at_root: object(
    { mail: { type: 'string' }, phone: { type: 'string' } },
    { anyOf: [{ required: ['mail'] }, { required: ['phone'] }] },
  ),
  nullable: object({
    name: { type: ['string', 'null'], default: null },
    size: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
    old: { type: 'string', nullable: true },
    mixed: { type: ['string', 'number', 'boolean', 'object', 'array', 'null'] },
  }),
  arrays_without_items: object({
    tags: { type: 'array' },
    deep: { type: 'array', items: object({ value: { anyOf: [{ type: 'string' }, { type: 'array' }] } }) },
    matrix: { type: 'array', items: { type: 'array', items: { type: 'array' } } },
  }),
  tuples: object({
    range: {
      type: 'array',
      prefixItems: [{ type: 'integer' }, { type: 'integer' }],
      items: false,
      minItems: 2,
    },
    old: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
    some: { type: 'array', items: { type: 'string' }, contains: { const: 'x' }, uniqueItems: true },
  }),
  keywords_of_2020: object(
    { card: { type: 'string' }, address: { type: 'string' }, kind: { type: 'string' } },
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      dependentRequired: { card: ['address'] },
      dependentSchemas: { kind: object({ card: { minLength: 4 } }) },
      patternProperties: { '^x-[a-z]+$': { type: 'string', maxLength: 5 } },
      propertyNames: { maxLength: 20 },
      unevaluatedProperties: false,
      minProperties: 1,
      if: object({ kind: { const: 'paid' } }, { required: ['kind'] }),
      then: { required: ['card'] },
      else: { not: { required: ['card'] } },
    },
  ),
  constants: object({
    fixed: { const: 'v1' },
    nothing: { const: null },
    object: { const: { a: [1, 'b'] } },
    mixed: { enum: [1, 'one', true, null, { a: 1 }] },
    integers: { type: 'integer', enum: [1, 2, 3] },
  }),
  bounds: object({
    share: { type: 'number', exclusiveMinimum: 0, maximum: 1, multipleOf: 0.01 },
    text: {
      type: 'string',
      minLength: 1,
      maxLength: 10,
      description: 'Any {text} with "quotes" and ünï¢ode',
    },
    date: {
      type: 'string',
      format: 'date-time',
      examples: ['2026-01-01T00:00:00Z'],
      default: '2026-01-01T00:00:00Z',
    },
    when: {
      type: 'string',
      pattern:
        '^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z))$',
    },
    data: { type: 'string', contentEncoding: 'base64', readOnly: true },
  }),
  free_form: object(
    { anything: {}, yes: true, map: { type: 'object', additionalProperties: { type: 'number' } } },
    { additionalProperties: true },
  ),
  empty: { type: 'object' },
  untyped: {},
  closed: object({ id: { type: 'string' } }, { additionalProperties: false, required: ['id'] }),
  names: object({
    'a b': { type: 'string' },
    größe: { type: 'number' },
    $filter: { type: 'string' },
    constructor: { type: 'string' },
  }),
};
