import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventSink } from '../../core/server/eventStream';
import type { InboundRequest } from '../../core/server/inbound';
import type { OutboundAnswer } from '../../core/server/outbound';

/** What n8n adds to the request: the parsed body and the bytes it was parsed from. */
type HostRequest = Omit<IncomingMessage, 'rawBody'> & { body?: unknown; rawBody?: Buffer };

/** What the compression middleware of n8n adds to the response. */
type HostResponse = ServerResponse & { flush?(): void };

export function inboundOf(request: HostRequest, response: HostResponse): InboundRequest {
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
    isLoopback: isLoopback(request.socket.localAddress),
    openStream: (headers) => openStream(response, headers),
  };
}

/** The side of the connection that n8n listens on. */
function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::1|(?:::ffff:)?127\.)/.test(address);
}

function openStream(response: HostResponse, headers: Readonly<Record<string, string>>): EventSink {
  const isOpen = () => !response.destroyed && !response.writableEnded;
  if (isOpen()) {
    dropForeignCors(response);
    response.writeHead(200, headers);
  }
  return {
    write: (text) => {
      if (!isOpen()) return;
      response.write(text);
      // n8n compresses, and a compressor keeps what it has until there is enough of it.
      response.flush?.();
    },
    end: () => {
      if (isOpen()) response.end();
    },
  };
}

/** Writes a complete answer. A caller that has gone away is no fault; nor is one whose answer was streamed. */
export function send(response: ServerResponse, { status, headers, body }: OutboundAnswer): void {
  if (response.headersSent || response.destroyed) return;
  dropForeignCors(response);
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
  response.end(body);
}

/** n8n lets the page of any origin read the answer where no list of origins says otherwise. Here the surface decides. */
function dropForeignCors(response: ServerResponse): void {
  response.removeHeader('access-control-allow-origin');
  response.removeHeader('access-control-allow-methods');
}
