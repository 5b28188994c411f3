import type { AuditEvent } from '../policy/audit';
import { PolicyError, ruleOf, toPolicyError, type ErrorCode } from '../policy/errors';
import type { ConcurrencyGate } from '../policy/limits';
import type { RateLimiter } from '../policy/rate';
import { admit } from './authorize';
import { spendRequest } from './consumerLimits';
import type { Consumer } from './consumers';
import { EventStream } from './eventStream';
import type { Exchange } from './exchange';
import {
  acceptsEvents,
  echoableId,
  headerValues,
  readMessage,
  type InboundRequest,
  type JsonRpcMessage,
} from './inbound';
import { checkHosting, type HostingRules } from './origin';
import { isChallenged, protocolRefusal, refusalAnswer, retryAfter, type OutboundAnswer } from './outbound';
import { answerMessage } from './protocol';
import { beginRecord } from './record';
import type { ServedSurface } from './tools';

export interface Served {
  readonly answer: OutboundAnswer;
  /** One event for a `tools/call` or a refusal; `undefined` for what needs no record, such as a list. */
  readonly audit: AuditEvent | undefined;
  readonly isCall: boolean;
  /** What lies behind a failure, for the log of the host only. */
  readonly cause: unknown;
}

/** What the host knows of the endpoint. A part that cannot be had throws, and the surface answers 503. */
export interface Endpoint extends HostingRules {
  readonly applicationId: string;
  /**
   * Whom a request's bearer names.
   *
   * @param authorization every value of the `Authorization` header as received
   * @param now milliseconds since the epoch
   */
  identify(authorization: readonly string[], now: number): Promise<Consumer>;
  /** Address of the protected-resource metadata, where bearers are tokens of an issuer. */
  metadataAddress(): string | undefined;
  surface(): ServedSurface;
  readonly gate: ConcurrencyGate;
  readonly gateKey: string;
  readonly rates: RateLimiter;
  /** Takes the number of audit events that were lost since the last one; the next event carries it. */
  takeUndelivered(): number;
  readonly serverVersion: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * Serves one request from beginning to end: who, what, whether, then the answer. Never throws.
 *
 * Order matters: nothing about the surface is told before the caller is known, and the body is looked at last.
 */
export async function serve(request: InboundRequest, endpoint: Endpoint): Promise<Served> {
  const record = beginRecord(request, endpoint);
  let consumer: Consumer | undefined;
  let surface: ServedSurface | undefined;
  let call: Exchange['call'];
  let exchange: Exchange | undefined;

  const finish = (answer: OutboundAnswer, code: 'ok' | ErrorCode, cause: unknown): Served =>
    record.finish(answer, code, cause, {
      isCall: call !== undefined,
      consumer: consumer?.id ?? null,
      tool: exchange?.resource ?? call?.name,
      credentialSubject: surface?.credentialSubject ?? null,
    });

  try {
    checkHosting(request, endpoint);
    consumer = await endpoint.identify(headerValues(request.rawHeaders, 'authorization'), endpoint.now());
    spendRequest(consumer, endpoint.rates, endpoint.gateKey, endpoint.now());
    surface = endpoint.surface();
    admit(consumer, surface);
    const message = readMessage(request, surface.limits.request_bytes);
    call = callOf(message);
    exchange = {
      correlationId: record.correlationId,
      consumer,
      surface,
      call,
      signal: request.signal,
      gate: endpoint.gate,
      gateKey: endpoint.gateKey,
      serverVersion: endpoint.serverVersion,
      stream: call === undefined ? undefined : streamOf(request, record.headers),
      report: undefined,
      resource: undefined,
      outcome: 'ok',
      refusal: undefined,
    };
    const answer = await answerOf(message, request, exchange);
    // The protocol layer lets go of a caller that is gone, before the call has said so.
    const code =
      call && request.signal.aborted && exchange.outcome === 'ok' ? 'call_cancelled' : exchange.outcome;
    return finish(answer, code, exchange.refusal?.cause);
  } catch (thrown) {
    const error = toPolicyError(thrown, 'internal_error', 'The request failed inside the server.');
    // How a surface is set up is for its operator: the caller learns that it is broken, the log says why.
    const configuration = error.code === 'surface_unconfigured';
    const shown = configuration ? UNCONFIGURED : error;
    return finish(
      refusalAnswer(
        shown,
        echoableId(request.body),
        isChallenged(shown) ? endpoint.metadataAddress() : undefined,
      ),
      error.code,
      configuration ? error : error.cause,
    );
  } finally {
    exchange?.stream?.end();
  }
}

function streamOf(
  { rawHeaders, openStream }: InboundRequest,
  headers: Readonly<Record<string, string>>,
): EventStream | undefined {
  return openStream && acceptsEvents(rawHeaders) ? new EventStream(openStream, headers) : undefined;
}

const UNCONFIGURED = new PolicyError(
  'surface_unconfigured',
  'This surface is not set up correctly; its operator finds the reason in the log.',
);

/** What counts as a call. Which operation a read is for is known only once its URI was looked up. */
function callOf({ method, params }: JsonRpcMessage): Exchange['call'] {
  if (method === 'tools/call') return { name: params?.['name'], arguments: params?.['arguments'] };
  return method === 'resources/read' ? { name: undefined, arguments: undefined } : undefined;
}

async function answerOf(
  message: JsonRpcMessage,
  request: InboundRequest,
  exchange: Exchange,
): Promise<OutboundAnswer> {
  if (message.method === 'subscriptions/listen' && message.id !== undefined) {
    // Nothing that is served here changes while a client listens, so no stream is held open for it.
    exchange.outcome = 'method_unknown';
    throw new PolicyError('method_unknown', 'This server sends no subscription notices.');
  }
  const answered = await answerMessage(withObjectArguments(message), headersOf(request.rawHeaders), exchange);
  const { refusal, stream } = exchange;
  if (stream?.isOpen) return { status: 200, headers: {}, body: '', streamedBytes: stream.bytes };
  const rule = refusal && ruleOf(refusal.code);
  const own = refusal ? undefined : protocolRefusal(answered.status, answered.body);
  if (own) exchange.outcome = own.code;
  const body = own?.body ?? answered.body;
  return {
    status: rule?.answer === 'http' ? rule.http : answered.status,
    headers: {
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
      ...(refusal === undefined ? {} : retryAfter(refusal)),
    },
    body,
  };
}

/** Arguments of another type are refused by our own rule with its pointer, not by the SDK's parser. */
function withObjectArguments(message: JsonRpcMessage): JsonRpcMessage {
  if (message.method !== 'tools/call') return message;
  const { name, arguments: given } = message.params ?? {};
  const fits = given === undefined || (given !== null && typeof given === 'object' && !Array.isArray(given));
  if (typeof name === 'string' && fits) return message;
  return {
    ...message,
    params: { ...message.params, name: typeof name === 'string' ? name : '', arguments: fits ? given : {} },
  };
}

/** What stays here of a request's headers: the bearer has done its work and goes no further. */
const WITHHELD = new Set([
  'authorization',
  'cookie',
  'content-length',
  'transfer-encoding',
  'connection',
  'host',
]);

function headersOf(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (!WITHHELD.has(name)) headers.append(name, value);
  }
  return headers;
}
