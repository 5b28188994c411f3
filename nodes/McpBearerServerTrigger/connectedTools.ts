import {
  NodeConnectionTypes,
  NodeHelpers,
  type INode,
  type INodeTypes,
  type IWebhookFunctions,
} from 'n8n-workflow';
import type { ConnectedNode } from '../../core/server/nodePin';
import type { ConnectedTool, ToolSource } from '../../core/server/tools';
import { foreignText, withoutAddresses } from '../../core/policy/redaction';
import { directCallOf } from '../shared/directCall';
import { isLangchainTool, nativeTool } from './nativeTool';

/** What n8n's contexts have at run time beside their published interface (1.100.1 to 2.41.1); detected, not assumed. */
interface HostContext {
  getConnectedNodes?(type: string): INode[];
  readonly workflow?: { readonly nodeTypes?: INodeTypes };
}

interface RunData {
  resultData: { runData: Record<string, { error?: Error; executionStatus?: string }[]> };
  startData: Record<string, never>;
  executionData: Record<string, unknown>;
}

/** A source whose tools hold what they opened, a connection for example, until it is closed. */
export interface OpenToolSource extends ToolSource {
  close(): Promise<void>;
}

/**
 * The tools connected to the trigger, supplied one node at a time and only when they are needed: n8n's own call
 * supplies all of them, and one broken sub-node would take the endpoint down.
 *
 * A name that several nodes offer belongs to the node that carries it; where none does, it is nobody's. Otherwise a
 * connected server that grows a tool could take over a name that was listed for another.
 */
export function connectedTools(context: IWebhookFunctions): OpenToolSource {
  const closers: Closer[] = [];
  const supplyAll = async (nodes: readonly (INode | undefined)[]): Promise<ConnectedTool[]> => {
    const supplied: ConnectedTool[] = [];
    for (const node of nodes) supplied.push(...(await supply(context, node, closers)));
    return supplied;
  };
  return {
    find: async (name) => {
      const nodes = connectedNodes(context);
      const own = nodes.filter((node) => carries(node, name));
      const others = nodes.filter((node) => !own.includes(node));
      return theOnly(await supplyAll(own), name, context) ?? theOnly(await supplyAll(others), name, context);
    },
    all: async () => {
      const nodes = connectedNodes(context);
      const offers = await Promise.all(nodes.map(async (node) => ({ node, tools: await supplyAll([node]) })));
      const tools = offers.flatMap((offer) => offer.tools);
      return [...new Set(tools.map(({ descriptor }) => descriptor.name))].flatMap((name) => {
        const own = offers.filter(({ node }) => carries(node, name)).flatMap((offer) => offer.tools);
        return theOnly(own, name, context) ?? theOnly(tools, name, context) ?? [];
      });
    },
    close: async () => {
      await Promise.allSettled(closers.splice(0).map(async (close) => await close()));
    },
  };
}

type Closer = () => unknown;

function theOnly(
  tools: readonly ConnectedTool[],
  name: string,
  { logger }: IWebhookFunctions,
): ConnectedTool | undefined {
  const offered = tools.filter(({ descriptor }) => descriptor.name === name);
  if (offered.length > 1) {
    logger.warn(
      `mcp_tool_ambiguous ${foreignText(name, 80)}: several connected tools have this name, so none is served`,
    );
  }
  return offered.length === 1 ? offered[0] : undefined;
}

/** n8n names most tools after their node. */
function carries(node: INode | undefined, toolName: string): boolean {
  return node?.name.toLowerCase().replace(/[^a-z0-9]+/g, '_') === toolName.toLowerCase();
}

/** Names of the connected tool nodes, for a sentence to a person. Works wherever n8n hands out a context. */
export function connectedNodeNames(context: unknown): string[] {
  return (
    (context as HostContext).getConnectedNodes?.(NodeConnectionTypes.AiTool).map(({ name }) => name) ?? []
  );
}

/**
 * What the connected nodes could offer beside tools, told from how they are set up, without supplying one: resources of
 * a Read Tool, log messages of a foreign server. Nothing else that can be connected has either.
 */
export function connectedAbilities(context: unknown): { logs: boolean; hasResources: boolean } {
  const nodes = (context as HostContext).getConnectedNodes?.(NodeConnectionTypes.AiTool) ?? [];
  return {
    logs: nodes.some(({ type }) => type.endsWith('.mcpAllowlistClientTool')),
    hasResources: nodes.some(({ type, parameters: { definition } }) => {
      return (
        /\.mcp(?:Read|S3Read|NamedQuery)Tool$/.test(type) &&
        typeof definition === 'string' &&
        definition.includes('"uri_template"')
      );
    }),
  };
}

