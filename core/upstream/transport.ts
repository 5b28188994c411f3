import { Agent, request } from 'undici';
import { guardedLookup, refuseForbiddenHost } from '../policy/address';

export interface UpstreamRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PROPFIND' | 'REPORT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  /** The first value of a header, by lower-case name. */
  header(name: string): string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the exchange without reading on. */
  discard(): void;
}

/** One request that follows no redirect. Passed in, so that `core/upstream` can be run against a double. */
export type UpstreamTransport = (request: UpstreamRequest) => Promise<UpstreamResponse>;

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * The transport of the shipped nodes. Connections are pooled per process. Time is bounded by the request's signal
 * alone, so that one limit rules; addresses are checked after DNS, at connection time.
 */
export function createTransport(): UpstreamTransport {
  const dispatcher = new Agent({
    connect: { lookup: guardedLookup, timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return async ({ method, url, headers, body, signal }) => {
    refuseForbiddenHost(url.hostname);
    const sent = body === undefined ? {} : { body };
    // WebDAV's methods are none of those that undici names.
    const response = await request(url, { dispatcher, method: method as 'GET', headers, signal, ...sent });
    // A body that is given up emits an error that nobody else would hear.
    response.body.on('error', () => undefined);
    return {
      status: response.statusCode,
      header: (name) => {
        const value = response.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
      body: response.body,
      discard: () => response.body.destroy(),
    };
  };
}
