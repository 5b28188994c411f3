import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export interface RawRequest {
  url: string;
  /** POST if absent. */
  method?: string;
  /** Instead of the host of the address. */
  host?: string;
  /** Sent exactly so and in this order, doubled names included; only Host, Connection and
   *  Content-Length (unless chunked) are added. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Sent byte for byte; no body if absent. */
  body?: string | Buffer;
  timeoutMs?: number;
  /** Ends the request from our side, as a client does that has lost patience. */
  signal?: AbortSignal;
}

export interface RawResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The body as it came. */
  text: string;
  /** The body as JSON, undefined if it is none. */
  json: unknown;
}

/** One HTTP exchange on a connection of its own, with full control over what is sent. */
export function rawHttp(options: RawRequest): Promise<RawResponse> {
  const { url, method = 'POST', headers, body } = options;
  const fixed = ['Host', options.host ?? new URL(url).host, 'Connection', 'close'];
  const isChunked = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
  if (body !== undefined && !isChunked) fixed.push('Content-Length', String(Buffer.byteLength(body)));
  const signals = [AbortSignal.timeout(options.timeoutMs ?? 30_000), options.signal];
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method,
        headers: [...fixed, ...headers.flat()],
        agent: false,
        signal: AbortSignal.any(signals.filter((signal) => signal !== undefined)),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
        });
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
