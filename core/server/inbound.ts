import { PolicyError } from '../policy/errors';
import { DEEPEST_NESTING } from '../policy/limits';
import type { OpenEventStream } from './eventStream';

/** One HTTP request as the host received it. */
export interface InboundRequest {
  readonly method: string;
  /** Name, value, name, value … as received, so that doubled headers can be seen. */
  readonly rawHeaders: readonly string[];
  /** The body as the host parsed it; `undefined` when there was none or when it is not JSON. */
  readonly body: unknown;
  readonly bodyBytes: number;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  /** Whether the connection came in on the machine's own loopback address. */
  readonly isLoopback?: boolean | undefined;
  /** Opens a streamed answer; absent where the host cannot. */
  readonly openStream?: OpenEventStream | undefined;
}

/** A JSON-RPC request or notification that has the right outer shape. */
export interface JsonRpcMessage {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly id?: string | number | null;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Every value of a header, by lower-case name. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

/**
 * Checks method, type, size and outer shape of a request whose caller is known.
 *
 * @param limit largest body in bytes
 * @throws PolicyError with the HTTP status of the fault
 */
export function readMessage(request: InboundRequest, limit: number): JsonRpcMessage {
  if (request.method !== 'POST') {
    throw new PolicyError('method_not_allowed', 'This endpoint is stateless and takes POST only.');
  }
  const [type = ''] = headerValues(request.rawHeaders, 'content-type');
  if (type.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw new PolicyError('media_type_unsupported', 'Send the body as Content-Type: application/json.');
  }
  if (request.bodyBytes > limit) {
    throw new PolicyError('request_too_large', `The request body is larger than ${String(limit)} bytes.`);
  }
  const { body } = request;
  if (body === undefined || request.bodyBytes === 0) {
    throw new PolicyError('body_not_json', 'The request body is not JSON.');
  }
  if (Array.isArray(body)) {
    throw new PolicyError('batch_not_supported', 'Send one JSON-RPC message per request, not a batch.');
  }
  if (body === null || typeof body !== 'object') {
    throw new PolicyError('request_malformed', 'The request body must be one JSON-RPC object.');
  }
  if (isDeeperThan(body, DEEPEST_NESTING)) {
    throw new PolicyError(
      'request_too_deep',
      `The request body is nested more than ${String(DEEPEST_NESTING)} levels deep.`,
    );
  }
  return asMessage(body as Record<string, unknown>);
}

function asMessage(body: Record<string, unknown>): JsonRpcMessage {
  const { jsonrpc, method, id, params } = body;
  const shaped =
    jsonrpc === '2.0' &&
    typeof method === 'string' &&
    (id === undefined || typeof id === 'string' || typeof id === 'number') &&
    (params === undefined || (params !== null && typeof params === 'object' && !Array.isArray(params)));
  if (!shaped) {
    throw new PolicyError(
      'request_malformed',
      'A JSON-RPC 2.0 message needs jsonrpc "2.0", a method, an id that is text or a number, and object params.',
    );
  }
  if (method === 'tools/call' && id === undefined) {
    throw new PolicyError(
      'request_malformed',
      'A tools/call needs an id; as a notification nobody could answer it.',
    );
  }
  return body as unknown as JsonRpcMessage;
}

/** Level by level, so that hostile depth cannot use up the stack. */
function isDeeperThan(value: object, levels: number): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((entry) =>
      (Object.values(entry) as unknown[]).filter(
        (child): child is object => child !== null && typeof child === 'object',
      ),
    );
  }
  return false;
}

/** The id to answer with, where a body that was refused still had a usable one (JSON-RPC 2.0, section 5). */
export function echoableId(body: unknown): string | number | null {
  const id = (body as { id?: unknown } | null | undefined)?.id;
  if (typeof id === 'number') return id;
  return typeof id === 'string' && id.length <= 256 ? id : null;
}

/** Whether a client takes a streamed answer: it has to say so by name. */
export function acceptsEvents(rawHeaders: readonly string[]): boolean {
  return headerValues(rawHeaders, 'accept')
    .flatMap((value) => value.split(','))
    .some((range) => /^\s*text\/event-stream\s*(?:;(?!\s*q=0(?:\.0*)?\s*$).*)?$/i.test(range));
}
