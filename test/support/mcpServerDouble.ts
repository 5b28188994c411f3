import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer, listenOnLoopback } from './loopback';

/** What the server does with one HTTP request. */
export type HttpAnswer = (response: ServerResponse) => void;

export interface RpcMessage {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface RecordedRequest {
  readonly http: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: RpcMessage | undefined;
  /** JSON-RPC method; empty where there is none. */
  readonly rpc: string;
  /** Resolves when the exchange is over: whether the client ended it before it was answered. */
  readonly endedByClient: Promise<boolean>;
}

/** What a method answers: a result, or an HTTP answer that is no result. Throw a `RpcFault` for a JSON-RPC error. */
export type Handler = (message: RpcMessage, exchange: RpcExchange) => unknown;

export interface RpcExchange {
  /** Writes a message on the stream that the answer will come on. */
  readonly send: (message: object) => void;
  /** Asks the client on that stream, and waits for what it says. */
  readonly ask: (method: string, params?: object) => Promise<RpcMessage>;
}

export class RpcFault extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export const status =
  (code: number, body = '', headers: Record<string, string> = {}): HttpAnswer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'text/plain', ...headers }).end(body);
  };
export const redirect = (location: string, code = 307): HttpAnswer => status(code, '', { location });
/** Takes the request and never says a word. */
export const hang: HttpAnswer = () => undefined;
export const reset: HttpAnswer = (response) => {
  response.socket?.resetAndDestroy();
};

/** A tool that is well formed, with whatever is given on top. */
export const tool = (name: string, more: object = {}): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  ...more,
});

const text = (said: string) => ({ content: [{ type: 'text', text: said }] });

/** A real MCP server on loopback, of the 2025 era over Streamable HTTP, that does what a test says and remembers it. */
export class McpServerDouble {
  readonly requests: RecordedRequest[] = [];
  serverInfo: object = { name: 'double', version: '1.0.0' };
  tools: unknown[] = [];
  /** Tools per page; all on one page by default. */
  pageSize = Number.POSITIVE_INFINITY;
  answersAs: 'json' | 'sse' = 'json';
  /** Keeps sessions and demands their ids. */
  sessions = false;
  /** Offers the stream that the server may talk on by itself. */
  streams = false;
  /** For every HTTP request first; `undefined` lets it pass. */
  before: (request: RecordedRequest) => HttpAnswer | undefined = () => undefined;

