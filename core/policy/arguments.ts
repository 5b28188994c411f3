import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import { sha256Of } from '../contract/canonical';
import type { JsonSchema } from '../contract/pin';
import { PolicyError } from './errors';
import { DEEPEST_NESTING } from './limits';
import { foreignText } from './redaction';

// Foreign schemas may hold keywords and formats of other dialects; they must not stop a tool from being served.
// Our own are compiled strictly when a contract is linted (core/contract/lint).
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false, ownProperties: true });

const byObject = new WeakMap<JsonSchema, ValidateFunction>();
const byHash = new Map<string, ValidateFunction>();
const CACHED_SCHEMAS = 1_000;

/** Compiles a JSON Schema 2020-12 once per content. Throws when it is no schema. */
export function compileSchema(schema: JsonSchema): ValidateFunction {
  const known = byObject.get(schema);
  if (known) return known;
  const hash = sha256Of(schema);
  let validate = byHash.get(hash);
  if (!validate) {
    // An `$id` would be registered for good, and the second schema of the same id refused.
    const { $id: _id, $schema: _dialect, ...anonymous } = schema;
    validate = ajv.compile(anonymous);
    // Ajv has a cache of its own, which has no bound.
    ajv.removeSchema(anonymous);
    if (byHash.size >= CACHED_SCHEMAS) byHash.clear();
    byHash.set(hash, validate);
  }
  byObject.set(schema, validate);
  return validate;
}

/** C0 and C1 control characters, except tab and line breaks, which a multi-line query may hold; broken UTF-16. */
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\p{Cs}]/u;

/**
 * Checks a call's arguments against the tool's input schema.
 *
 * @param given what stands under `arguments` of a `tools/call`; `undefined` means `{}` (MCP: the field is optional)
 * @returns the arguments as an object of their own
 * @throws PolicyError `arguments_invalid` with the JSON pointer of the first fault
 */
export function validateArguments(schema: JsonSchema, given: unknown): Record<string, unknown> {
  const value: unknown = given === undefined ? {} : given;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new PolicyError('arguments_invalid', 'The arguments must be a JSON object.', { pointer: '' });
  }
  refuseUnfitText(value, '', DEEPEST_NESTING);
  const validate = compileSchema(schema);
  if (!validate(value)) throw faultOf(validate.errors?.[0]);
  return { ...(value as Record<string, unknown>) };
}

/** Whether `value` satisfies `schema`. Used for results, whose faults are not the caller's. */
export function satisfies(schema: JsonSchema, value: unknown): boolean {
  return compileSchema(schema)(value);
}

function faultOf(error: ErrorObject | undefined): PolicyError {
  if (!error) return invalid('', 'do not match the input schema');
  const params = error.params as Record<string, unknown>;
  const at = error.instancePath;
  switch (error.keyword) {
    case 'required':
      return invalid(`${at}/${escapeToken(String(params['missingProperty']))}`, 'is required');
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const extra = params['additionalProperty'] ?? params['unevaluatedProperty'];
      return invalid(`${at}/${escapeToken(String(extra))}`, 'is not an argument of this tool');
    }
    case 'enum':
      return invalid(at, `must be one of ${JSON.stringify(params['allowedValues'])}`);
    default:
      return invalid(at, error.message ?? 'does not match the input schema');
  }
}

function invalid(pointer: string, reason: string): PolicyError {
  // A pointer can end in a name that the caller chose.
  const shown = foreignText(pointer, 120);
  return new PolicyError(
    'arguments_invalid',
    `${shown === '' ? 'The arguments' : `Argument ${shown}`} ${foreignText(reason, 300)}.`,
    { pointer: shown },
  );
}

/** @throws PolicyError for text that no argument may hold, and for nesting that would use up the stack */
function refuseUnfitText(value: unknown, pointer: string, levels: number): void {
  if (typeof value === 'string' && UNFIT.test(value)) {
    throw invalid(pointer, 'must not hold control characters or broken Unicode');
  }
  if (value === null || typeof value !== 'object') return;
  if (levels === 0) throw invalid(pointer, `is nested more than ${String(DEEPEST_NESTING)} levels deep`);
  for (const [key, entry] of Object.entries(value)) {
    const at = `${pointer}/${escapeToken(key)}`;
    if (UNFIT.test(key)) throw invalid(at, 'must not hold control characters or broken Unicode');
    refuseUnfitText(entry, at, levels - 1);
  }
}

function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
