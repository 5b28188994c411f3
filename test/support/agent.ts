import { randomUUID } from 'node:crypto';

import { NODE_TYPES, renderWorkflow } from '../../core/contract/render';
import type { AttachedHost } from '../hosts/host';
import { eventually } from './editWorkflow';
import { activate, node, type ToolNode } from './handMade';
import { readContract } from './publish';
import { rawHttp } from './rawHttp';

/** What a node says of its credential. */
export interface CredentialRef {
  id: string;
  name: string;
}

/** The major behaviours of n8n's AI Agent that a host has. From version 3 on it calls tools in another way. */
export function agentVersions(host: { version: string }): number[] {
  return host.version.startsWith('1.') ? [1.9, 2] : [2.2, 3.1];
}

export async function openAiCredential(
  host: AttachedHost,
  { name, url, apiKey }: { name: string; url: string; apiKey: string },
): Promise<CredentialRef> {
  const { properties } = await host.api.get<{ properties: Record<string, unknown> }>(
    '/credentials/schema/openAiApi',
  );
  return await host.api.post<CredentialRef>('/credentials', {
    name,
    type: 'openAiApi',
    data: {
      apiKey,
      url,
      // Required by 2.x, unknown to 1.x.
      ...('header' in properties && !host.version.startsWith('1.') ? { header: false } : {}),
    },
  });
}

/** A credential of the Read Tool that sends `secret` as a bearer. */
export async function bearerUpstream(
  host: AttachedHost,
  { name, origin, secret }: { name: string; origin: string; secret: string },
): Promise<CredentialRef> {
  return await host.api.post<CredentialRef>('/credentials', {
    name,
    type: 'mcpUpstreamApi',
    data: { baseUrl: origin, authentication: 'bearer', name: '', secret, testPath: '/' },
  });
}

/** The Read Tool nodes of a contract, as its rendered workflow has them. */
export async function readToolsOf(applicationId: string, { id, name }: CredentialRef): Promise<ToolNode[]> {
  return renderWorkflow(await readContract(applicationId))
    .nodes.filter(({ type }) => type === NODE_TYPES.readTool)
    .map((tool) => ({ ...tool, credentials: { mcpUpstreamApi: { id, name } } }));
}

export interface AgentWishes {
  /** Webhook path and workflow name. */
  path: string;
  /** The version of the AI Agent node. */
  version: number;
  tools: readonly ToolNode[];
  model: CredentialRef;
  /** The agent's input item; `question` is what the agent is asked. */
  item: { question: string } & Record<string, unknown>;
}

/** An active workflow: a webhook, an AI Agent with tools, and its answer. */
export async function createAgent(
  host: AttachedHost,
  { path, version, tools, model, item }: AgentWishes,
): Promise<string> {
  const start = {
    ...node('Start', 'n8n-nodes-base.webhook', 2, { httpMethod: 'POST', path, responseMode: 'lastNode' }),
    webhookId: randomUUID(),
  };
  const input = node('Item', 'n8n-nodes-base.set', 3.4, {
    mode: 'raw',
    jsonOutput: JSON.stringify(item),
    options: {},
  });
  const agent = node('Agent', '@n8n/n8n-nodes-langchain.agent', version, {
    promptType: 'define',
    text: '={{ $json.question }}',
    options: {},
  });
  const chat = {
    ...node('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', 1.2, {
      model: { __rl: true, value: 'gpt-4o-mini', mode: 'id' },
      options: { maxRetries: 0 },
    }),
    credentials: { openAiApi: { id: model.id, name: model.name } },
  };
  const to = (target: string, type: string) => ({ [type]: [[{ node: target, type, index: 0 }]] });
  const workflow = await host.api.post<{ id: string }>('/workflows', {
    name: path,
    nodes: [start, input, agent, chat, ...tools],
    connections: {
      Start: to('Item', 'main'),
      Item: to('Agent', 'main'),
      Model: to('Agent', 'ai_languageModel'),
      ...Object.fromEntries(tools.map((tool) => [tool.name, to('Agent', 'ai_tool')])),
    },
    settings: { executionOrder: 'v1' },
  });
  await activate(host, workflow.id);
  return workflow.id;
}

/** The agent's answer, as the webhook gives it. */
export async function askAgent(host: AttachedHost, path: string): Promise<string> {
  const url = `${host.url}/webhook/${path}`;
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  let text = '';
  await eventually(async () => {
    const answer = await rawHttp({ url, headers, body: '{}', timeoutMs: 60_000 });
    expect(answer.status).not.toBe(404);
    text = answer.text;
  });
  return text;
}
