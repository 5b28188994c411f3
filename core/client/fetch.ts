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

interface Running extends Exchange {
  isOver: boolean;
}

const exchanges = new AsyncLocalStorage<Running>();

/** Runs `work`; the HTTP requests that it makes belong to `exchange` until it is done. */
export async function withExchange<T>(exchange: Exchange, work: () => Promise<T>): Promise<T> {
  const running: Running = {
    signal: exchange.signal,
    fail: (error) => {
      exchange.fail(error);
    },
    isOver: false,
  };
  try {
    return await exchanges.run(running, work);
  } finally {
    running.isOver = true;
  }
}

/** The exchange that the running code belongs to. What outlives its request, such as an open stream, has none. */
export function currentExchange(): Exchange | undefined {
  const running = exchanges.getStore();
  return running?.isOver === false ? running : undefined;
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
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notHttp(url.protocol);
    policy.checkHost(url.hostname);
    const exchange = isPartOfCall(init) ? currentExchange() : undefined;
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
 * Whether an HTTP request ends with the call that it is made for, as asking for a token does. Neither the stream that
 * the server may talk on by itself, nor a notification, nor an answer of ours is part of a call: cancelling a call must
 * still reach the server.
 */
function isPartOfCall({ method = 'GET', headers, body }: RequestInit): boolean {
  if (method === 'GET') return !(new Headers(headers).get('accept') ?? '').includes('text/event-stream');
  if (method !== 'POST' || typeof body !== 'string' || !body.startsWith('{')) return true;
  try {
    const message = JSON.parse(body) as object;
    return !('jsonrpc' in message) || ('id' in message && 'method' in message);
  } catch {
    return true;
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

function notHttp(protocol: string): PolicyError {
  return new PolicyError(
    'upstream_address_refused',
    `The server leads to an address with ${foreignText(protocol, 20)}; only http and https are used.`,
  );
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

/** The same response with its body counted. */
function watched(response: UndiciResponse, most: number, exchange: Exchange | undefined): Response {
  const { status, statusText } = response;
  const headers = new Headers([...response.headers]);
  if (!response.body) return new Response(null, { status, statusText, headers });
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
  const count = isStream ? eventCounter() : bodyCounter();
  const body = (response.body as ReadableStream<Uint8Array>).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (count(chunk) <= most) {
          controller.enqueue(chunk);
          return;
        }
        const error = tooLarge(most);
        controller.error(error);
        // Whoever reads a body as a whole hears the error; of a stream, nobody tells the request that waits for it.
        exchange?.fail(error);
      },
    }),
  );
  return new Response(body, { status, statusText, headers });
}

function bodyCounter(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return (chunk) => (bytes += chunk.byteLength);
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Counts the bytes of one event after the other; an empty line ends an event. The largest one in the chunk is told. */
function eventCounter(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let isLineEmpty = true;
  let last = 0;
  return (chunk) => {
    let largest = 0;
    for (const byte of chunk) {
      bytes += 1;
      const endsLine = byte === CARRIAGE_RETURN || (byte === LINE_FEED && last !== CARRIAGE_RETURN);
      if (bytes > largest) largest = bytes;
      if (endsLine && isLineEmpty) bytes = 0;
      if (endsLine) isLineEmpty = true;
      else if (byte !== LINE_FEED) isLineEmpty = false;
      last = byte;
    }
    return largest;
  };
}

function tooLarge(most: number): PolicyError {
  return new PolicyError(
    'response_too_large',
    `The server's answer is larger than ${String(most)} bytes; ask for less, or raise the limit.`,
  );
}
