import fc from 'fast-check';
import { argumentsFor, readArguments } from '../../../core/client/arguments';
import type { JsonSchema } from '../../../core/contract/pin';
import { refusalOf } from '../policy/refusal';

const object = (properties: object, more: object = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
});
const text = { type: 'string' };

const BOOKKEEPING = {
  toolCallId: 'call_77aa',
  sessionId: 's-9',
  action: 'sendMessage',
  chatInput: 'hello',
  tool: 'x',
  id: 'y',
};

describe("what n8n puts beside a model's arguments", () => {
  it('is not sent (C001)', () => {
    const schema = object({ note_id: text }, { required: ['note_id'], additionalProperties: false });
    expect(argumentsFor(schema, { note_id: 'N-17', ...BOOKKEEPING })).toEqual({ note_id: 'N-17' });
  });

  it.each([
    ['a closed schema', object({}, { additionalProperties: false })],
    ['an open schema', object({ a: text })],
    ['a bare schema (C015)', { type: 'object' }],
    ['an empty schema', {}],
    ['a schema that names them further down only', object({ filter: object({ id: text, action: text }) })],
  ])('is not sent to %s', (_what, schema) => {
    expect(argumentsFor(schema, { ...BOOKKEEPING })).toEqual({});
  });

  it.each([
    ['declared', object({ id: text, action: text })],
    ['declared as anything', object({ id: {}, action: true })],
    ['required without being described', { type: 'object', required: ['id', 'action'] }],
    [
      'declared behind a reference',
      { $ref: '#/$defs/Args', $defs: { Args: object({ id: text, action: text }) } },
    ],
    [
      'declared behind an escaped reference',
      { $ref: '#/$defs/a%20b~1c', $defs: { 'a b/c': object({ id: text, action: text }) } },
    ],
    [
      'declared in allOf',
      {
        type: 'object',
        allOf: [object({ id: text }), { $ref: '#/$defs/More' }],
        $defs: { More: object({ action: text }) },
      },
    ],
    ['declared in one of anyOf', { type: 'object', anyOf: [object({ id: text }), object({ action: text })] }],
    [
      'declared in oneOf',
      {
        type: 'object',
        oneOf: [object({ id: text, action: text }), object({ none: text }, { required: ['none'] })],
      },
    ],
    [
      'declared under a condition',
      {
        type: 'object',
        if: object({ a: text }, { required: ['a'] }),
        then: {},
        else: object({ id: text, action: text }),
      },
    ],
  ])('is sent when the tool has such arguments: %s', (_how, schema) => {
    expect(argumentsFor(schema, { ...BOOKKEEPING })).toEqual({
      id: 'y',
      action: 'sendMessage',
    });
  });

  it('is looked for once at each place of a schema, however often it refers to itself', () => {
    const width = 12;
    const levels = Array.from({ length: width }, (_, level) => [
      `L${String(level)}`,
      { allOf: Array.from({ length: width }, () => ({ $ref: `#/$defs/L${String((level + 1) % width)}` })) },
    ]);
    // Without an `if` a `then` says nothing, so that only the search follows it.
    const schema: JsonSchema = {
      type: 'object',
      then: { $ref: '#/$defs/L0' },
      $defs: Object.fromEntries(levels),
    };
    expect(argumentsFor(schema, { id: 1, q: 'x' })).toEqual({ q: 'x' });
  });
});

