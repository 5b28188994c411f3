import type { JsonSchema } from '../contract/pin';
import { schemaCheck } from '../policy/jsonSchema';
import { foreignText } from '../policy/redaction';

/** Keywords whose value is a schema, or `true`/`false`. */
const ONE = [
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
];
/** Keywords whose value is a list of schemas. `items` is one of them up to draft 2019-09. */
const LISTS = ['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf'];
/** Keywords whose value holds schemas by name. */
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

/**
 * The input schema as it is handed to agents: the server's own, with two things said that JSON Schema leaves out and
 * that model providers insist on. Nothing is taken away, reworded or resolved, so the original is what is left when
 * the additions are removed. The pin stays that of the original.
 *
 * - the root is an object with properties (MCP wants `type: object` there; `{}` means the same);
 * - an array says what its elements are (`items: {}` is what a missing `items` means), however deep it stands.
 */
export function modelSchema(schema: JsonSchema): JsonSchema {
  const { type = 'object', properties = {}, ...rest } = schema;
  return withItems({ type, properties, ...rest }) as JsonSchema;
}

function withItems(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const copy: JsonSchema = { ...schema };
  for (const keyword of ONE) if (isObject(copy[keyword])) copy[keyword] = withItems(copy[keyword]);
  for (const keyword of LISTS) {
    const list = copy[keyword];
    if (Array.isArray(list)) copy[keyword] = list.map(withItems);
  }
  for (const keyword of NAMED) {
    const named = copy[keyword];
    if (!isObject(named)) continue;
    copy[keyword] = Object.fromEntries(
      Object.entries(named).map(([name, entry]) => [name, withItems(entry)]),
    );
  }
  const isArray = [copy['type']].flat().includes('array');
  if (isArray && !('items' in copy) && !('prefixItems' in copy)) copy['items'] = {};
  return copy;
}

/**
 * Why no agent could be given this schema, or arguments could not be checked against it; `undefined` for a schema that
 * can be used. The reason completes "The tool x cannot be used: …".
 */
export function unsupportedSchema({
  inputSchema,
  outputSchema,
}: {
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema | undefined;
}): string | undefined {
  if (![undefined, 'object'].includes(inputSchema['type'] as string | undefined)) {
    return 'its input schema does not describe an object';
  }
  return unusable('input', inputSchema) ?? (outputSchema && unusable('output', outputSchema));
}

function unusable(which: string, schema: JsonSchema): string | undefined {
  try {
    const foreign = unresolved(schema);
    if (foreign !== undefined)
      return `its ${which} schema refers to ${foreignText(foreign, 120)}, which it does not hold`;
    schemaCheck(schema);
    if (isEndless(schema))
      return `its ${which} schema applies more than ${String(MOST_APPLIED)} schemas to one value`;
    if (schemasIn(schema).every(hasReadablePatterns)) return undefined;
  } catch {
    // The sentence below says it.
  }
  return `its ${which} schema uses a keyword or a pattern that cannot be checked`;
}

/** As the validator reads them, which does so only when it has a value to compare. */
function hasReadablePatterns({ pattern, patternProperties }: JsonSchema): boolean {
  const patterns = isObject(patternProperties) ? Object.keys(patternProperties) : [];
  if (typeof pattern === 'string') patterns.push(pattern);
  try {
    for (const text of patterns) new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

/** Keywords that apply a schema to the very value that theirs is applied to. */
const ON_THE_SAME = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];
const MOST_APPLIED = 10_000;

/** References can double what is compared at each step, so that a short schema keeps the process busy for hours. */
function isEndless(root: JsonSchema): boolean {
  const counts = new Map<JsonSchema, number>();
  const applied = (schema: unknown): number => {
    if (!isObject(schema)) return 0;
    const known = counts.get(schema);
    if (known !== undefined) return known;
    // One that comes back to itself has no count; the validator gives it up when it is out of its depth.
    counts.set(schema, 0);
    const parts = ON_THE_SAME.flatMap((keyword) => schema[keyword]);
    const { dependentSchemas, $ref } = schema;
    if (isObject(dependentSchemas)) parts.push(...Object.values(dependentSchemas));
    if (typeof $ref === 'string') parts.push(targetOf($ref, root));
    const count = parts.reduce<number>((sum, part) => sum + applied(part), 1);
    counts.set(schema, count);
    return count;
  };
  return schemasIn(root).some((schema) => applied(schema) > MOST_APPLIED);
}

/** The first `$ref` that leads out of the schema or nowhere. References are never fetched. */
function unresolved(root: JsonSchema): string | undefined {
  for (const { $ref } of schemasIn(root)) {
    if (typeof $ref !== 'string') continue;
    const target = targetOf($ref, root);
    if (!isObject(target) && typeof target !== 'boolean') return $ref;
  }
  return undefined;
}

/** All that are a schema in a schema, also where only a reference leads. */
function schemasIn(root: JsonSchema): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const visit = (at: unknown): void => {
    if (Array.isArray(at)) at.forEach(visit);
    if (!isObject(at) || found.has(at)) return;
    found.add(at);
    for (const keyword of [...ONE, ...LISTS]) visit(at[keyword]);
    for (const keyword of NAMED) if (isObject(at[keyword])) Object.values(at[keyword]).forEach(visit);
    if (typeof at['$ref'] === 'string') visit(targetOf(at['$ref'], root));
  };
  visit(root);
  return [...found];
}

function targetOf(reference: string, root: JsonSchema): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const token of reference.slice(2).split('/')) {
    const key = decoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

function isObject(value: unknown): value is JsonSchema {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
