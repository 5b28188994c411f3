import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { NODE_TYPES, TRIGGER_NODE_NAME, type WorkflowNode } from '../../core/contract/render';
import type { Limits } from '../../core/policy/limits';
import type { AttachedHost } from '../hosts/host';
import { grantsOf, untilServed, type TestSurface, type WantedConsumer } from './publish';

export type ToolNode = Omit<WorkflowNode, 'credentials'> & {
  credentials?: Record<string, { id: string; name: string }>;
};

export const LIMITS: Limits = {
  request_bytes: 65_536,
  response_bytes: 65_536,
  timeout_seconds: 10,
  concurrent_requests: 8,
  page_size: 50,
  result_items: 100,
  stream_seconds: 60,
};

export interface HandMadeWishes {
  /** Path and workflow name. */
  slug: string;
  applicationId?: string;
  /** Connected to the trigger's tools input. */
  tools: readonly ToolNode[];
  toolNames: readonly string[];
  /** Tools that consumers may call; `toolNames` if absent. */
  granted?: readonly string[];
  limits?: Partial<Limits>;
  recording?: 'all' | 'refusals' | 'none';
  /** The options of the trigger. */
  options?: object;
  consumers?: readonly WantedConsumer[];
  /** Tokens of this issuer let callers in, instead of bearers of consumers: the data of its credential. */
  issuer?: object;
  /** Wired to the trigger's main output. */
  audit?: ToolNode;
  /** Leaves the trigger without its consumers credential. */
  withoutCredential?: boolean;
}

/** A workflow as a person makes it in the editor: listed tool names, no contract. Not activated yet. */
export async function createHandMade(host: AttachedHost, wishes: HandMadeWishes): Promise<TestSurface> {
  const path = `e2e-${wishes.slug}`;
  const { rows, bearers } = grantsOf(wishes.consumers, wishes.granted ?? wishes.toolNames);
  const callersType = wishes.issuer ? 'mcpJwtIssuerApi' : 'mcpConsumersApi';
  const credential = wishes.withoutCredential
    ? undefined
    : await host.api.post<{ id: string; name: string }>('/credentials', {
        name: `${path} callers`,
        type: callersType,
        data: wishes.issuer ?? {
          consumers: { values: rows.map((row) => ({ ...row, tools: row.tools.join(', ') })) },
        },
      });
  const trigger = node(TRIGGER_NODE_NAME, NODE_TYPES.trigger, 2, {
    httpMethod: 'POST',
    path,
    ...(wishes.issuer ? { authentication: 'jwt' } : {}),
    serve: 'names',
    applicationId: wishes.applicationId ?? `web-app-${path}`,
    toolNames: [...wishes.toolNames],
    limits: { ...LIMITS, ...wishes.limits },
    recording: wishes.recording ?? 'none',
    options: wishes.options ?? {},
  });
  trigger.webhookId = randomUUID();
  if (credential) trigger.credentials = { [callersType]: { id: credential.id, name: credential.name } };
  const workflow = await host.api.post<{ id: string }>('/workflows', {
    name: path,
    nodes: [trigger, ...wishes.tools, ...(wishes.audit ? [wishes.audit] : [])],
    connections: {
      ...toolConnections(wishes.tools),
      ...(wishes.audit
        ? { [TRIGGER_NODE_NAME]: { main: [[{ node: wishes.audit.name, type: 'main', index: 0 }]] } }
        : {}),
    },
    settings: { executionOrder: 'v1' },
  });
  return {
    url: host.mcpUrl(path),
    ...bearers,
    workflowId: workflow.id,
    workflowName: path,
    remove: async () => {
      await removeWorkflow(host, workflow.id);
      if (credential) await host.api.request('DELETE', `/credentials/${credential.id}`);
    },
  };
}

export async function publishHandMade(host: AttachedHost, wishes: HandMadeWishes): Promise<TestSurface> {
  const surface = await createHandMade(host, wishes);
  await activate(host, surface.workflowId);
  if (wishes.issuer) await untilServed({ ...surface, bearer: null }, 401);
  else await untilServed(surface);
  return surface;
}

export async function activate(host: AttachedHost, workflowId: string): Promise<void> {
  await host.api.post(`/workflows/${workflowId}/activate`);
}

/** Deactivates and deletes. 2.41.1 refuses the second with 409 while the first is under way, up to 15 s. */
export async function removeWorkflow(host: AttachedHost, workflowId: string): Promise<void> {
  await host.api.request('POST', `/workflows/${workflowId}/deactivate`);
  for (let tries = 0; tries < 120; tries += 1) {
    const { status } = await host.api.request('DELETE', `/workflows/${workflowId}`);
    if (status !== 409) return;
    await sleep(200);
  }
  throw new Error(`workflow ${workflowId} of n8n ${host.version} cannot be deleted`);
}

export function toolConnections(tools: readonly { name: string }[]): Record<string, object> {
  return Object.fromEntries(
    tools.map(({ name }) => [name, { ai_tool: [[{ node: TRIGGER_NODE_NAME, type: 'ai_tool', index: 0 }]] }]),
  );
}

let column = 0;

export function node(
  name: string,
  type: string,
  typeVersion: number,
  parameters: Record<string, unknown> = {},
): ToolNode {
  return { id: randomUUID(), name, type, typeVersion, position: [220 * (column++ % 8), 320], parameters };
}

export function calculator(name = 'Calculator'): ToolNode {
  return node(name, '@n8n/n8n-nodes-langchain.toolCalculator', 1);
}

/** n8n's Code Tool with one text argument `id`; `jsCode` sees it as `query.id` and returns text. */
export function codeTool(name: string, jsCode: string): ToolNode {
  return node(name, '@n8n/n8n-nodes-langchain.toolCode', 1.1, {
    name,
    description: `Test tool ${name}`,
    language: 'javaScript',
    jsCode,
    specifyInputSchema: true,
    schemaType: 'manual',
    inputSchema: JSON.stringify({
      type: 'object',
      properties: { id: { type: 'string', description: 'Order id' } },
      required: ['id'],
    }),
  });
}
