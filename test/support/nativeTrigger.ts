import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { randomUUID } from 'node:crypto';

import type { AttachedHost } from '../hosts/host';
import { eventually } from './editWorkflow';
import { activate, node, type ToolNode } from './handMade';

export interface NativeWishes {
  path: string;
  version: number;
  tools: readonly ToolNode[];
  /** A credential of n8n's type `httpBearerAuth`; the endpoint is open to everybody without one. */
  bearer?: { id: string; name: string };
}

/** n8n's own MCP Server Trigger with tools, active. */
export async function nativeTrigger(
  host: AttachedHost,
  { path, version, tools, bearer }: NativeWishes,
): Promise<string> {
  const authentication = bearer ? 'bearerAuth' : 'none';
  const trigger = {
    ...node('Trigger', '@n8n/n8n-nodes-langchain.mcpTrigger', version, { path, authentication }),
    ...(bearer ? { credentials: { httpBearerAuth: bearer } } : {}),
    webhookId: randomUUID(),
  };
  const workflow = await host.api.post<{ id: string }>('/workflows', {
    name: path,
    nodes: [trigger, ...tools],
    connections: Object.fromEntries(
      tools.map(({ name }) => [name, { ai_tool: [[{ node: 'Trigger', type: 'ai_tool', index: 0 }]] }]),
    ),
    settings: { executionOrder: 'v1' },
  });
  await activate(host, workflow.id);
  return workflow.id;
}

/** A client of it, as soon as it is served. */
export async function nativeClient(url: string): Promise<Client> {
  const client = new Client({ name: 'e2e', version: '1.0.0' });
  await eventually(async () => {
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  });
  return client;
}
