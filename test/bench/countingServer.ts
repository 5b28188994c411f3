import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { closeServer, listenOnLoopback, originOf } from '../support/loopback';

/** How often a method was asked for; `handshakes` are `initialize` and an accepted `server/discover`. */
export type Counts = Record<string, number>;

export const TOOL_NAMES = ['get_order', 'get_customer', 'get_invoice'] as const;

/**
 * An MCP server with three tools and sessions, as most servers of 2025 are, over both transports: the client of n8n
 * 1.100.1 speaks only the older one. It counts what it is asked.
 */
export class CountingServer {
  #counts: Counts = {};
  readonly #http: HttpServer;
  readonly #streamable = new Map<string, StreamableHTTPServerTransport>();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only transport that n8n 1.100.1 speaks.
  readonly #sse = new Map<string, SSEServerTransport>();

  private constructor() {
    this.#http = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<CountingServer> {
    const server = new CountingServer();
    await listenOnLoopback(server.#http);
    return server;
  }

  get origin(): string {
    return originOf(this.#http);
  }

  /** What was asked since the last look. */
  takeCounts(): Counts {
    const counts = this.#counts;
    this.#counts = {};
    return counts;
  }

  async stop(): Promise<void> {
    await closeServer(this.#http);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    const body = request.method === 'POST' ? await bodyOf(request) : undefined;
    if (body?.method !== undefined) this.#counts[body.method] = (this.#counts[body.method] ?? 0) + 1;
    if (url.pathname === '/mcp') await this.#overStreamable(request, response, body);
    else if (url.pathname === '/sse') await this.#openSse(response);
    else
      await this.#sse
        .get(url.searchParams.get('sessionId') ?? '')
        ?.handlePostMessage(request, response, body);
  }

  async #overStreamable(
    request: IncomingMessage,
    response: ServerResponse,
    body: Message | undefined,
  ): Promise<void> {
    const session = this.#streamable.get(String(request.headers['mcp-session-id'] ?? ''));
    if (session) {
      await session.handleRequest(request, response, body);
      return;
    }
    if (body?.method !== 'initialize') {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'No valid session' } }),
      );
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#streamable.set(id, transport),
      onsessionclosed: (id) => void this.#streamable.delete(id),
    });
    await threeTools().connect(transport);
    await transport.handleRequest(request, response, body);
  }

  async #openSse(response: ServerResponse): Promise<void> {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- see above.
    const transport = new SSEServerTransport('/messages', response);
    this.#sse.set(transport.sessionId, transport);
    response.on('close', () => this.#sse.delete(transport.sessionId));
    await threeTools().connect(transport);
  }
}

interface Message {
  readonly method?: string;
}

async function bodyOf(request: IncomingMessage): Promise<Message> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Message;
}

function threeTools(): McpServer {
  const server = new McpServer({ name: 'counting', version: '1.0.0' });
  for (const name of TOOL_NAMES) {
    server.registerTool(
      name,
      {
        description: `Returns one record of ${name.slice(4)}s`,
        inputSchema: { id: z.string().describe('Number') },
      },
      ({ id }) => ({ content: [{ type: 'text', text: `${name} ${id}: open` }] }),
    );
  }
  return server;
}
