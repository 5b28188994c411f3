import { z as z4 } from 'zod';
import { z as z3 } from 'zod/v3';
import { jsonSchemaOf } from '../../nodes/shared/jsonSchemaOf';

describe('the input schema of a native tool', () => {
  test('C085: every property has a type, and so has the root', () => {
    const schema = jsonSchemaOf(z3.object({ date: z3.any().describe('date filter'), n: z3.number() }));
    expect(schema).toMatchObject({
      type: 'object',
      properties: { date: { type: 'object', description: 'date filter' }, n: { type: 'number' } },
    });
  });

  test.each([
    ['zod 3', z3.object({ id: z3.string().describe('Number of the order') })],
    ['zod 4', z4.object({ id: z4.string().describe('Number of the order') })],
    [
      'JSON Schema',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { id: { type: 'string', description: 'Number of the order' } },
        required: ['id'],
      },
    ],
  ])('is the same from %s', (_kind, schema) => {
    expect(jsonSchemaOf(schema)).toMatchObject({
      type: 'object',
      properties: { id: { type: 'string', description: 'Number of the order' } },
      required: ['id'],
    });
    expect(jsonSchemaOf(schema)).not.toHaveProperty('$schema');
  });

  test('of a tool that takes one text is an object with that text', () => {
    const schema = z3.object({ input: z3.string().optional() }).transform(({ input }) => input);
    expect(jsonSchemaOf(schema)).toMatchObject({ type: 'object', properties: { input: { type: 'string' } } });
  });

  test.each([[undefined], [null], ['text'], [{}]])('of %p declares no argument', (schema) => {
    expect(jsonSchemaOf(schema)).toEqual({ type: 'object', properties: {} });
  });

  test('keeps references, unions and recursion as they are', () => {
    const schema = {
      type: 'object',
      properties: {
        owner: { $ref: '#/$defs/Owner' },
        any: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      $defs: { Owner: { type: 'object', properties: { boss: { $ref: '#/$defs/Owner' } } } },
    };
    expect(jsonSchemaOf(schema)).toEqual(schema);
  });
});
