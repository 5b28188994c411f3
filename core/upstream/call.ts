import type { PreparedOperation } from '../contract/definition';
import { satisfies, validateArguments } from '../policy/arguments';
import { PolicyError, toPolicyError } from '../policy/errors';
import { utf8Bytes } from '../policy/limits';
import type { UpstreamAccess } from './access';
import { readAnswer } from './answer';
import { project, type Projected } from './projection';
import { boundPrometheusCall, normalizePrometheusBody } from './prometheus';
import { buildRequest, matchesPathTemplate, type CallerIdentity } from './request';
import type { UpstreamRequest, UpstreamResponse, UpstreamTransport } from './transport';

export interface CallContext extends CallerIdentity {
  readonly correlationId: string;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

export interface CallResult {
  readonly structured: Projected;
  /** The same as JSON text. */
  readonly text: string;
}

export interface UpstreamPorts {
  readonly transport: UpstreamTransport;
  /** The present in milliseconds. */
  readonly now: () => number;
}

/**
 * Runs one operation: validate, bound, build, request, read, project, check. The contract's timeout covers all of it.
 *
 * @param given the caller's arguments, untrusted
 * @throws PolicyError with the code of what went wrong; nothing else escapes
 */
export async function callOperation(
  prepared: PreparedOperation,
  given: unknown,
  access: UpstreamAccess,
  context: CallContext,
  ports: UpstreamPorts,
): Promise<CallResult> {
  const { definition, descriptor } = prepared;
  const { limits, operation, adapter } = definition;
  const valid = validateArguments(descriptor.inputSchema, given);
  const args = boundPrometheusCall(definition, valid, ports.now() / 1_000);
  const { url, headers, asked } = buildRequest(definition, args, context, access);
  const timeout = AbortSignal.timeout(limits.timeout_seconds * 1_000);
  const signal = AbortSignal.any([context.signal, timeout]);
  try {
    const response = await exchange({ url, headers, signal }, prepared, access, ports.transport);
    const body = await readAnswer(response, operation, access, limits.response_bytes);
    const shaped = adapter.type === 'prometheus_readonly' ? normalizePrometheusBody(body) : body;
    return checked(() => project(shaped, definition, asked, args), prepared);
  } catch (error) {
    throw explain(error, timeout, context.signal, limits.timeout_seconds);
  }
}

/** One request, and the one redirect that a contract may allow: same origin, same path template, our own query. */
async function exchange(
  request: UpstreamRequest,
  { definition: { operation } }: PreparedOperation,
  access: UpstreamAccess,
  transport: UpstreamTransport,
): Promise<UpstreamResponse> {
  const response = await transport(request);
  const location = response.header('location');
  const redirected = response.status >= 300 && response.status < 400 && location !== undefined;
  if (!redirected || operation.response.redirect !== 'same_path_template') return response;
  const target = URL.canParse(location, request.url.href) ? new URL(location, request.url.href) : undefined;
  const allowed =
    target?.origin === access.base.origin &&
    target.username === '' &&
    matchesPathTemplate(target.pathname, access, operation.request.path);
  if (!target || !allowed) return response;
  response.discard();
  const next = new URL(request.url);
  next.pathname = target.pathname;
  return await transport({ ...request, url: next });
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
