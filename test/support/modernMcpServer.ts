import { createServer, type IncomingHttpHeaders, type Server as HttpServer } from 'node:http';
import { createMcpHandler, Server, type CallToolResult, type Tool } from '@modelcontextprotocol/server';
import { closeServer, listenOnLoopback, originOf } from './loopback';

// The low-level Server: a test lists what it wants, faults included.
/* eslint-disable @typescript-eslint/no-deprecated */

interface Seen {
  readonly rpc: string;
  readonly headers: IncomingHttpHeaders;
  readonly endedByClient: Promise<boolean>;
}

/** An MCP server of the 2026-07-28 era on loopback; it answers nothing older. */
export class ModernMcpServer {
  readonly requests: Seen[] = [];
  tools: object[] = [];
  /** What a call gives; it may be anything that the era allows. */
  answer: (args: unknown, signal: AbortSignal) => unknown = (args) => ({
    content: [{ type: 'text', text: JSON.stringify(args) }],
  });
  /** Answers a call by itself, past the SDK, which lets a server say only what the client has offered. */
  raw: object | undefined;
  readonly #server: HttpServer;

  private constructor() {
    const handler = createMcpHandler(() => this.#protocol(), { legacy: 'reject' });
    this.#server = createServer((request, response) => {
      const left = new AbortController();
      const endedByClient = new Promise<boolean>((resolve) => {
        response.once('close', () => {
          left.abort();
          resolve(!response.writableFinished);
        });
      });
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks).toString('utf8');
        const message = (body === '' ? {} : JSON.parse(body)) as { method?: string; id?: number };
        const rpc = message.method ?? '';
        this.requests.push({ rpc, headers: request.headers, endedByClient });
        if (rpc === 'tools/call' && this.raw) {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...this.raw }));
          return;
        }
        const answer = await handler.fetch(
          new Request(`${this.origin}${request.url ?? ''}`, {
            method: request.method ?? 'GET',
            headers: request.headers as Record<string, string>,
            signal: left.signal,
            ...(body === '' ? {} : { body }),
          }),
        );
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.flushHeaders();
        for await (const chunk of answer.body ?? []) response.write(chunk);
        response.end();
      })().catch(() => response.destroy());
    });
  }

  static async start(tools: object[] = []): Promise<ModernMcpServer> {
    const server = new ModernMcpServer();
    server.tools = tools;
    await listenOnLoopback(server.#server);
    return server;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  get endpoint(): string {
    return `${this.origin}/mcp`;
  }

  asked(rpc: string): Seen[] {
    return this.requests.filter((request) => request.rpc === rpc);
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }

  #protocol(): Server {
    const server = new Server({ name: 'modern', version: '3.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: this.tools as Tool[] }));
    server.setRequestHandler(
      'tools/call',
      async ({ params }, { mcpReq }) =>
        (await this.answer(params.arguments, mcpReq.signal)) as CallToolResult,
    );
    return server;
  }
}
