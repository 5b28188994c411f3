import { NodeConnectionTypes, type INode, type IWebhookFunctions } from 'n8n-workflow';
import type { ConnectedTool, ToolSource } from '../../core/server/tools';
import { foreignText } from '../../core/policy/redaction';
import { directCallOf } from '../shared/directCall';
import { isLangchainTool, nativeTool, withoutAddresses } from './nativeTool';

/** What n8n's contexts have at run time beside their published interface (1.100.1 to 2.41.1); detected, not assumed. */
interface HostContext {
  getConnectedNodes?(type: string): INode[];
}

interface RunData {
  resultData: { runData: Record<string, { error?: Error; executionStatus?: string }[]> };
  startData: Record<string, never>;
  executionData: Record<string, unknown>;
}

/**
 * The tools connected to the trigger, supplied one node at a time and only when they are needed: n8n's own call
 * supplies all of them, and one broken sub-node would take the endpoint down.
 */
export function connectedTools(context: IWebhookFunctions): ToolSource {
  return {
    find: async (name) => {
      for (const node of likelyFirst(connectedNodes(context), name)) {
        const tool = (await supply(context, node)).find(({ descriptor }) => descriptor.name === name);
        if (tool) return tool;
      }
      return undefined;
    },
    all: async () => {
      const supplied: ConnectedTool[] = [];
      for (const node of connectedNodes(context)) supplied.push(...(await supply(context, node)));
      return supplied;
    },
  };
}

/** Names of the connected tool nodes, for a sentence to a person. Works wherever n8n hands out a context. */
export function connectedNodeNames(context: unknown): string[] {
  return (
    (context as HostContext).getConnectedNodes?.(NodeConnectionTypes.AiTool).map(({ name }) => name) ?? []
  );
}

/** `undefined` stands for "whatever is connected", on a host that cannot tell. */
function connectedNodes(context: IWebhookFunctions): (INode | undefined)[] {
  const host = context as HostContext;
  return typeof host.getConnectedNodes === 'function'
    ? host.getConnectedNodes(NodeConnectionTypes.AiTool)
    : [undefined];
}

/** n8n names a tool after its node, so the node of a tool is nearly always the first one tried. */
function likelyFirst(nodes: (INode | undefined)[], toolName: string): (INode | undefined)[] {
  const wanted = toolName.toLowerCase();
  const isLikely = (node: INode | undefined) =>
    node?.name.toLowerCase().replace(/[^a-z0-9]+/g, '_') === wanted;
  return [...nodes.filter(isLikely), ...nodes.filter((node) => !isLikely(node))];
}

async function supply(context: IWebhookFunctions, node: INode | undefined): Promise<ConnectedTool[]> {
  const runData = emptyRunData();
  // A context that sees one connected node and has run data of its own: without it n8n 1.100.1 logs a problem for
  // every native tool, and with it the outcome of a tool's run can be read.
  const scoped = Object.create(context, {
    runExecutionData: { value: runData, writable: true, configurable: true },
    ...(node === undefined ? {} : { getConnectedNodes: { value: () => [node] } }),
  }) as IWebhookFunctions;
  let supplied: unknown;
  try {
    supplied = await context.getInputConnectionData.call(scoped, NodeConnectionTypes.AiTool, 0);
  } catch (error) {
    context.logger.warn(
      `mcp_tool_not_supplied ${foreignText(node?.name ?? 'a connected tool', 80)}: ${reasonOf(error)}`,
    );
    return [];
  }
  const failure = () => failureIn(runData, node?.name);
  return flatten(supplied).flatMap((tool) => {
    const direct = directCallOf(tool);
    if (direct) {
      const connected: ConnectedTool = {
        descriptor: direct.descriptor,
        definitionSha256: direct.definitionSha256,
        invoke: async (args, callContext) => {
          const { text, structured } = await direct.call(args, callContext);
          return { content: [{ type: 'text', text }], structuredContent: structured };
        },
      };
      return [connected];
    }
    return isLangchainTool(tool) ? [nativeTool(tool, failure)] : [];
  });
}

/** n8n wraps what a sub-node threw and keeps its sentence as the description. */
function reasonOf(error: unknown): string {
  const { description, message } = error as { description?: string | null; message?: string };
  return withoutAddresses(description ?? message ?? 'unknown');
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
