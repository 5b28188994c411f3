/**
 * Every stable code that a refusal or a failed call can carry, defined once.
 *
 * - `outcome`: how the audit event names it. `refused`: a rule said no before anything ran.
 *   `error`: something that was allowed did not work.
 * - `answer`: which form the caller gets. `http`: an HTTP status with a JSON-RPC error body;
 *   `rpc`: HTTP 200 with a JSON-RPC error; `result`: a tool result with `isError: true`, the form from which
 *   a model can correct itself (MCP 2025-11-25, "Error handling" of tools).
 * - `http`: HTTP status; `rpc`: JSON-RPC error code (JSON-RPC 2.0, section 5.1; -32000 is the server-defined one).
 */
interface CodeRule {
  readonly outcome: 'refused' | 'error';
  readonly answer: 'http' | 'rpc' | 'result';
  readonly http: number;
  readonly rpc: number;
}

const http = (status: number, rpc = -32000): CodeRule => ({
  outcome: 'refused',
  answer: 'http',
  http: status,
  rpc,
});
const result = (outcome: CodeRule['outcome']): CodeRule => ({
  outcome,
  answer: 'result',
  http: 200,
  rpc: -32000,
});
const rpc = (outcome: CodeRule['outcome'], code: number): CodeRule => ({
  outcome,
  answer: 'rpc',
  http: 200,
  rpc: code,
});

export const ERROR_RULES = {
  // Who is calling, from where.
  bearer_missing: http(401),
  bearer_malformed: http(401),
  bearer_invalid: http(401),
  bearer_expired: http(401),
  bearer_not_yet_valid: http(401),
  bearer_wrong_issuer: http(401),
  bearer_wrong_audience: http(401),
  insufficient_scope: http(403),
  consumer_not_allowed: http(403),
  origin_not_allowed: http(403),
  host_not_allowed: http(403),

  // The HTTP request itself.
  method_not_allowed: http(405),
  media_type_unsupported: http(415),
  request_too_large: http(413),
  body_not_json: http(400, -32700),
  batch_not_supported: http(400, -32600),
  request_malformed: http(400, -32600),
  request_too_deep: http(400, -32600),
  protocol_version_unsupported: http(400, -32600),
  too_many_requests: http(429),
  consumer_rate_exceeded: http(429),
  consumer_concurrency_exceeded: http(429),

  // The surface as the operator set it up.
  metadata_absent: http(404),
  issuer_keys_unavailable: { outcome: 'error', answer: 'http', http: 503, rpc: -32603 },
  surface_unconfigured: { outcome: 'error', answer: 'http', http: 503, rpc: -32603 },
  internal_error: { outcome: 'error', answer: 'http', http: 500, rpc: -32603 },
  method_unknown: rpc('refused', -32601),
  tool_unknown: rpc('refused', -32602),
  resource_unknown: rpc('refused', -32602),
  cursor_invalid: rpc('refused', -32602),
  tool_missing: rpc('error', -32603),
  schema_drift: rpc('error', -32603),

  // One call.
  arguments_invalid: result('refused'),
  range_unreadable: result('refused'),
  range_too_wide: result('refused'),
  lookback_too_far: result('refused'),
  response_too_large: result('error'),
  tool_timeout: result('error'),
  tool_failed: result('error'),
  call_cancelled: result('error'),
  credential_missing: result('error'),
  principal_not_read_only: result('refused'),
  consumer_secret_missing: result('refused'),

  // A foreign MCP server and what was pinned of it.
  endpoint_invalid: result('refused'),
  allowlist_empty: result('refused'),
  pin_malformed: result('refused'),
  tool_not_pinned: result('refused'),
  tool_ambiguous: result('refused'),
  catalogue_drift: result('error'),
  server_drift: result('error'),
  endpoint_drift: result('error'),
  schema_unsupported: result('error'),
  list_too_long: result('error'),
  session_lost: result('error'),
  capability_refused: result('refused'),
  resource_not_allowed: result('refused'),

  // What the upstream did.
  upstream_auth_failed: result('error'),
  upstream_not_found: result('error'),
  upstream_rejected: result('error'),
  upstream_rate_limited: result('error'),
  upstream_unavailable: result('error'),
  upstream_unreachable: result('error'),
  upstream_timeout: result('error'),
  upstream_redirect_refused: result('error'),
  upstream_not_json: result('error'),
  upstream_unexpected_shape: result('error'),
  upstream_address_refused: result('error'),
} as const satisfies Record<string, CodeRule>;

export type ErrorCode = keyof typeof ERROR_RULES;

/** How a code is answered and audited. */
export function ruleOf(code: ErrorCode): CodeRule {
  return ERROR_RULES[code];
}

export interface PolicyErrorOptions {
  /** JSON pointer (RFC 6901) into the call's `arguments` of the value at fault. */
  readonly pointer?: string;
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number;
  /** The scopes, separated by spaces, of which one is needed. */
  readonly scope?: string;
  /** For the log only; never part of an answer. */
  readonly cause?: unknown;
}

/**
 * A refusal or failure that may be shown to the caller: `message` is one sentence to act on and holds no
 * credential, upstream address, stack or payload body.
 */
export class PolicyError extends Error {
  readonly code: ErrorCode;
  readonly pointer: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly scope: string | undefined;

  constructor(code: ErrorCode, message: string, options: PolicyErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PolicyError';
    this.code = code;
    this.pointer = options.pointer;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.scope = options.scope;
  }
}

/**
 * Turns anything thrown into something that can be answered. What is not a {@link PolicyError} is a defect or a
 * foreign error whose text may hold anything, so only the fallback sentence is shown.
 */
export function toPolicyError(thrown: unknown, fallback: ErrorCode, sentence: string): PolicyError {
  return thrown instanceof PolicyError ? thrown : new PolicyError(fallback, sentence, { cause: thrown });
}
