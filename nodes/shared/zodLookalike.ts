import type { JsonSchema } from '../../core/contract/pin';

/** What the converters of n8n look at in a zod schema. */
interface Lookalike {
  readonly _def: Readonly<Record<string, unknown>>;
  isOptional(): boolean;
}

/**
 * The same JSON Schema for those parts of n8n 1.x that take every schema for a zod schema and turn it into JSON Schema
 * again (its MCP Server Trigger, its OpenAI nodes): beside what it says it has a `_def` that nobody else sees. What zod
 * cannot say is left out there; arguments are checked against the whole schema in any case.
 */
export function withZodLook(schema: JsonSchema): JsonSchema {
  const { _def } = new Looks(schema).of(schema, false);
  return Object.defineProperty({ ...schema }, '_def', { value: _def, enumerable: false });
}

class Looks {
  readonly #root: JsonSchema;
  /** One for each part, so that converters notice what they have seen before: schemas may be recursive. */
  readonly #defs = new Map<object, Lookalike['_def']>();

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  of(schema: unknown, optional: boolean): Lookalike {
    return { _def: this.#def(schema), isOptional: () => optional };
  }

  #def(schema: unknown): Lookalike['_def'] {
    if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return ANY;
    const known = this.#defs.get(schema);
    if (known) return known;
    const { description } = schema as JsonSchema;
    const def = {
      ...this.#shape(schema as JsonSchema),
      ...(typeof description === 'string' ? { description } : {}),
    };
    this.#defs.set(schema, def);
    return def;
  }

  #shape(schema: JsonSchema): Lookalike['_def'] {
    const { $ref, anyOf, oneOf, type, items } = schema;
    if (typeof $ref === 'string') {
      return { typeName: 'ZodLazy', getter: () => this.of(targetOf(this.#root, $ref), false) };
    }
    if ('const' in schema) return literal(schema['const']);
    if (Array.isArray(schema['enum'])) return oneOfThese(schema['enum']);
    if (Array.isArray(type)) return this.#union(type.map((one: unknown) => ({ ...schema, type: one })));
    if (type === 'object') return this.#object(schema);
    if (type === 'array') {
      return {
        typeName: 'ZodArray',
        type: this.of(items, false),
        minLength: null,
        maxLength: null,
        exactLength: null,
      };
    }
    const options = anyOf ?? oneOf;
    if (Array.isArray(options)) return this.#union(options);
    return SIMPLE[String(type)] ?? ANY;
  }

  #object({ properties, required, additionalProperties }: JsonSchema): Lookalike['_def'] {
    const names = Array.isArray(required) ? required : [];
    return {
      typeName: 'ZodObject',
      shape: () =>
        Object.fromEntries(
          Object.entries((properties ?? {}) as JsonSchema).map(([name, property]) => [
            name,
            this.of(property, !names.includes(name)),
          ]),
        ),
      catchall: { _def: { typeName: 'ZodNever' } },
      unknownKeys: additionalProperties === false ? 'strict' : 'passthrough',
    };
  }

  #union(options: readonly unknown[]): Lookalike['_def'] {
    return { typeName: 'ZodUnion', options: options.map((one) => this.of(one, false)) };
  }
}

const ANY = { typeName: 'ZodAny' };

const SIMPLE: Readonly<Record<string, Lookalike['_def']>> = {
  string: { typeName: 'ZodString', checks: [] },
  number: { typeName: 'ZodNumber', checks: [] },
  integer: { typeName: 'ZodNumber', checks: [{ kind: 'int' }] },
  boolean: { typeName: 'ZodBoolean' },
  null: { typeName: 'ZodNull' },
};

function oneOfThese(values: readonly unknown[]): Lookalike['_def'] {
  if (values.every((value) => typeof value === 'string')) return { typeName: 'ZodEnum', values };
  return {
    typeName: 'ZodUnion',
    options: values.map((value) => ({ _def: literal(value), isOptional: () => false })),
  };
}

function literal(value: unknown): Lookalike['_def'] {
  if (value === null) return { typeName: 'ZodNull' };
  return typeof value === 'object' ? ANY : { typeName: 'ZodLiteral', value };
}

function targetOf(root: JsonSchema, reference: string): unknown {
  let at: unknown = root;
  for (const token of reference.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonSchema)[key];
  }
  return at;
}
