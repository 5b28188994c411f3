import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';

import { closeServer, listenOnLoopback, originOf } from './loopback';

/** A request whose backend broke the connection before it had answered. */
export interface LostRequest {
  readonly backend: string;
  /** Milliseconds since the epoch when it was handed to the backend. */
  readonly sentAt: number;
}

/**
 * A load balancer without affinity: each request goes to the next backend, whoever sends it. A backend that refuses the
 * connection is taken out and the next one asked, as any load balancer does; a connection that breaks later is answered
 * with 502, because nobody can tell how far the request had got.
 */
export class RoundRobinProxy {
  /** Requests that were under way when their backend went. */
  readonly lost: LostRequest[] = [];
  /** How many requests each backend has answered. */
  readonly answered = new Map<string, number>();
  readonly #server: Server;
  #backends: string[];
  #next = 0;

  private constructor(backends: readonly string[]) {
    this.#backends = [...backends];
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(backends: readonly string[]): Promise<RoundRobinProxy> {
    const proxy = new RoundRobinProxy(backends);
    await listenOnLoopback(proxy.#server);
    return proxy;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  /** Puts a backend into the round, as a health check does once it is ready. */
  take(backend: string): void {
    if (!this.#backends.includes(backend)) this.#backends.push(backend);
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    for (;;) {
      const backend = this.#backends[this.#next++ % Math.max(this.#backends.length, 1)];
      if (backend === undefined) {
        response.writeHead(503).end();
        return;
      }
      if (await this.#forward(backend, request, body, response)) return;
      this.#backends = this.#backends.filter((known) => known !== backend);
    }
  }

  /** False when the backend refuses connections, so that nothing of the request has reached it. */
  #forward(
    backend: string,
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
  ): Promise<boolean> {
    const sentAt = Date.now();
    return new Promise((resolve) => {
      const { method = 'GET', url = '/', rawHeaders } = request;
      const forwarded = httpRequest(
        `${backend}${url}`,
        // A connection of its own: one that was kept may break without having carried anything.
        { method, headers: hopless(rawHeaders), agent: false },
        (answer) => {
          this.answered.set(backend, (this.answered.get(backend) ?? 0) + 1);
          response.writeHead(answer.statusCode ?? 502, hopless(answer.rawHeaders));
          answer.pipe(response);
          answer.once('error', () => response.destroy());
          answer.once('end', () => {
            resolve(true);
          });
        },
      );
      forwarded.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') {
          resolve(false);
          return;
        }
        this.lost.push({ backend, sentAt });
        if (!response.headersSent) response.writeHead(502, { 'content-type': 'text/plain' });
        response.end('The backend broke the connection.');
        resolve(true);
      });
      response.once('close', () => {
        if (!response.writableFinished) forwarded.destroy();
      });
      forwarded.end(body);
    });
  }
}

/** Headers without those that belong to one connection (RFC 9110, section 7.6.1). */
function hopless(rawHeaders: readonly string[]): string[] {
  const hops = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (!hops.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
