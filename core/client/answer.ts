import type { JsonSchema } from '../contract/pin';
import { satisfies } from '../policy/arguments';
import { PolicyError } from '../policy/errors';
import type { CallOutcome } from './result';

/**
 * What a server of the 2026 era asks for inside of its answer, such as sampling, elicitation or roots; `undefined` for an
 * answer that asks for nothing.
 */
export function inputAsked(result: object): string | undefined {
  const { resultType, inputRequests } = result as {
    resultType?: unknown;
    inputRequests?: Record<string, unknown>;
  };
  if (resultType !== 'input_required') return undefined;
  const methods = Object.values(inputRequests ?? {}).map(
    (request) => (request as { method?: unknown }).method,
  );
  return methods.filter((method) => typeof method === 'string').join(', ') || 'more input';
}

export function inputRefused(): PolicyError {
  return new PolicyError(
    'capability_refused',
    'The MCP server wants to ask a model or a person before it answers, which is not offered to it.',
  );
}

/**
 * Compares structured content with the output schema that was reviewed. An answer without any, or one that tells of an
 * error, is none of its business.
 *
 * @throws PolicyError `upstream_unexpected_shape`
 */
export function checkStructured(
  schema: JsonSchema | undefined,
  { isError, structured }: Pick<CallOutcome, 'isError' | 'structured'>,
): void {
  if (!schema || structured === undefined || isError || fits(schema, structured)) return;
  throw new PolicyError(
    'upstream_unexpected_shape',
    "The tool's structured result does not match the output schema that was reviewed.",
  );
}

function fits(schema: JsonSchema, value: unknown): boolean {
  try {
    return satisfies(schema, value);
  } catch {
    return false;
  }
}
