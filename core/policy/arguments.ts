import type { JsonSchema } from '../contract/pin';
import { PolicyError } from './errors';
import { escapePointerToken, schemaCheck } from './jsonSchema';
import { DEEPEST_NESTING } from './limits';
import { foreignText } from './redaction';

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
  const fault = schemaCheck(schema)(value);
  if (fault) throw invalid(fault.pointer, fault.reason);
  return { ...(value as Record<string, unknown>) };
}

/** Whether `value` satisfies `schema`. Used for results, whose faults are not the caller's. */
export function satisfies(schema: JsonSchema, value: unknown): boolean {
  return schemaCheck(schema)(value) === undefined;
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
    const at = `${pointer}/${escapePointerToken(key)}`;
    if (UNFIT.test(key)) throw invalid(at, 'must not hold control characters or broken Unicode');
    refuseUnfitText(entry, at, levels - 1);
  }
}
