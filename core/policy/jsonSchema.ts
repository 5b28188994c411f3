import { Validator, type OutputUnit } from '@cfworker/json-schema';
import { sha256Of } from '../contract/canonical';
import type { JsonSchema } from '../contract/pin';

/** The first place where a value does not match. */
export interface SchemaFault {
  /** JSON pointer (RFC 6901) into the value. */
  readonly pointer: string;
  /** What is wrong, from the schema alone: the value itself is not repeated. */
  readonly reason: string;
  /** The keyword of JSON Schema that is not satisfied. */
  readonly keyword: string;
}

/** Finds the first fault of a value, or `undefined` when it matches. */
export type SchemaCheck = (value: unknown) => SchemaFault | undefined;

const byObject = new WeakMap<JsonSchema, SchemaCheck>();
const byHash = new Map<string, SchemaCheck>();
const CACHED_SCHEMAS = 1_000;

/**
 * Prepares a JSON Schema 2020-12 once per content. Schemas are interpreted, not compiled to code: those of foreign
 * tools are untrusted, and a pack that generates code from them could not be signed off. Unknown keywords and formats
 * are ignored, as the specification asks; our own schemas are held to a closed dialect by `core/contract/lint`.
 *
 * @throws Error for a schema that cannot be interpreted: `$dynamicRef`, or a pattern that is no regular expression
 */
export function schemaCheck(schema: JsonSchema): SchemaCheck {
  const known = byObject.get(schema);
  if (known) return known;
  const hash = sha256Of(schema);
  let check = byHash.get(hash);
  if (!check) {
    check = prepare(schema);
    if (byHash.size >= CACHED_SCHEMAS) byHash.clear();
    byHash.set(hash, check);
  }
  byObject.set(schema, check);
  return check;
}

function prepare(schema: JsonSchema): SchemaCheck {
  if (JSON.stringify(schema).includes('"$dynamicRef"')) {
    throw new Error('A schema with $dynamicRef cannot be checked.');
  }
  // The validator writes into what it is given. An `$id` at the root would only change how `$ref`s are spelled.
  const own = withoutInheritance(schema) as JsonSchema;
  delete own['$id'];
  const validator = new Validator(own, '2020-12');
  return (value) => {
    const { valid, errors } = validator.validate(withoutInheritance(value));
    return valid ? undefined : faultOf(errors, own);
  };
}

/** A copy whose objects inherit nothing: to the validator a key is there when `key in value` says so. */
function withoutInheritance(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(withoutInheritance);
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, entry] of Object.entries(value)) copy[key] = withoutInheritance(entry);
  return copy;
}

/** Keywords that only say that something below them is wrong. */
const CARRIERS = new Set([
  '$ref',
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'prefixItems',
  'unevaluatedItems',
  'allOf',
  'if',
  'dependentSchemas',
]);

function faultOf(errors: readonly OutputUnit[], schema: JsonSchema): SchemaFault {
  const error = errors.find(({ keyword }) => !CARRIERS.has(keyword)) ?? errors[0];
  if (!error) return { pointer: '', reason: 'does not match the schema', keyword: '' };
  const pointer = decodeURI(error.instanceLocation.slice(1));
  const expected = keywordValue(schema, error.keywordLocation);
  if (error.keyword === 'required') {
    // Of several required names the validator tells in its sentence which one is missing.
    const name = /"(.*)"\.$/s.exec(error.error)?.[1] ?? '';
    return {
      pointer: `${pointer}/${escapePointerToken(name)}`,
      reason: 'is required',
      keyword: error.keyword,
    };
  }
  return { pointer, reason: reasonOf(error.keyword, expected), keyword: error.keyword };
}

function reasonOf(keyword: string, expected: unknown): string {
  const shown = JSON.stringify(expected);
  switch (keyword) {
    case 'false':
      return 'is not an argument of this tool';
    case 'type':
      return `must be ${Array.isArray(expected) ? expected.join(' or ') : String(expected)}`;
    case 'enum':
      return `must be one of ${shown}`;
    case 'const':
      return `must be ${shown}`;
    case 'minimum':
    case 'exclusiveMinimum':
      return `must be ${keyword === 'minimum' ? 'at least' : 'more than'} ${shown}`;
    case 'maximum':
    case 'exclusiveMaximum':
      return `must be ${keyword === 'maximum' ? 'at most' : 'less than'} ${shown}`;
    case 'minLength':
      return `must have at least ${shown} characters`;
    case 'maxLength':
      return `must have at most ${shown} characters`;
    case 'pattern':
      return `must match the pattern ${shown}`;
    case 'minItems':
      return `must have at least ${shown} elements`;
    case 'maxItems':
      return `must have at most ${shown} elements`;
    case 'anyOf':
    case 'oneOf':
      return 'must have one of the forms that the schema lists';
    default:
      return `does not satisfy ${keyword}`;
  }
}

/** What the schema says at the place of an error, following the `$ref`s on the way; `undefined` when it is elsewhere. */
function keywordValue(schema: JsonSchema, location: string): unknown {
  let at: unknown = schema;
  for (const token of decodeURI(location.slice(1)).split('/').slice(1)) {
    if (at === null || typeof at !== 'object') return undefined;
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    const next = (at as Record<string, unknown>)[key];
    at = key === '$ref' && typeof next === 'string' ? keywordValue(schema, next) : next;
  }
  return at;
}

export function escapePointerToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