/** `undefined` stands for "whatever is connected", on a host that cannot tell. */
function connectedNodes(context: IWebhookFunctions): (INode | undefined)[] {
  const host = context as HostContext;
  return typeof host.getConnectedNodes === 'function'
    ? host.getConnectedNodes(NodeConnectionTypes.AiTool)
    : [undefined];
}

async function supply(
  context: IWebhookFunctions,
  node: INode | undefined,
  closers: Closer[],
): Promise<ConnectedTool[]> {
  const runData = emptyRunData();
  // A context that sees one connected node and has run data of its own: without it n8n 1.100.1 logs a problem for
  // every native tool, and with it the outcome of a tool's run can be read. What a tool wants to be called at its end is
  // collected here, since n8n 1.100.1 forgets it for webhooks.
  const scoped = Object.create(context, {
    runExecutionData: { value: runData, writable: true, configurable: true },
    closeFunctions: { value: closers },
    ...(node === undefined ? {} : { getConnectedNodes: { value: () => [node] } }),
  }) as IWebhookFunctions;
  try {
    const supplied = await context.getInputConnectionData.call(scoped, NodeConnectionTypes.AiTool, 0);
    return flatten(supplied).flatMap(
      (tool) => connected(tool, () => failureIn(runData, node?.name), connectedNode(context, node)) ?? [],
    );
  } catch (error) {
    const name = foreignText(node?.name ?? 'a connected tool', 80);
    context.logger.warn(`mcp_tool_not_supplied ${name}: ${reasonOf(error)}`);
    return [];
  }
}

function connected(
  tool: unknown,
  failure: () => Error | undefined,
  node: ConnectedNode | undefined,
): ConnectedTool | undefined {
  const direct = directCallOf(tool);
  if (!direct) return isLangchainTool(tool) ? { ...nativeTool(tool, failure), node } : undefined;
  return {
    descriptor: direct.descriptor,
    definitionSha256: direct.definitionSha256,
    resource: direct.resource,
    invoke: async (args, callContext) => await direct.call(args, callContext),
  };
}

/**
 * The node behind a tool, and how n8n itself fills its parameters up: it does so whenever it loads a workflow, so what a
 * contract leaves out has to be filled up the same way before the two can be compared.
 */
function connectedNode(context: IWebhookFunctions, node: INode | undefined): ConnectedNode | undefined {
  const types = (context as HostContext).workflow?.nodeTypes;
  if (!node || !types) return undefined;
  return {
    type: node.type,
    typeVersion: node.typeVersion,
    parameters: node.parameters,
    withDefaults: (parameters) => {
      const { description } = types.getByNameAndVersion(node.type, node.typeVersion);
      const given = parameters as INode['parameters'];
      const filled = NodeHelpers.getNodeParameters(
        description.properties,
        given,
        true,
        false,
        node,
        description,
      );
      return filled ?? given;
    },
  };
}

const REASON_CHARACTERS = 300;

/** n8n wraps what a sub-node threw and keeps its sentence as the description. */
function reasonOf(error: unknown): string {
  const { description, message } = error as { description?: string | null; message?: string };
  return withoutAddresses(description ?? message ?? 'unknown', REASON_CHARACTERS);
}

/** Tools arrive alone, in arrays and in toolkits. */
function flatten(supplied: unknown): unknown[] {
  if (Array.isArray(supplied)) return supplied.flatMap(flatten);
  const toolkit = supplied as { tools?: unknown; getTools?: unknown } | null | undefined;
  if (typeof toolkit?.getTools === 'function' && Array.isArray(toolkit.tools))
    return toolkit.tools.flatMap(flatten);
  return supplied === undefined || supplied === null ? [] : [supplied];
}

function emptyRunData(): RunData {
  return {
    startData: {},
    resultData: { runData: {} },
    executionData: {
      contextData: {},
      nodeExecutionStack: [],
      metadata: {},
      waitingExecution: {},
      waitingExecutionSource: {},
    },
  };
}

function failureIn(runData: RunData, nodeName: string | undefined): Error | undefined {
  const runs =
    nodeName === undefined
      ? Object.values(runData.resultData.runData).flat()
      : runData.resultData.runData[nodeName];
  return runs?.find((run) => run.executionStatus === 'error')?.error;
}
