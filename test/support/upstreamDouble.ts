import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { closeServer, listenOnLoopback, originOf } from './loopback';

/** What the double does with one request. */
export type Answer = (response: ServerResponse) => void;

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Raw query with its question mark, or empty. */
  readonly query: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Resolves when the connection that carried the request is gone. */
  readonly socketClosed: Promise<unknown>;
}

interface BodyOptions {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function body(
  text: string | Buffer,
  { status = 200, type = 'application/json', headers = {} }: BodyOptions = {},
): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(text);
  };
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return body(JSON.stringify(value), { status, headers });
}

export const html = (status = 200): Answer =>
  body('<!doctype html><title>Sign in</title>', { status, type: 'text/html; charset=utf-8' });

export const redirect = (location: string, status = 302): Answer =>
  body('', { status, headers: { location } });

/** JSON in a gzip coat that nobody asked for. */
export const gzipped = (value: unknown): Answer =>
  body(gzipSync(JSON.stringify(value)), { headers: { 'content-encoding': 'gzip' } });

/** Takes the request and never says a word. */
export const hang: Answer = () => undefined;

/** Ends the connection before any answer. */
export const drop: Answer = (response) => {
  response.destroy();
};

/** Ends the connection in the middle of the body. */
export const dropMidway: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"data":[', () => response.destroy());
};

/** Sends the head and a little of the body, then nothing. */
export const stall: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"data":[');
};

/** Writes valid JSON text for as long as somebody reads. */
export const endless: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = `"${'x'.repeat(16_384)}",`;
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  response.write('[', more);
};

/** Announces another length than it sends. */
export const withContentLength = (text: string, length: number): Answer =>
  body(text, { headers: { 'content-length': String(length) } });

/** A real HTTP server on loopback that answers from a script and remembers what it was asked. */
export class UpstreamDouble {
  readonly requests: RecordedRequest[] = [];
  readonly #script = new Map<string, Answer[]>();
  readonly #closings = new WeakMap<Socket, Promise<unknown>>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const [path = '', ...rest] = (request.url ?? '').split('?');
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.requests.push({
          method: request.method ?? '',
          path,
          query: rest.length === 0 ? '' : `?${rest.join('?')}`,
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          socketClosed: this.#closings.get(request.socket) ?? Promise.resolve(),
        });
        this.#next(path)(response);
      });
    });
    this.#server.on('connection', (socket) => {
      this.#closings.set(socket, new Promise((resolve) => socket.once('close', resolve)));
    });
  }

  static async start(): Promise<UpstreamDouble> {
    const double = new UpstreamDouble();
    await listenOnLoopback(double.#server);
    return double;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  get lastRequest(): RecordedRequest {
    const last = this.requests.at(-1);
    if (!last) throw new Error('Upstream was not asked.');
    return last;
  }

  /** Sets the answers for a path (`*`: every other path), in order; the last one stays. */
  on(path: string, ...answers: Answer[]): this {
    this.#script.set(path, answers);
    return this;
  }

  reset(): void {
    this.requests.length = 0;
    this.#script.clear();
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }

  #next(path: string): Answer {
    const answers = this.#script.get(path) ?? this.#script.get('*') ?? [];
    const [answer = json({ message: 'not scripted' }, 404)] = answers;
    if (answers.length > 1) answers.shift();
    return answer;
  }
}
