import {
  NodeConnectionTypes,
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type IRunExecutionData,
  type ISupplyDataFunctions,
  type SupplyData,
} from 'n8n-workflow';
import type { ServerAccess } from '../../core/client/access';
import type { Allowlist } from '../../core/client/allowlist';
import type { ListedTool } from '../../core/client/listing';
import { modelNames } from '../../core/client/modelNames';
import { modelSchema } from '../../core/client/modelSchema';
import { blocksOf, resultText, type CallOutcome } from '../../core/client/result';
import type { BlockedTool, Verified } from '../../core/client/verify';
import { PolicyError } from '../../core/policy/errors';
import { foreignText } from '../../core/policy/redaction';
import type { Reporter } from '../../core/policy/report';
import type { ToolResult } from '../../core/server/tools';
import {
  accessOf,
  cancelSignal,
  hold,
  lease,
  nodeError,
  toolFailure,
  type HeldServer,
} from '../shared/allowlistClient/host';
import { agentItemOf } from '../shared/allowlistClient/items';
import { getCatalogue, getServers, getTools, testServer } from '../shared/allowlistClient/picker';
import { allowlistOf, settingsOf, type ClientSettings } from '../shared/allowlistClient/settings';
import { readsZod, unfitFor } from '../shared/consumer';
import { withDirectCall } from '../shared/directCall';
import { langchainTool, type AgentTool } from '../shared/langchainTool';
import { modelArguments, withoutModelArguments } from '../shared/modelArguments';
import { toolkitOf } from '../shared/toolkit';
import { clientToolProperties } from './properties';

export class McpAllowlistClientTool implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'MCP Allowlist Client Tool',
    name: 'mcpAllowlistClientTool',
    icon: { light: 'file:../../icons/mcp-curated.svg', dark: 'file:../../icons/mcp-curated.dark.svg' },
    group: ['output'],
    version: [1],
    subtitle:
      '={{ ($parameter["tools"] || []).length }} pinned {{ $parameter["tools"]?.length === 1 ? "tool" : "tools" }}',
    description: 'Gives an AI Agent the tools of a foreign MCP server that you reviewed, and no other',
    defaults: { name: 'MCP Allowlist Client' },
    codex: {
      categories: ['AI'],
      subcategories: { AI: ['Model Context Protocol', 'Tools'], Tools: ['Other Tools'] },
    },
    inputs: [],
    outputs: [NodeConnectionTypes.AiTool],
    outputNames: ['Tools'],
    credentials: [{ name: 'mcpAllowlistClientApi', required: true, testedBy: 'testServer' }],
    properties: clientToolProperties,
  };

  methods = {
    loadOptions: { getCatalogue, getServers, getTools },
    credentialTest: { testServer },
  };

  /** For agents that call LangChain tools, and with a direct face for our own trigger. */
  async supplyData(this: ISupplyDataFunctions, itemIndex: number): Promise<SupplyData> {
    try {
      const { allowlist, settings, names } = configured(this);
      const access = await accessOf(this, itemIndex);
      const server = hold(this, access, settings);
      let supplied = false;
      try {
        const verified = await server.use(async (open) => await open.verified(allowlist, cancelSignal(this)));
        const { usable, blocked } = withoutUnfit(this, verified);
        report(this, blocked);
        const [first] = blocked;
        if (usable.length === 0 && first) throw first.error;
        const tools = [...names].flatMap(([modelName, name]) => {
          const listed = usable.find(({ descriptor }) => descriptor.name === name);
          return listed ? [toolOf(this, { allowlist, settings, access, server, listed, modelName })] : [];
        });
        const response = toolkitOf(tools);
        supplied = true;
        return { response, closeFunction: server.release };
      } finally {
        if (!supplied) await server.release();
      }
    } catch (error) {
      throw nodeError(this, error, itemIndex);
    }
  }

  /** For agents from version 3 on (n8n 2.x), which run the node instead of the tool. */
  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    try {
      const { allowlist, settings, names } = configured(this);
      const own = modelArguments(this);
      const { tool, ...args } = own;
      const name = typeof tool === 'string' ? names.get(tool) : undefined;
      if (name === undefined) throw notPinned(tool);
      const access = await accessOf(withoutModelArguments(this, own));
      const { server, release } = lease(this, access, settings);
      try {
        const outcome = await server.call(allowlist, name, args, cancelSignal(this));
        if (outcome.isError) throw toolFailure(outcome, access);
        return [[await agentItemOf(this, outcome, settings.resultCharacters)]];
      } finally {
        await release();
      }
    } catch (error) {
      const failure = nodeError(this, error, 0);
      if (!this.continueOnFail()) throw failure;
      return [[{ json: { error: failure.message }, pairedItem: { item: 0 } }]];
    }
  }
}

