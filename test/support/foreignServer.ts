import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';

import { pinText } from '../../core/client/allowlist';
import { pinOf, type ToolDescriptor } from '../../core/contract/pin';
import { closeServer, listenOnLoopback, originOf } from './loopback';

/** What a server saw of one request. */
export interface SeenRequest {
  /** The method of the protocol, such as `tools/call`; `DELETE` for the end of a session. */
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly headers: IncomingHttpHeaders;
}

export type ToolAnswer = Record<string, unknown>;

/**
 * An MCP server of the 2025 era with sessions, over Streamable HTTP, of which a test decides everything: how it calls
 * itself, what it lists and answers. It remembers what it was asked.
 */
export class ForeignServer {
  /** As it calls itself in the handshake. */
  name = 'foreign';
  tools: object[] = [];
  /** What `tools/call` answers. */
  answer: (name: string, args: Record<string, unknown>) => ToolAnswer | Promise<ToolAnswer> = (name, args) =>
    text(`${name} ${JSON.stringify(args)}`);
  /** What `resources/read` answers. */
  contents: object[] = [];
  readonly seen: SeenRequest[] = [];
  readonly #sessions = new Set<string>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#reply(request).then(
        ({ status, body, session }) => {
          const type = body === undefined ? {} : { 'content-type': 'application/json' };
          response.writeHead(status, { ...type, ...(session ? { 'mcp-session-id': session } : {}) });
          response.end(body === undefined ? undefined : JSON.stringify(body));
        },
        () => response.destroy(),
      );
    });
  }

  static async start(tools: object[] = []): Promise<ForeignServer> {
    const server = new ForeignServer();
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

  /** As the parameter `server` of a node holds it. */
  get pinnedAs(): string {
    return `${this.name}@${this.origin}`;
  }

  /** The pin of a tool as it is listed now: `name@sha256:<hash>`. */
  pin(name: string): string {
    const tool = this.tools.find((one) => (one as { name: string }).name === name) as
      ToolDescriptor | undefined;
    if (!tool) throw new Error(`The server lists no tool ${name}.`);
    return pinText({ name, pin: pinOf(tool) });
  }

  /** Methods in the order in which they were asked. */
  get methods(): string[] {
    return this.seen.map(({ method }) => method);
  }

  /** Arguments of the calls, in order. */
  get calls(): Record<string, unknown>[] {
    return this.seen.filter(({ method }) => method === 'tools/call').map(({ params }) => params);
  }

  /** Sessions that nobody has ended. */
  get openSessions(): number {
    return this.#sessions.size;
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }

  async #reply(request: IncomingMessage): Promise<{ status: number; body?: unknown; session?: string }> {
    const { headers, method: verb } = request;
    const body = await bodyOf(request);
    const session = String(headers['mcp-session-id']);
    if (verb === 'DELETE') {
      this.seen.push({ method: 'DELETE', params: {}, headers });
      this.#sessions.delete(session);
      return { status: 204 };
    }
    if (verb !== 'POST') return { status: 405 };
    const {
      id,
      method = '',
      params = {},
    } = JSON.parse(body) as {
      id?: number | string;
      method?: string;
      params?: Record<string, unknown>;
    };
    this.seen.push({ method, params, headers });
    if (id === undefined) return { status: 202 };
    if (method === 'initialize') {
      const opened = randomUUID();
      this.#sessions.add(opened);
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: this.name, version: '1.0.0' },
      };
      return { status: 200, session: opened, body: { jsonrpc: '2.0', id, result } };
    }
    if (method !== 'server/discover' && !this.#sessions.has(session)) {
      return {
        status: 404,
        body: { jsonrpc: '2.0', id, error: { code: -32001, message: 'Session not found' } },
      };
    }
    const result = await this.#result(method, params);
    if (result) return { status: 200, body: { jsonrpc: '2.0', id, result } };
    return {
      status: 200,
      body: { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } },
    };
  }

  async #result(method: string, params: Record<string, unknown>): Promise<object | undefined> {
    if (method === 'ping') return {};
    if (method === 'tools/list') return { tools: this.tools };
    if (method === 'resources/read') return { contents: this.contents };
    if (method !== 'tools/call') return undefined;
    return await this.answer(String(params['name']), (params['arguments'] ?? {}) as Record<string, unknown>);
  }
}

export function text(...lines: string[]): ToolAnswer {
  return { content: lines.map((line) => ({ type: 'text', text: line })) };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