describe('an object that came as JSON text', () => {
  const filter = object({ status: text }, { required: ['status'] });

  it('is parsed where the schema says object (C004)', () => {
    const schema = object({ filter }, { required: ['filter'] });
    expect(argumentsFor(schema, { filter: '{"status":"open"}' })).toEqual({ filter: { status: 'open' } });
  });

  it.each([
    [
      'nested',
      object({ a: object({ filter }) }),
      { a: { filter: ' {"status":"open"} ' } },
      { a: { filter: { status: 'open' } } },
    ],
    [
      'in a list',
      object({ all: { type: 'array', items: filter } }),
      { all: ['{"status":"a"}', { status: 'b' }] },
      { all: [{ status: 'a' }, { status: 'b' }] },
    ],
    [
      'text within text',
      object({ a: object({ filter }) }),
      { a: '{"filter":"{\\"status\\":\\"open\\"}"}' },
      { a: { filter: { status: 'open' } } },
    ],
    [
      'behind a reference',
      object({ filter: { $ref: '#/$defs/F' } }, { $defs: { F: filter } }),
      { filter: '{"status":"open"}' },
      { filter: { status: 'open' } },
    ],
    [
      'or null',
      object({ filter: { type: ['object', 'null'] } }),
      { filter: '{"status":"open"}' },
      { filter: { status: 'open' } },
    ],
    [
      'in anyOf with null',
      object({ filter: { anyOf: [filter, { type: 'null' }] } }),
      { filter: '{"status":"open"}' },
      { filter: { status: 'open' } },
    ],
  ])('is parsed where the schema says object: %s', (_where, schema, given, expected) => {
    expect(argumentsFor(schema, given)).toEqual(expected);
  });

  it.each([
    ['where it says text', object({ a: text })],
    ['where it says text or object', object({ a: { type: ['string', 'object'] } })],
    ['where it says text or object in anyOf', object({ a: { anyOf: [text, { type: 'object' }] } })],
    ['where it says nothing', object({})],
  ])('stays text %s', (_where, schema) => {
    expect(argumentsFor(schema, { a: '{"status":"open"}' })).toEqual({ a: '{"status":"open"}' });
  });

  it.each([
    ['text that is no JSON', { filter: '{status: open}' }, '/filter'],
    ['a list as text', { filter: '["open"]' }, '/filter'],
    ['an object that does not fit, told at its place', { filter: '{"status":5}' }, '/filter/status'],
    ['a number as text', { filter: { status: 'x' }, limit: '5' }, '/limit'],
    ['an object as text where a number is wanted', { filter: { status: 'x' }, limit: '{"a":1}' }, '/limit'],
  ])('is refused when it is %s', (_what, given, pointer) => {
    const refused = refusalOf(() => argumentsFor(object({ filter, limit: { type: 'integer' } }), given));
    expect(refused).toMatchObject({ code: 'arguments_invalid', pointer });
  });
});

describe('null', () => {
  it('is left out for an optional argument that cannot be null (C006)', () => {
    const schema = object({ from: text, limit: { type: 'integer' } });
    expect(argumentsFor(schema, { limit: 5, from: null })).toEqual({ limit: 5 });
  });

  it.each([
    ['type', object({ a: { type: ['string', 'null'] } })],
    ['anyOf', object({ a: { anyOf: [text, { type: 'null' }] } })],
    ['enum', object({ a: { enum: ['x', null] } })],
    ['const', object({ a: { const: null } })],
    ['nothing', object({ a: {} })],
  ])('is sent where it is allowed by %s', (_by, schema) => {
    expect(argumentsFor(schema, { a: null })).toEqual({ a: null });
  });

  it.each([
    ['a required argument', object({ a: text }, { required: ['a'] }), { a: null }, '/a'],
    ['an element of a list', object({ a: { type: 'array', items: text } }), { a: ['x', null] }, '/a/1'],
    [
      'an argument that is not there',
      object({ a: text }, { additionalProperties: false }),
      { b: null },
      '/b',
    ],
  ])('is refused for %s', (_what, schema, given, pointer) => {
    expect(refusalOf(() => argumentsFor(schema, given))).toMatchObject({
      code: 'arguments_invalid',
      pointer,
    });
  });

  it('is left out inside of an optional object too', () => {
    const schema = object({ filter: object({ status: text, owner: text }, { required: ['owner'] }) });
    expect(argumentsFor(schema, { filter: { owner: 'kim', status: null } })).toEqual({
      filter: { owner: 'kim' },
    });
  });
});