interface Configuration {
  readonly allowlist: Allowlist;
  readonly settings: ClientSettings;
  /** The server's name of a tool by the name that the model sees. */
  readonly names: ReadonlyMap<string, string>;
}

function configured(context: ISupplyDataFunctions | IExecuteFunctions): Configuration {
  const node = context.getNode();
  const allowlist = allowlistOf(node);
  const settings = settingsOf(node);
  const pinned = allowlist.tools.map(({ name }) => name);
  return { allowlist, settings, names: modelNames(pinned, settings.namePrefix) };
}

interface Offered {
  readonly allowlist: Allowlist;
  readonly settings: ClientSettings;
  readonly access: ServerAccess;
  readonly server: HeldServer;
  readonly listed: ListedTool;
  readonly modelName: string;
}

function toolOf(
  context: ISupplyDataFunctions,
  { allowlist, settings, access, server, listed, modelName }: Offered,
): AgentTool {
  const { descriptor } = listed;
  const offered = { ...descriptor, name: modelName };
  const call = async (args: Record<string, unknown>, signal: AbortSignal, report?: Reporter) => {
    const outcome = await server.use(
      async (open) => await open.call(allowlist, descriptor.name, args, signal, report),
    );
    if (outcome.isError) throw toolFailure(outcome, access);
    return outcome;
  };
  const tool = langchainTool(
    { ...offered, inputSchema: modelSchema(descriptor.inputSchema) },
    async (args) => {
      const input = { tool: modelName, ...args } as IDataObject;
      const { index } = context.addInputData(NodeConnectionTypes.AiTool, [[{ json: input }]]);
      try {
        const text = resultText(await call(args, cancelSignal(context)), settings.resultCharacters);
        context.addOutputData(NodeConnectionTypes.AiTool, index, [[{ json: { response: text } }]]);
        return text;
      } catch (error) {
        const failure = nodeError(context, error);
        context.addOutputData(NodeConnectionTypes.AiTool, index, failure);
        return failure.message;
      }
    },
    readsZod(context),
  );
  return withDirectCall(tool, {
    descriptor: offered,
    definitionSha256: null,
    call: async (args, { signal, report }) => toToolResult(await call(args, signal, report)),
  });
}

/** Blocks as they came, for an MCP client behind our trigger. */
function toToolResult(outcome: CallOutcome): ToolResult {
  const { structured } = outcome;
  const isObject = structured !== null && typeof structured === 'object' && !Array.isArray(structured);
  return {
    content: blocksOf(outcome),
    ...(isObject ? { structuredContent: structured as Record<string, unknown> } : {}),
  };
}

/** A tool that the connected node could not use is withheld like one that has changed; otherwise it would take all along. */
function withoutUnfit(context: ISupplyDataFunctions, { usable, blocked }: Verified): Verified {
  const unfit = usable.flatMap(({ descriptor: { name, inputSchema } }): BlockedTool[] => {
    const reason = unfitFor(context, inputSchema);
    if (reason === undefined) return [];
    const sentence = `The tool ${foreignText(name, 120)} cannot be used: ${reason}.`;
    return [{ name, error: new PolicyError('schema_unsupported', sentence) }];
  });
  return {
    usable: usable.filter(({ descriptor }) => !unfit.some(({ name }) => name === descriptor.name)),
    blocked: [...blocked, ...unfit],
  };
}

/**
 * A tool that is blocked is missing from what the agent gets: its run shows as failed, and the log says why. Newer
 * agents have tools supplied for every round, and one word is enough.
 */
function report(context: ISupplyDataFunctions, blocked: readonly BlockedTool[]): void {
  for (const { name, error } of blocked) {
    const failure = nodeError(context, error);
    if (failedRuns(context).includes(failure.message)) continue;
    context.logger.warn(`mcp_tool_blocked ${foreignText(name, 80)} ${failure.message}`);
    const { index } = context.addInputData(NodeConnectionTypes.AiTool, [[{ json: { tool: name } }]]);
    context.addOutputData(NodeConnectionTypes.AiTool, index, failure);
  }
}

/** What n8n has at run time beside its published interface (1.100.1 to 2.41.1); detected, not assumed. */
interface RunContext {
  readonly runExecutionData?: Pick<IRunExecutionData, 'resultData'>;
}

/** What the failed runs of this node in this execution say. */
function failedRuns(context: ISupplyDataFunctions): (string | undefined)[] {
  const runs = (context as RunContext).runExecutionData?.resultData.runData[context.getNode().name] ?? [];
  return runs.map(({ error }) => error?.message);
}

function notPinned(tool: unknown): PolicyError {
  const named = typeof tool === 'string' ? foreignText(tool, 120) : 'that was asked for';
  return new PolicyError('tool_not_pinned', `The tool ${named} is not one of those that are pinned.`);
}
