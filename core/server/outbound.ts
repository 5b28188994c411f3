import { ruleOf, type ErrorCode, type PolicyError } from '../policy/errors';

/** A complete HTTP answer, or what is left to say of one that was streamed. */
export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Bytes that went out as a stream; the host has nothing more to write then. */
  readonly streamedBytes?: number;
}

/**
 * A refusal before the protocol layer: an HTTP status and a JSON-RPC error that says what to do.
 *
 * @param metadata address of the protected-resource metadata, where there is an issuer
 */
export function refusalAnswer(
  error: PolicyError,
  id: string | number | null,
  metadata?: string,
): OutboundAnswer {
  const rule = ruleOf(error.code);
  return {
    status: rule.http,
    headers: {
      'content-type': 'application/json',
      ...retryAfter(error),
      ...(isChallenged(error) ? { 'www-authenticate': challengeOf(error, metadata) } : {}),
      ...(rule.http === 405 ? { allow: 'POST', connection: 'close' } : {}),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id,
      error: { code: rule.rpc, message: error.message, data: { code: error.code } },
    }),
  };
}

/** Whether another bearer could help. */
export function isChallenged({ code }: PolicyError): boolean {
  return ruleOf(code).http === 401 || code === 'insufficient_scope';
}

/** RFC 6750, section 3: no error attribute when the request held no credentials at all. RFC 9728, section 5.1. */
function challengeOf({ code, scope }: PolicyError, metadata: string | undefined): string {
  const parts = ['Bearer realm="mcp"'];
  if (code !== 'bearer_missing') parts.push(`error="${challengeError(code)}"`);
  if (scope !== undefined && scope !== '') parts.push(`scope="${scope}"`);
  if (metadata !== undefined) parts.push(`resource_metadata="${metadata}"`);
  return parts.join(', ');
}

function challengeError(code: ErrorCode): string {
  if (code === 'insufficient_scope') return code;
  return code === 'bearer_malformed' ? 'invalid_request' : 'invalid_token';
}

export function retryAfter(error: PolicyError): Record<string, string> {
  return error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) };
}

/**
 * What the protocol layer refused by itself gets one of our codes too, in the answer and in the audit. Its own handlers
 * never fail with an internal error (ours do, with a refusal), so that one means params that do not fit the method; its
 * sentence would be a dump of the parser.
 */
export function protocolRefusal(status: number, body: string): { code: ErrorCode; body: string } | undefined {
  if (body === '' || (status < 400 && body.startsWith('{"result"'))) return undefined;
  const answer = JSON.parse(body) as { error?: { code: number; message: string; data?: unknown } };
  const { error } = answer;
  if (error === undefined) return undefined;
  const code = protocolCode(error);
  const data = { ...(typeof error.data === 'object' ? error.data : {}), code };
  const shown =
    error.code === INTERNAL_ERROR
      ? { code: INVALID_PARAMS, message: 'The params do not fit this method.', data: { code } }
      : // The sentence would repeat what the caller called a version; the data tell which ones there are.
        {
          ...error,
          ...(code === 'protocol_version_unsupported' ? { message: UNSUPPORTED_VERSION } : {}),
          data,
        };
  return { code, body: JSON.stringify({ ...answer, error: shown }) };
}

const UNSUPPORTED_VERSION = 'This protocol revision is not spoken here.';

/** JSON-RPC 2.0, section 5.1. */
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

function protocolCode({ code, message }: { code: number; message: string }): ErrorCode {
  if (code === ruleOf('method_unknown').rpc) return 'method_unknown';
  return /protocol.version/i.test(message) ? 'protocol_version_unsupported' : 'request_malformed';
}
