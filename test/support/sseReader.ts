import {
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';

export interface OpenStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The JSON of the next event; `undefined` at the end of the stream. */
  next(): Promise<Record<string, unknown> | undefined>;
  /** Goes away like a client that has lost patience. */
  abort(): void;
}

/** Opens a POST whose answer is read event by event, while it is still being written. */
export async function openStream(
  url: string,
  bearer: string,
  body: object,
  extraHeaders: Record<string, string> = {},
): Promise<OpenStream> {
  const request: ClientRequest = httpRequest(url, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${bearer}`,
      ...extraHeaders,
    },
  });
  request.end(JSON.stringify(body));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  response.on('error', () => undefined);
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let buffered = '';
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next: async () => {
      for (;;) {
        const end = buffered.indexOf('\n\n');
        if (end >= 0) {
          const event = buffered.slice(0, end);
          buffered = buffered.slice(end + 2);
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (data !== undefined) return JSON.parse(data) as Record<string, unknown>;
          continue;
        }
        const chunk = await chunks.next();
        if (chunk.done === true) return undefined;
        buffered += chunk.value.toString('utf8');
      }
    },
    abort: () => {
      request.destroy();
    },
  };
}
