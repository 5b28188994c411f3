import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExecuteContext, HookContext, LoadOptionsContext, SupplyDataContext, WebhookContext } from 'n8n-core';
import {
  NodeConnectionTypes,
  NodeHelpers,
  Workflow,
  type IConnections,
  type IDataObject,
  type INode,
  type INodeExecutionData,
  type INodeType,
  type IRunExecutionData,
  type IWebhookData,
  type IWebhookFunctions,
  type IWebhookResponseData,
  type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { McpAllowlistClient } from '../../nodes/McpAllowlistClient/McpAllowlistClient.node';
import { McpAllowlistClientTool } from '../../nodes/McpAllowlistClientTool/McpAllowlistClientTool.node';
import { McpBearerServerTrigger } from '../../nodes/McpBearerServerTrigger/McpBearerServerTrigger.node';
import { McpNamedQueryTool } from '../../nodes/McpNamedQueryTool/McpNamedQueryTool.node';
import { McpReadTool } from '../../nodes/McpReadTool/McpReadTool.node';
import { McpS3ReadTool } from '../../nodes/McpS3ReadTool/McpS3ReadTool.node';

export const TRIGGER = 'n8n-nodes-mcp-curated.mcpBearerServerTrigger';
export const READ_TOOL = 'n8n-nodes-mcp-curated.mcpReadTool';
export const S3_TOOL = 'n8n-nodes-mcp-curated.mcpS3ReadTool';
export const QUERY_TOOL = 'n8n-nodes-mcp-curated.mcpNamedQueryTool';
export const CLIENT = 'n8n-nodes-mcp-curated.mcpAllowlistClient';
export const CLIENT_TOOL = 'n8n-nodes-mcp-curated.mcpAllowlistClientTool';

/** Credentials by the id that a node refers to; a function stands for one with an expression over the item. */
export type Credentials = Record<string, object | ItemCredential>;
type ItemCredential = (item: IDataObject) => object;

export interface Bench {
  readonly workflow: Workflow;
  readonly additionalData: IWorkflowExecuteAdditionalData;
}

export function node(
  name: string,
  type: string,
  parameters: object,
  credentials: Record<string, string> = {},
): INode {
  return {
    id: `id-of-${name}`,
    name,
    type,
    typeVersion: type === TRIGGER ? 2 : 1,
    position: [0, 0],
    webhookId: `webhook-of-${name}`,
    parameters: parameters as INode['parameters'],
    credentials: Object.fromEntries(
      Object.entries(credentials).map(([kind, id]) => [kind, { id, name: id }]),
    ),
  };
}

/** A workflow of n8n's own class, every other node connected to the first one as a tool. */
export function bench(
  nodes: INode[],
  credentials: Credentials,
  others: Record<string, INodeType> = {},
): Bench {
  const types: Record<string, INodeType> = {
    [TRIGGER]: new McpBearerServerTrigger(),
    [READ_TOOL]: new McpReadTool(),
    [S3_TOOL]: new McpS3ReadTool(),
    [QUERY_TOOL]: new McpNamedQueryTool(),
    [CLIENT]: new McpAllowlistClient(),
    [CLIENT_TOOL]: new McpAllowlistClientTool(),
    ...others,
  };
  const [root, ...tools] = nodes;
  const connections: IConnections = Object.fromEntries(
    tools.map(({ name }) => [
      name,
      {
        [NodeConnectionTypes.AiTool]: [
          [{ node: root?.name ?? '', type: NodeConnectionTypes.AiTool, index: 0 }],
        ],
      },
    ]),
  );
  const typeOf = (name: string) => {
    const found = types[name];
    if (!found) throw new Error(`The bench knows no node type ${name}.`);
    return found;
  };
  const workflow = new Workflow({
    id: 'workflow-1',
    nodes,
    connections,
    active: true,
    nodeTypes: {
      getByName: typeOf,
      getByNameAndVersion: (name: string, version?: number) =>
        NodeHelpers.getVersionedNodeType(typeOf(name), version),
      getKnownTypes: () => ({}),
    },
  });
  const additionalData = {
    credentialsHelper: {
      getDecrypted: (
        _data: unknown,
        { id }: { id: string },
        _type: unknown,
        _mode: unknown,
        _executeData: unknown,
        _raw: unknown,
        resolve?: ResolveValues,
      ) => {
        const found = credentials[id];
        if (!found) return Promise.reject(new Error(`No credential ${id}`));
        const item = resolve?.connectionInputData[resolve.itemIndex]?.json ?? {};
        return Promise.resolve(typeof found === 'function' ? (found as ItemCredential)(item) : found);
      },
    },
    currentNodeExecutionIndex: 0,
    webhookBaseUrl: 'https://n8n.example.com/webhook',
  } as unknown as IWorkflowExecuteAdditionalData;
  return { workflow, additionalData };
}

/** With what n8n resolves the expressions of a credential. */
interface ResolveValues {
  readonly connectionInputData: readonly INodeExecutionData[];
  readonly itemIndex: number;
}

export function emptyRun(runData: IRunExecutionData['resultData']['runData'] = {}): IRunExecutionData {
  return {
    startData: {},
    resultData: { runData },
    executionData: {
      contextData: {},
      nodeExecutionStack: [],
      metadata: {},
      waitingExecution: {},
      waitingExecutionSource: {},
    },
  };
}

function nodeOf({ workflow }: Bench, name: string): INode {
  const found = workflow.getNode(name);
  if (!found) throw new Error(`The bench has no node ${name}.`);
  return found;
}

export function supplyContext(
  on: Bench,
  name: string,
  run = emptyRun(),
  items: INodeExecutionData[] = [],
  parent?: INode,
): SupplyDataContext {
  return new SupplyDataContext(
    on.workflow,
    nodeOf(on, name),
    on.additionalData,
    'webhook',
    run,
    0,
    items,
    {},
    NodeConnectionTypes.AiTool,
    { data: {}, node: nodeOf(on, name), source: null },
    [],
    undefined,
    parent,
  );
}

export function executeContext(
  on: Bench,
  name: string,
  items: INodeExecutionData[],
  run = emptyRun(),
): ExecuteContext {
  const data = { main: [items] };
  return new ExecuteContext(
    on.workflow,
    nodeOf(on, name),
    on.additionalData,
    'webhook',
    run,
    0,
    items,
    data,
    { data, node: nodeOf(on, name), source: null },
    [],
  );
}

export function loadOptionsContext(on: Bench, name: string): LoadOptionsContext {
  return new LoadOptionsContext(on.workflow, nodeOf(on, name), on.additionalData, '');
}

export function hookContext(on: Bench, name: string): HookContext {
  return new HookContext(on.workflow, nodeOf(on, name), on.additionalData, 'trigger', 'activate');
}

export interface ServedTrigger {
  readonly url: string;
  /** What each `webhook()` told n8n to do, in order. */
  readonly outcomes: IWebhookResponseData[];
  stop(): Promise<void>;
}

/** Runs the trigger behind a real HTTP server, the body parsed before it as n8n does. */
export async function serveTrigger(on: Bench, name: string): Promise<ServedTrigger> {
  const trigger = new McpBearerServerTrigger();
  const outcomes: IWebhookResponseData[] = [];
  const server: Server = createServer((request, response) => {
    void (async () => {
      const rawBody = await readAll(request);
      Object.assign(request, {
        rawBody,
        body: parsed(rawBody),
      });
      const context = new WebhookContext(
        on.workflow,
        nodeOf(on, name),
        { ...on.additionalData, httpRequest: request, httpResponse: response } as never,
        'webhook',
        { webhookDescription: { name: isMetadata(request) ? 'setup' : 'default' } } as IWebhookData,
        [],
        null,
      );
      outcomes.push(await trigger.webhook.call(context as unknown as IWebhookFunctions));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp/test`,
    outcomes,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** n8n finds the webhook by its path. */
function isMetadata({ url = '' }: IncomingMessage): boolean {
  return url.endsWith('/.well-known/oauth-protected-resource');
}

function parsed(rawBody: Buffer): unknown {
  return rawBody.length === 0 ? undefined : JSON.parse(rawBody.toString());
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
