import type { JsonSchema } from '../contract/pin';
import { validateArguments } from '../policy/arguments';
import { PolicyError } from '../policy/errors';
import { schemaCheck, type SchemaFault } from '../policy/jsonSchema';

/**
 * Arguments as a person or a workflow wrote them: an object, or its JSON text.
 *
 * @throws PolicyError `arguments_invalid` for text that is no JSON
 */
export function readArguments(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value.trim() === '') return {};
  try {
    return JSON.parse(value);
  } catch {
    throw new PolicyError('arguments_invalid', 'Arguments is not valid JSON.');
  }
}

/** What n8n puts beside a model's arguments. A tool that declares an argument of such a name still gets it. */
const BOOKKEEPING = ['toolCallId', 'sessionId', 'action', 'chatInput', 'tool', 'id'];

/** Places of one call that are put right; models go wrong in one or two. */
const MOST_REPAIRS = 32;

/**
 * The arguments of a call as the server's own schema wants them. Two habits of models are put right, each only where
 * the schema leaves no other reading: an object that was sent as JSON text, and `null` for an optional argument that
 * cannot be null. Everything else that does not fit is refused.
 *
 * @param given what the model sent, perhaps with what n8n adds
 * @returns an object of its own; `given` is not changed
 * @throws PolicyError `arguments_invalid` with the JSON pointer of the first fault, `schema_unsupported`
 */
export function argumentsFor(schema: JsonSchema, given: unknown): Record<string, unknown> {
  // First that it is an object at all, and not nested deeper than can be followed.
  const args = asJson(validateArguments(ANY_OBJECT, given));
  for (const key of BOOKKEEPING) if (!declares(schema, key)) Reflect.deleteProperty(args, key);
  try {
    const check = schemaCheck(schema);
    for (let repairs = 0; repairs < MOST_REPAIRS; repairs += 1) {
      const fault = check(args);
      if (!fault || !repair(args, fault, check)) break;
    }
    return validateArguments(schema, args);
  } catch (error) {
    if (error instanceof PolicyError) throw error;
    // The validator gave up: references that turn in a circle, for example.
    const sentence = "The arguments cannot be checked against the tool's input schema, so nothing is sent.";
    throw new PolicyError('schema_unsupported', sentence, { cause: error });
  }
}

const ANY_OBJECT: JsonSchema = {};

/** A copy that holds what is sent: JSON. Workflows also give dates, and `undefined` for what they do not have. */
function asJson(args: Record<string, unknown>): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(args)) as Record<string, unknown>;
  } catch {
    throw new PolicyError('arguments_invalid', 'The arguments hold something that JSON cannot express.');
  }
}

/** Whether a schema names an argument anywhere at its root, also behind references and alternatives. */
function declares(root: JsonSchema, name: string): boolean {
  const seen = new Set<unknown>();
  const names = (part: unknown): boolean => {
    if (part === null || typeof part !== 'object' || seen.has(part)) return false;
    seen.add(part);
    if (Array.isArray(part)) return part.some(names);
    const { properties, required, $ref, ...schema } = part as JsonSchema;
    if (properties !== null && typeof properties === 'object' && Object.hasOwn(properties, name)) return true;
    if (Array.isArray(required) && required.includes(name)) return true;
    if (typeof $ref === 'string' && names(targetOf(root, $ref))) return true;
    return ROOT_PARTS.some((keyword) => names(schema[keyword]));
  };
  return names(root);
}

/** Keywords whose schemas say something about the same value. */
const ROOT_PARTS = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'];

function targetOf(root: JsonSchema, reference: string): unknown {
  return reference.startsWith('#/') ? at(root, decoded(reference.slice(1))) : undefined;
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

/** Faults that an object can mend. Any other is about the text itself. */
const WANTS_ANOTHER_FORM = new Set(['type', 'anyOf', 'oneOf']);

type Container = Record<string, unknown>;

/** Puts the place of a fault right; `false` when nothing there can be read in another way. */
function repair(
  args: Container,
  fault: SchemaFault,
  check: (value: unknown) => SchemaFault | undefined,
): boolean {
  const { pointer, keyword } = fault;
  const cut = pointer.lastIndexOf('/');
  const parent = cut < 0 ? undefined : at(args, pointer.slice(0, cut));
  if (parent === null || typeof parent !== 'object') return false;
  const container = parent as Container;
  const key = unescaped(pointer.slice(cut + 1));
  const value = container[key];
  if (value === null && keyword !== 'false' && !Array.isArray(container)) {
    Reflect.deleteProperty(container, key);
    if (check(args)?.pointer !== pointer) return true;
    container[key] = null;
    return false;
  }
  const parsed =
    typeof value === 'string' && WANTS_ANOTHER_FORM.has(keyword) ? parsedObject(value) : undefined;
  if (!parsed) return false;
  container[key] = parsed;
  const next = check(args);
  // A fault inside of the object is told as it is; at the same place it means that no object was wanted.
  if (next?.pointer !== pointer) return true;
  container[key] = value;
  return false;
}

function parsedObject(text: string): object | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function at(root: unknown, pointer: string): unknown {
  let value = root;
  for (const token of pointer.split('/').slice(1)) {
    if (value === null || typeof value !== 'object') return undefined;
    const key = unescaped(token);
    value = Object.hasOwn(value, key) ? (value as Container)[key] : undefined;
  }
  return value;
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