  readonly #handlers = new Map<string, Handler>();
  readonly #open = new Set<string>();
  readonly #streams = new Set<ServerResponse>();
  readonly #asked = new Map<string | number, (message: RpcMessage) => void>();
  readonly #server: Server;
  #ids = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#receive(request, response).catch(() => response.destroy());
    });
    this.on('initialize', ({ params }) => ({
      protocolVersion: params?.['protocolVersion'],
      capabilities: { tools: { listChanged: true } },
      serverInfo: this.serverInfo,
    }));
    this.on('ping', () => ({}));
    this.on('tools/list', ({ params }) => this.#page(params?.['cursor']));
    this.on('tools/call', ({ params }) => text(JSON.stringify(params?.['arguments'])));
  }

  static async start(set: Partial<McpServerDouble> = {}): Promise<McpServerDouble> {
    const double = new McpServerDouble();
    Object.assign(double, set);
    await listenOnLoopback(double.#server);
    return double;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  get endpoint(): string {
    return `${this.origin}/mcp`;
  }

  /** What a JSON-RPC method does from now on. */
  on(method: string, handler: Handler): this {
    this.#handlers.set(method, handler);
    return this;
  }

  /** The JSON-RPC requests for a method, or all of them. */
  asked(method?: string): RecordedRequest[] {
    return this.requests.filter(({ rpc }) => (method === undefined ? rpc !== '' : rpc === method));
  }

  /** The arguments of the calls that arrived. */
  get calls(): unknown[] {
    return this.asked('tools/call').map(({ body }) => body?.params?.['arguments']);
  }

  forgetSessions(): void {
    this.#open.clear();
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  /** Says something on every open stream of the server's own. */
  say(message: object): void {
    for (const stream of this.#streams) writeEvent(stream, message);
  }

  toolsChanged(): void {
    this.say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  }

  /** Asks the client on the server's own streams. */
  async ask(method: string, params: object = {}): Promise<RpcMessage> {
    return await this.#ask(
      (message) => {
        this.say(message);
      },
      method,
      params,
    );
  }

  /** Makes the next request need a connection of its own. */
  closeIdleConnections(): void {
    this.#server.closeIdleConnections();
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const recorded: RecordedRequest = {
      http: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      rpc: body?.method ?? '',
      endedByClient: new Promise((resolve) => {
        response.once('close', () => {
          resolve(!response.writableFinished);
        });
      }),
    };
    this.requests.push(recorded);
    const answer = this.before(recorded) ?? this.#sessionFault(recorded);
    if (answer) answer(response);
    else if (request.method === 'GET') this.#openStream(response);
    else if (request.method === 'DELETE') response.writeHead(200).end();
    else if (request.method === 'POST' && body) await this.#answer(body, response);
    else response.writeHead(405).end();
  }

  #sessionFault({ http, body, headers }: RecordedRequest): HttpAnswer | undefined {
    if (!this.sessions || body?.method === 'initialize' || body?.method === 'server/discover')
      return undefined;
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') return status(400, 'Bad Request: Mcp-Session-Id header is required');
    if (!this.#open.has(id)) return status(404, 'Session not found');
    if (http === 'DELETE') this.#open.delete(id);
    return undefined;
  }

  #openStream(response: ServerResponse): void {
    if (!this.streams) {
      response.writeHead(405, { allow: 'POST' }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    this.#streams.add(response);
    response.once('close', () => this.#streams.delete(response));
  }

  async #answer(message: RpcMessage, response: ServerResponse): Promise<void> {
    const { id, method } = message;
    if (id === undefined || method === undefined) {
      if (id !== undefined) this.#asked.get(id)?.(message);
      response.writeHead(202).end();
      return;
    }
    const send = (sent: object) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      writeEvent(response, sent);
    };
    const exchange: RpcExchange = {
      send,
      ask: async (asked, params = {}) => await this.#ask(send, asked, params),
    };
    const answer = await this.#outcome(message, exchange);
    if (typeof answer === 'function') {
      (answer as HttpAnswer)(response);
      return;
    }
    if (method === 'initialize' && this.sessions) {
      const session = `session-${String((this.#ids += 1))}`;
      this.#open.add(session);
      response.setHeader('mcp-session-id', session);
    }
    const complete = { jsonrpc: '2.0', id, ...(answer as object) };
    if (this.answersAs === 'sse' || response.headersSent) {
      send(complete);
      response.end();
    } else {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(complete));
    }
  }

  async #outcome(message: RpcMessage, exchange: RpcExchange): Promise<unknown> {
    const handler = this.#handlers.get(message.method ?? '');
    try {
      if (!handler) throw new RpcFault(-32601, 'Method not found');
      const result: unknown = await handler(message, exchange);
      return typeof result === 'function' ? result : { result };
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
  }

  async #ask(send: (message: object) => void, method: string, params: object): Promise<RpcMessage> {
    const id = `asked-${String((this.#ids += 1))}`;
    return await new Promise((resolve) => {
      this.#asked.set(id, resolve);
      send({ jsonrpc: '2.0', id, method, params });
    });
  }

  #page(cursor: unknown): object {
    const from = typeof cursor === 'string' ? Number(cursor.slice(1)) : 0;
    const to = from + this.pageSize;
    return {
      tools: this.tools.slice(from, to),
      ...(to < this.tools.length ? { nextCursor: `p${String(to)}` } : {}),
    };
  }
}

function writeEvent(response: ServerResponse, message: object): void {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

async function bodyOf(request: IncomingMessage): Promise<RpcMessage | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as RpcMessage;
  } catch {
    return undefined;
  }
}
