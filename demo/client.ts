import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { packVersion } from '../core/version';

export interface LiveCall {
  readonly tools: readonly { readonly name: string; readonly title: string }[];
  readonly workflows: readonly { readonly name: string; readonly active: boolean }[];
}

/** A real MCP client: connects with the bearer, lists the tools, calls one. */
export async function callLive(endpoint: string, token: string, signal: AbortSignal): Promise<LiveCall> {
  const client = new Client({ name: 'mcp-curated-demo', version: packVersion });
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport, { signal });
  try {
    const { tools } = await client.listTools(undefined, { signal });
    const result = await client.callTool({ name: 'n8n_list_workflows', arguments: {} }, { signal });
    const { items } = result.structuredContent as { items: LiveCall['workflows'] };
    return { tools: tools.map(({ name, title }) => ({ name, title: title ?? name })), workflows: items };
  } finally {
    await client.close();
  }
}

/** What somebody without a valid bearer gets. */
export async function refusedCall(
  endpoint: string,
  signal: AbortSignal,
): Promise<{ status: number; challenge: string; body: string }> {
  const response = await fetch(endpoint, {
    method: 'POST',
    signal,
    headers: {
      authorization: 'Bearer not-the-bearer-of-anybody',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate') ?? '',
    body: await response.text(),
  };
}
