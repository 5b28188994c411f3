import type { OperationDefinition, PreparedOperation } from '../contract/definition';
import { recordOf } from '../contract/recordOf';
import { satisfies, validateArguments } from '../policy/arguments';
import { PolicyError, toPolicyError } from '../policy/errors';
import { utf8Bytes } from '../policy/limits';
import type { Reporter } from '../policy/report';
import { project, type Projected } from './projection';
import type { CallerIdentity } from './values';

export interface CallContext extends CallerIdentity {
  readonly correlationId: string;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  /** Where the tool may tell how far it is; absent where nobody listens. */
  readonly report?: Reporter | undefined;
}

export interface CallResult {
  readonly structured: Projected;
  /** The same as JSON text. */
  readonly text: string;
}

type Arguments = Readonly<Record<string, unknown>>;

/**
 * What every kind of adapter has in common: validate, bound, ask, project, check. The contract's timeout covers all of it.
 *
 * @param given the caller's arguments, untrusted
 * @param ask gets what upstream has; the arguments are valid and the page size is clamped
 * @throws PolicyError with the code of what went wrong; nothing else escapes
 */
export async function runOperation(
  prepared: PreparedOperation,
  given: unknown,
  context: CallContext,
  ask: (args: Arguments, signal: AbortSignal) => Promise<unknown>,
): Promise<CallResult> {
  const { definition, descriptor } = prepared;
  const { limits } = definition;
  const valid = validateArguments(descriptor.inputSchema, given);
  const asked = pageSize(definition, valid);
  const size = definition.operation.pagination.size_argument;
  const args = size === null ? valid : { ...valid, [size]: asked };
  const timeout = AbortSignal.timeout(limits.timeout_seconds * 1_000);
  const signal = AbortSignal.any([context.signal, timeout]);
  // The first word keeps a waiting client and the proxies before it patient.
  context.report?.({ kind: 'progress', progress: 0, total: 1, message: 'Upstream is asked.' });
  try {
    const body = await ask(args, signal);
    context.report?.({ kind: 'progress', progress: 1, total: 1, message: 'Upstream has answered.' });
    return checked(() => project(body, definition, asked, args), prepared);
  } catch (error) {
    throw explain(error, timeout, context.signal, limits.timeout_seconds);
  }
}

/** How many records are asked for, bounded by the limits; `undefined` when the operation has no page size. */
function pageSize(
  { operation: { pagination, input_schema: input }, limits }: OperationDefinition,
  args: Arguments,
): number | undefined {
  if (pagination.size_argument === null) return undefined;
  const { maximum } = recordOf(recordOf(input['properties'])[pagination.size_argument]);
  // Left out means no more than what may be asked for.
  const most = typeof maximum === 'number' ? Math.min(maximum, limits.page_size) : limits.page_size;
  return Math.min(Number(args[pagination.size_argument] ?? most), most, limits.result_items);
}

const OTHER_SHAPE =
  'Upstream answered with values of another type than the contract declares; its version may differ.';

function checked(projected: () => Projected, { definition, descriptor }: PreparedOperation): CallResult {
  let structured: Projected;
  let fits: boolean;
  try {
    structured = projected();
    fits = !descriptor.outputSchema || satisfies(descriptor.outputSchema, structured);
  } catch (error) {
    // For example a record that is nested deeper than the stack, or a key that is no Unicode.
    throw toPolicyError(error, 'upstream_unexpected_shape', OTHER_SHAPE);
  }
  if (!fits) throw new PolicyError('upstream_unexpected_shape', OTHER_SHAPE);
  const text = JSON.stringify(structured);
  if (utf8Bytes(text) > definition.limits.response_bytes) {
    throw new PolicyError(
      'response_too_large',
      `The result is larger than ${String(definition.limits.response_bytes)} bytes; ask for fewer records.`,
    );
  }
  return { structured, text };
}

function explain(error: unknown, timeout: AbortSignal, caller: AbortSignal, seconds: number): PolicyError {
  if (error instanceof PolicyError) return error;
  // The server's own timer may be the one that rings first; it is the same limit.
  if (timeout.aborted || (caller.reason as { name?: unknown } | undefined)?.name === 'TimeoutError') {
    return new PolicyError('upstream_timeout', `Upstream did not answer within ${String(seconds)} seconds.`);
  }
  if (caller.aborted) return new PolicyError('call_cancelled', 'The caller ended the request.');
  return new PolicyError('upstream_unreachable', 'Upstream could not be reached or ended the connection.', {
    cause: error,
  });
}
