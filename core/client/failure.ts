import { types } from 'node:util';
import {
  MissingRequiredClientCapabilityError,
  OAuthClientFlowError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { PolicyError, type ErrorCode } from '../policy/errors';
import { foreignText } from '../policy/redaction';

const REASON_CHARACTERS = 300;
const SENTENCE_CHARACTERS = 2_000;

/**
 * What went wrong between us and a server, as a code and a sentence. The server's own words are foreign text: they are
 * shortened, and none of the credential's secrets is in them.
 *
 * @param secrets texts that must not be shown
 */
export function failureOf(error: unknown, secrets: readonly string[]): PolicyError {
  const own = inChain(error, (one) => (one instanceof PolicyError ? one : undefined));
  if (own) return withoutSecretsIn(own, secrets);
  const shown = (text: string) => foreignText(text, REASON_CHARACTERS, secrets);
  const status = statusOf(error);
  if (status !== undefined) return httpFailure(status, shown(bodyOf(error)), error);
  if (error instanceof MissingRequiredClientCapabilityError) {
    const sentence = 'The MCP server wants a capability of the client that is not offered to it.';
    return new PolicyError('capability_refused', sentence, { cause: error });
  }
  if (error instanceof ProtocolError) {
    const sentence = `The MCP server refused the request (${String(error.code)}): ${shown(error.message)}`;
    return new PolicyError('upstream_rejected', sentence, { cause: error });
  }
  if (
    error instanceof UnauthorizedError ||
    error instanceof OAuthError ||
    error instanceof OAuthClientFlowError
  ) {
    const sentence = `No access token could be obtained for the MCP server: ${shown(error.message)}`;
    return new PolicyError('upstream_auth_failed', sentence, { cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new PolicyError('upstream_timeout', 'The MCP server did not answer in time.', { cause: error });
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return ended(error);
  const socket = inChain(error, socketCode);
  if (socket !== undefined) {
    const sentence = `The MCP server could not be reached (${socket}); check the endpoint and the network.`;
    return new PolicyError('upstream_unreachable', sentence, { cause: error });
  }
  if (inChain(error, (one) => (one.name === 'TypeError' ? one : undefined))) {
    // What `fetch` throws for everything that is no answer.
    const sentence = 'The MCP server could not be reached; check the endpoint and the network.';
    return new PolicyError('upstream_unreachable', sentence, { cause: error });
  }
  if ((error as { name?: unknown } | null)?.name === 'SyntaxError') {
    return new PolicyError('upstream_not_json', "The MCP server's answer is not JSON.", { cause: error });
  }
  if (error instanceof SdkError || (error as { name?: unknown } | null)?.name === 'ZodError') {
    const sentence = `The MCP server's answer does not follow the protocol: ${shown((error as Error).message)}`;
    return new PolicyError('upstream_unexpected_shape', sentence, { cause: error });
  }
  return ended(error);
}

/** Our own sentences may hold words of the server too, such as where it redirects to. */
function withoutSecretsIn(error: PolicyError, secrets: readonly string[]): PolicyError {
  const message = foreignText(error.message, SENTENCE_CHARACTERS, secrets);
  if (message === foreignText(error.message, SENTENCE_CHARACTERS)) return error;
  const { code, pointer, retryAfterSeconds } = error;
  return new PolicyError(code, message, {
    cause: error,
    ...(pointer === undefined ? {} : { pointer }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function ended(cause: unknown): PolicyError {
  const sentence = 'The MCP server ended the connection or could not be reached.';
  return new PolicyError('upstream_unreachable', sentence, { cause });
}

/** What the transport of old servers throws: status and body are in its sentence alone. */
const REFUSED_POST = /^Error POSTing to endpoint \(HTTP (\d{3})\): ([^]*)$/;

/** The HTTP status that a server answered with, where an error of the transport carries one. */
export function statusOf(error: unknown): number | undefined {
  return inChain(error, (one) => {
    // A server may number its own errors like HTTP does.
    if (one instanceof ProtocolError) return undefined;
    const told = REFUSED_POST.exec(one.message)?.[1];
    if (told !== undefined) return Number(told);
    const { status, code, data } = one as { status?: unknown; code?: unknown; data?: { status?: unknown } };
    return [status, data?.status, code].find(
      (value): value is number => typeof value === 'number' && value >= 300 && value <= 599,
    );
  });
}

/** The server has forgotten our session. */
export class SessionLoss extends Error {}

/** MCP 2025-11-25, "Session Management": 404 to a request with a session id means that the session is over. */
export function isSessionLoss(error: unknown): boolean {
  if (error instanceof PolicyError) return false;
  if (statusOf(error) === 404) return true;
  const { message } = error as { message?: unknown };
  return statusOf(error) === 400 && typeof message === 'string' && /session|not initialized/i.test(message);
}

function bodyOf(error: unknown): string {
  const { data } = error as { data?: { text?: unknown } };
  if (typeof data?.text === 'string') return data.text;
  return REFUSED_POST.exec((error as Error).message)?.[2] ?? '';
}

function httpFailure(status: number, body: string, cause: unknown): PolicyError {
  const [code, sentence] = ((): [ErrorCode, string] => {
    if (status === 401 || status === 403) {
      return ['upstream_auth_failed', 'The MCP server refused the credential'];
    }
    if (status === 404 || status === 405)
      return ['upstream_not_found', 'There is no MCP server at this endpoint'];
    if (status === 429) return ['upstream_rate_limited', 'The MCP server answers no more requests for now'];
    if (status >= 500) return ['upstream_unavailable', 'The MCP server failed'];
    return ['upstream_rejected', 'The MCP server refused the request'];
  })();
  const said = body === '' || body.startsWith('<') ? '' : `: ${body}`;
  return new PolicyError(code, `${sentence} (HTTP ${String(status)})${said}`, { cause });
}

const SOCKET_CODE =
  /^(?:E[A-Z_]{3,40}|UND_ERR_[A-Z_]{1,40}|CERT_[A-Z_]{1,40}|[A-Z_]{1,40}_SIGNATURE[A-Z_]{0,40}|DEPTH_ZERO[A-Z_]{1,40}|SELF_SIGNED[A-Z_]{1,40}|ERR_TLS[A-Z_]{1,40}|ERR_SSL[A-Z_]{1,40})$/;

function socketCode(one: Error): string | undefined {
  const { code } = one as NodeJS.ErrnoException;
  return typeof code === 'string' && SOCKET_CODE.test(code) && !(one instanceof SdkError) ? code : undefined;
}

/** The first thing that `find` sees in an error, its causes, and what the causes collect. */
function inChain<T>(error: unknown, find: (one: Error) => T | undefined, levels = 8): T | undefined {
  // Errors of the platform are of another realm than ours where the host runs us in one of its own.
  if (!(error instanceof Error || types.isNativeError(error)) || levels === 0) return undefined;
  const found = find(error);
  if (found !== undefined) return found;
  const { cause, errors = [], data } = error as Error & { errors?: unknown[]; data?: { cause?: unknown } };
  for (const next of [cause, data?.cause, ...errors]) {
    const below = inChain(next, find, levels - 1);
    if (below !== undefined) return below;
  }
  return undefined;
}
