import { zodToJsonSchema } from 'zod-to-json-schema';
import { withZodLook } from '../../nodes/shared/zodLookalike';
import { SCHEMA_CORPUS } from '../support/schemaCorpus';

/** As n8n 1.x reads it. */
const read = (schema: Record<string, unknown>) => {
  const { $schema: _dialect, ...rest } = zodToJsonSchema(withZodLook(schema) as never) as Record<
    string,
    unknown
  >;
  return rest;
};
const corpus = (name: string) => ({ type: 'object', ...SCHEMA_CORPUS[name] });

describe('a JSON Schema for nodes that take every schema for zod', () => {
  test.each(Object.keys(SCHEMA_CORPUS))('stays what it is for everybody else: %s', (name) => {
    const schema = withZodLook(corpus(name));
    expect(JSON.parse(JSON.stringify(schema))).toEqual(corpus(name));
    expect(Object.keys(schema)).not.toContain('_def');
  });

  test.each(Object.keys(SCHEMA_CORPUS))('is read by n8n 1.x as an object with its arguments: %s', (name) => {
    const { type, properties } = read(corpus(name));
    expect(type).toBe('object');
    const { properties: own, $ref } = corpus(name) as { properties?: object; $ref?: string };
    expect(Object.keys(properties as object)).toEqual($ref === undefined ? Object.keys(own ?? {}) : ['id']);
  });

  test('keeps what zod can say, through references, recursion and alternatives', () => {
    expect(read(corpus('references'))).toMatchObject({
      properties: {
        owner: { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] },
        other: { $ref: '#/properties/owner' },
      },
      required: ['owner'],
    });
    expect(read(corpus('recursion'))).toMatchObject({
      properties: { filter: { properties: { children: { items: { $ref: '#/properties/filter' } } } } },
    });
    expect(read(corpus('nullable'))).toMatchObject({ properties: { name: { type: ['string', 'null'] } } });
    expect(read(corpus('alternatives'))).toMatchObject({
      properties: { target: { anyOf: [{ properties: { kind: { const: 'user' } } }, { type: 'object' }] } },
    });
    expect(read(corpus('constants'))).toMatchObject({ properties: { integers: { enum: [1, 2, 3] } } });
    expect(read(corpus('bounds'))).toMatchObject({
      properties: { text: { type: 'string', description: 'Any {text} with "quotes" and ünï¢ode' } },
    });
    expect(read(corpus('closed'))).toMatchObject({ additionalProperties: false });
  });
});