describe('arguments', () => {
  it.each([
    [object({ site_id: { type: 'number' }, limit: { type: 'number' } }), { site_id: 41, limit: 3 }],
    [
      object({ meta: { type: 'array', items: object({ value: { anyOf: [text, { type: 'array' }] } }) } }),
      { meta: [{ value: ['a'] }] },
    ],
  ])('that fit a plain schema are sent as they are (C011, C013)', (schema, given) => {
    expect(argumentsFor(schema, given)).toEqual(given);
  });

  it('are checked behind $ref and $defs (C009)', () => {
    const schema = object(
      { owner: { $ref: '#/$defs/Owner' } },
      { required: ['owner'], $defs: { Owner: object({ mail: text }, { required: ['mail'] }) } },
    );
    expect(argumentsFor(schema, { owner: { mail: 'kim@example.test' } })).toEqual({
      owner: { mail: 'kim@example.test' },
    });
    const refused = refusalOf(() => argumentsFor(schema, { owner: { mail: 5 } }));
    expect(refused).toMatchObject({ code: 'arguments_invalid', pointer: '/owner/mail' });
    expect(refused.message).toContain('/owner/mail');
  });

  it('come out equal and as an object of their own when they are valid', () => {
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue({ maxDepth: 2, stringUnit: 'grapheme' }),
        tie('list'),
        tie('record'),
      ),
      list: fc.array(tie('value'), { maxLength: 3 }),
      record: fc.dictionary(fc.stringMatching(/^[a-z_]{3,12}$/), tie('value'), { maxKeys: 4 }),
    }));
    const schemas: JsonSchema[] = [
      { type: 'object' },
      {},
      object({ a: {} }),
      { type: 'object', additionalProperties: true },
    ];
    fc.assert(
      fc.property(tree.record, fc.constantFrom(...schemas), (given, schema) => {
        fc.pre(!Object.keys(given).some((key) => key in BOOKKEEPING));
        const before = JSON.stringify(given);
        let sent: unknown;
        try {
          sent = argumentsFor(schema, given);
        } catch (error) {
          // Control characters and broken Unicode are refused, never repaired.
          expect(error).toMatchObject({ code: 'arguments_invalid' });
          return;
        }
        expect(JSON.stringify(sent)).toBe(before);
        expect(JSON.stringify(given)).toBe(before);
        expect(sent).not.toBe(given);
      }),
    );
  });

  it('are valid or refused, whatever they are', () => {
    const schema = object(
      { a: object({ b: text }), n: { type: 'integer' } },
      { additionalProperties: false },
    );
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (given) => {
          try {
            expect(typeof argumentsFor(schema, given)).toBe('object');
          } catch (error) {
            expect(error).toMatchObject({ code: 'arguments_invalid' });
          }
        },
      ),
    );
  });

  it('of a workflow may hold dates and undefined, which JSON says in its way', () => {
    const when = new Date(0);
    expect(argumentsFor({ type: 'object' }, { when, none: undefined })).toEqual({
      when: '1970-01-01T00:00:00.000Z',
    });
  });

  it('nested too deeply, circular, or beyond JSON are refused', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const given of [{ deep }, circular, { big: 1n }]) {
      expect(refusalOf(() => argumentsFor({ type: 'object' }, given))).toMatchObject({
        code: 'arguments_invalid',
      });
    }
  });

  it('are refused where the schema turns in a circle or refers to nothing', () => {
    for (const schema of [
      { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } },
      object({ a: { $ref: '#/$defs/None' } }),
    ]) {
      expect(refusalOf(() => argumentsFor(schema, { a: 1 }))).toMatchObject({ code: 'schema_unsupported' });
    }
  });

  it.each(['__proto__', 'constructor', 'toString'])('named %s are ordinary', (name) => {
    const given: unknown = JSON.parse(`{"${name}":{"polluted":true}}`);
    expect(JSON.stringify(argumentsFor({ type: 'object' }, given))).toBe(JSON.stringify(given));
    expect({}).not.toHaveProperty('polluted');
    const closed = object({ a: text }, { additionalProperties: false });
    expect(refusalOf(() => argumentsFor(closed, given))).toMatchObject({ pointer: `/${name}` });
  });

  it.each([[[]], [null], ['{}'], [7], [undefined]])(
    'that are no object are refused or empty: %j',
    (given) => {
      if (given === undefined) expect(argumentsFor({ type: 'object' }, given)).toEqual({});
      else
        expect(refusalOf(() => argumentsFor({ type: 'object' }, given))).toMatchObject({
          code: 'arguments_invalid',
        });
    },
  );
});

describe('arguments as a person wrote them', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['  ', {}],
    ['[1]', [1]],
    [{ a: 1 }, { a: 1 }],
  ])('are read: %j', (given, expected) => {
    expect(readArguments(given)).toEqual(expected);
  });

  it('that are no JSON are refused without being repeated', () => {
    const { code, message } = refusalOf(() => readArguments('{"password": hunter2}'));
    expect(code).toBe('arguments_invalid');
    expect(message).not.toContain('hunter2');
  });
});
