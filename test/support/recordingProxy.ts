import { createHash } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listenOnLoopback, originOf } from './loopback';

export interface PassedRequest {
  readonly method: string;
  readonly path: string;
  /** SHA-256 of the body: what was sent, without keeping any secret. */
  readonly bodySha256: string;
}

/** Where a connection breaks: before n8n sees the request, or after it has done what it was asked for. */
export type CutMoment = 'before' | 'after';

/** A reverse proxy on loopback that passes everything on, remembers what went through, and can be cut off. */
export class RecordingProxy {
  readonly requests: PassedRequest[] = [];
  readonly #server = createServer((request, response) => {
    this.#pass(request, response).catch(() => response.destroy());
  });
  #cut: { readonly nth: number; readonly when: CutMoment; readonly onCut: () => void } | undefined;
  #isDead = false;

  private constructor(private readonly target: string) {}

  static async start(target: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target);
    await listenOnLoopback(proxy.#server);
    return proxy;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  /** Requests to the public API that change something; the audit is a read that is asked for by POST. */
  get writes(): string[] {
    return this.requests.filter(isWrite).map(({ method, path }) => `${method} ${path}`);
  }

  /** From the nth write on, counted from 1 and from now, nobody reaches n8n any more. */
  cutAt(nth: number, when: CutMoment, onCut: () => void = () => undefined): void {
    this.#forget();
    this.#cut = { nth, when, onCut };
  }

  /** Starts counting anew, over a connection that works. */
  restore(): void {
    this.#forget();
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }

  /** Whether the cut has happened. */
  get isDead(): boolean {
    return this.#isDead;
  }

  #forget(): void {
    this.requests.length = 0;
    this.#cut = undefined;
    this.#isDead = false;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (this.#isDead) {
      response.destroy();
      return;
    }
    const { method = '', url: path = '' } = request;
    this.requests.push({ method, path, bodySha256: createHash('sha256').update(body).digest('hex') });
    const isCut = this.#cut !== undefined && this.writes.length === this.#cut.nth;
    this.#isDead = isCut;
    if (isCut) this.#cut?.onCut();
    if (isCut && this.#cut?.when === 'before') {
      response.destroy();
      return;
    }
    const answer = await this.#forward(request, body);
    if (isCut) {
      answer.resume();
      answer.once('end', () => response.destroy());
      return;
    }
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
  }

  #forward({ method, url = '', rawHeaders }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.target);
      const options = {
        hostname,
        port,
        method: method ?? 'GET',
        path: url,
        headers: rawHeaders,
        agent: false,
      };
      httpRequest(options as object, resolve)
        .once('error', reject)
        .end(body);
    });
  }
}

function isWrite({ method, path }: PassedRequest): boolean {
  return path.startsWith('/api/v1/') && method !== 'GET' && !path.startsWith('/api/v1/audit');
}
