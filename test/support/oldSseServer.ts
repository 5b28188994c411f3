import { createServer, type IncomingHttpHeaders, type Server as HttpServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js';
import { closeServer, listenOnLoopback, originOf } from './loopback';

// The low-level server of the previous SDK: what is tested is the transport that it alone still offers.
/* eslint-disable @typescript-eslint/no-deprecated */

/** An MCP server of 2024 on loopback: a GET opens its only stream, and messages are POSTed beside it. */
export class OldSseServer {
  readonly requests: {
    readonly http: string;
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
  }[] = [];
  tools: object[] = [];
  readonly calls: unknown[] = [];
  /** Runs before a call is answered. */
  beforeAnswer: () => Promise<void> | void = () => undefined;
  readonly #transports = new Map<string, SSEServerTransport>();
  readonly #server: HttpServer;

  private constructor() {
    this.#server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://server.test');
      this.requests.push({ http: request.method ?? '', path: pathname, headers: request.headers });
      if (request.method === 'GET' && pathname === '/sse') {
        const transport = new SSEServerTransport('/messages', response);
        this.#transports.set(transport.sessionId, transport);
        void this.#protocol().connect(transport);
        return;
      }
      const transport = this.#transports.get(searchParams.get('sessionId') ?? '');
      if (request.method === 'POST' && pathname === '/messages' && transport) {
        void transport.handlePostMessage(request, response);
        return;
      }
      response.writeHead(pathname === '/sse' ? 405 : 404).end('No transport found for sessionId');
    });
  }

  static async start(tools: object[] = []): Promise<OldSseServer> {
    const server = new OldSseServer();
    server.tools = tools;
    await listenOnLoopback(server.#server);
    return server;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  get endpoint(): string {
    return `${this.origin}/sse`;
  }

  get streams(): number {
    return this.requests.filter(({ http }) => http === 'GET').length;
  }

  /** Ends every stream, as a restart would, and with them the sessions. */
  restart(): void {
    this.#transports.clear();
    this.#server.closeAllConnections();
  }

  /** Forgets the sessions while the streams stay open. */
  forgetSessions(): void {
    this.#transports.clear();
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }

  #protocol(): Server {
    const server = new Server({ name: 'old', version: '0.1.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: this.tools as Tool[] }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
      this.calls.push(params.arguments);
      await this.beforeAnswer();
      return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }] };
    });
    return server;
  }
}
