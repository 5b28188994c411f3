import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import type { Endpoint, ListedTool, ToolResult } from './mcpRequest';

/** What one call came to. */
export interface Outcome {
  /** `ok`, or the stable code of the refusal. */
  code: string;
  /** Its sentence, or the result as text. */
  text: string;
  value: Record<string, unknown>;
}

/** The value of a call that lists. */
export interface Listed<T = Record<string, unknown>> {
  items: T[];
  returned: number;
  truncated: boolean;
  next: string | number | null;
}

/**
 * A consumer that uses the client of the MCP SDK, which checks every structured result against the output schema that
 * the surface has listed for its tool.
 */
export class McpCaller {
  private constructor(
    private readonly client: Client,
    readonly tools: readonly ListedTool[],
  ) {}

  static async connect({ url, bearer }: Endpoint): Promise<McpCaller> {
    const client = new Client({ name: 'e2e', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { Authorization: `Bearer ${String(bearer)}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    return new McpCaller(client, (await client.listTools()).tools as unknown as ListedTool[]);
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<Outcome> {
    const result = (await this.client.callTool({ name, arguments: args })) as unknown as ToolResult;
    const code = result.isError ? (result._meta?.['mcp-curated/error']?.code ?? 'no_code') : 'ok';
    return { code, text: result.content[0]?.text ?? '', value: result.structuredContent ?? {} };
  }

  /** Several calls, one after the other: a surface refuses more than a few at a time. */
  async inTurn(...calls: [name: string, args?: Record<string, unknown>][]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const [name, args] of calls) outcomes.push(await this.call(name, args));
    return outcomes;
  }

  /** The value of a call that must succeed. */
  async get<T>(name: string, args: Record<string, unknown> = {}): Promise<T> {
    const { code, text, value } = await this.call(name, args);
    if (code !== 'ok') throw new Error(`${name} was refused: ${code}: ${text}`);
    return value as T;
  }

  /**
   * Reads a list to its end the way its description tells a model to.
   *
   * @param position the argument that takes the value of `next`
   * @returns every page
   */
  async pages<T>(name: string, args: Record<string, unknown>, position: string): Promise<Listed<T>[]> {
    const pages = [await this.get<Listed<T>>(name, args)];
    for (let next = pages[0]?.next ?? null; next !== null; next = pages.at(-1)?.next ?? null) {
      if (pages.length > 50) throw new Error(`${name} does not come to an end.`);
      pages.push(await this.get<Listed<T>>(name, { ...args, [position]: next }));
    }
    return pages;
  }
}
