import { AsyncLocalStorage } from 'node:async_hooks';
import {
  Agent,
  fetch as undiciFetch,
  type RequestInit as UndiciRequestInit,
  type Response as UndiciResponse,
} from 'undici';
import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import type { EgressPolicy } from './networks';

/** The shape of `fetch` that the MCP SDK asks for. */
export type ClientFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What one MCP request needs to know of the HTTP exchanges that are made for it. */
export interface Exchange {
  /** Ends the exchange, so that a time-out or a cancelled execution leaves nothing running. */
  readonly signal: AbortSignal;
  /** Called when the answer can never come: the stream ended or broke before it. */
  fail(error: PolicyError): void;
}

const exchanges = new AsyncLocalStorage<Exchange>();

/** Runs `work`; the HTTP requests that it makes belong to `exchange`. */
export function withExchange<T>(exchange: Exchange, work: () => Promise<T>): Promise<T> {
  return exchanges.run(exchange, work);
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A `fetch` that reaches only allowed addresses (checked after DNS, at connection time), refuses redirects and ends
 * an answer that grows beyond `responseBytes`. Time is bounded by the callers' signals alone. Connections are pooled
 * per policy, so that executions after each other need no new ones.
 *
 * @param responseBytes most bytes of one answer; of a stream, of one event
 */
export function guardedFetch(policy: EgressPolicy, responseBytes: number): ClientFetch {
  const dispatcher = dispatcherOf(policy);
  return async (input, init = {}) => {
    const url = new URL(input);
    policy.checkHost(url.hostname);
    const exchange = isRequest(init) ? exchanges.getStore() : undefined;
    const signal = bothSignals(init.signal, exchange?.signal);
    let response: UndiciResponse;
    try {
      response = await undiciFetch(url, {
        ...(init as unknown as UndiciRequestInit),
        ...(signal === undefined ? {} : { signal }),
        redirect: 'manual',
        dispatcher,
      });
    } catch (error) {
      throw causeOf(error);
    }
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      throw redirected(location, url);
    }
    return watched(response, responseBytes, exchange);
  };
}

const dispatchers = new WeakMap<EgressPolicy, Agent>();

function dispatcherOf(policy: EgressPolicy): Agent {
  const known = dispatchers.get(policy);
  if (known) return known;
  const dispatcher = new Agent({
    connect: { lookup: policy.lookup, timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  dispatchers.set(policy, dispatcher);
  return dispatcher;
}

/**
 * Whether an answer is waited for. Neither the stream that the server may talk on by itself nor a notification is part
 * of a call: cancelling a call must still reach the server.
 */
function isRequest({ method, body }: RequestInit): boolean {
  if (method !== 'POST' || typeof body !== 'string' || !body.startsWith('{')) return false;
  try {
    return 'id' in (JSON.parse(body) as object);
  } catch {
    return false;
  }
}

function bothSignals(
  one: AbortSignal | null | undefined,
  other: AbortSignal | undefined,
): AbortSignal | undefined {
  if (!one || !other) return one ?? other;
  return AbortSignal.any([one, other]);
}

/** undici wraps what went wrong at the socket; ours is passed on as it is. */
function causeOf(error: unknown): Error {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof PolicyError) return at;
  return error as Error;
}

function redirected(location: string, from: URL): PolicyError {
  const host = URL.canParse(location, from.href)
    ? new URL(location, from.href).host
    : 'an unreadable address';
  return new PolicyError(
    'upstream_redirect_refused',
    `The server redirects to ${foreignText(host, 120)}, which is not followed; set the address that it really has as the endpoint.`,
  );
}

/** The same response with its body counted, and its end told to the request that waits for it. */
function watched(response: UndiciResponse, most: number, exchange: Exchange | undefined): Response {
  const { status, statusText } = response;
  const headers = new Headers([...response.headers]);
  if (!response.body) return new Response(null, { status, statusText, headers });
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
  const bytes = response.body as ReadableStream<Uint8Array>;
  const body = isStream ? eventBytes(bytes, most, exchange) : countedBytes(bytes, most);
  return new Response(body, { status, statusText, headers });
}

/** For a body that is read as a whole: whoever reads it hears the error. */
function countedBytes(body: ReadableStream<Uint8Array>, most: number): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.byteLength;
        if (bytes > most) controller.error(tooLarge(most));
        else controller.enqueue(chunk);
      },
    }),
  );
}

/** Time for an answer to come through the parser after the last byte. */
const LAST_WORDS_MS = 50;

/** For a stream of events, whose end the transport tells nobody: the request would wait until its time is over. */
function eventBytes(
  body: ReadableStream<Uint8Array>,
  most: number,
  exchange: Exchange | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  let resumable = false;
  const failed = (error: unknown) => {
    exchange?.fail(error instanceof PolicyError ? error : lost());
  };
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          // Events that carry an id can be asked for again, which the transport does.
          if (!resumable) setTimeout(failed, LAST_WORDS_MS).unref();
          return;
        }
        bytes = afterLastEvent(value) ?? bytes + value.byteLength;
        if (bytes > most) throw tooLarge(most);
        resumable ||= hasEventId(value);
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        if (!resumable || error instanceof PolicyError) failed(error);
        reader.cancel().catch(() => undefined);
      }
    },
    cancel: async (reason) => {
      await reader.cancel(reason);
    },
  });
}

function tooLarge(most: number): PolicyError {
  return new PolicyError(
    'response_too_large',
    `The server's answer is larger than ${String(most)} bytes; ask for less, or raise the limit.`,
  );
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

function lost(): PolicyError {
  return new PolicyError('upstream_unreachable', 'The server ended the connection without an answer.');
}

function hasEventId(chunk: Uint8Array): boolean {
  return /(?:^|\n|\r)id:/.test(Buffer.from(chunk).toString('latin1'));
}

/** Bytes that follow the last empty line of a chunk; `undefined` when it holds none. */
function afterLastEvent(chunk: Uint8Array): number | undefined {
  for (let at = chunk.length - 1; at > 0; at -= 1) {
    if (chunk[at] !== LINE_FEED) continue;
    const before = chunk[at - 1] === CARRIAGE_RETURN ? at - 2 : at - 1;
    if (chunk[before] === LINE_FEED) return chunk.length - 1 - at;
  }
  return undefined;
}
