import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InboundRequest } from '../../core/server/inbound';
import type { OutboundAnswer } from '../../core/server/outbound';

/** What n8n adds to the request: the parsed body and the bytes it was parsed from. */
type HostRequest = Omit<IncomingMessage, 'rawBody'> & { body?: unknown; rawBody?: Buffer };

export function inboundOf(request: HostRequest, response: ServerResponse): InboundRequest {
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  // It may have gone while n8n was loading the workflow.
  if (response.destroyed) gone.abort();
  return {
    method: request.method ?? 'GET',
    rawHeaders: request.rawHeaders,
    body: request.body,
    bodyBytes: request.rawBody?.length ?? Number(request.headers['content-length'] ?? 0),
    signal: gone.signal,
  };
}

/** Writes a complete answer. A caller that has gone away is no fault. */
export function send(response: ServerResponse, { status, headers, body }: OutboundAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
  response.end(body);
}
