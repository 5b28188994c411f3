import {
  NodeConnectionTypes,
  NodeOperationError,
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type ISupplyDataFunctions,
  type SupplyData,
} from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import {
  operationDefinitionSchema,
  prepareOperation,
  type PreparedOperation,
} from '../../core/contract/definition';
import { parseJson } from '../../core/contract/parseJson';
import { rememberParsed } from '../../core/contract/rememberParsed';
import { PolicyError, toPolicyError } from '../../core/policy/errors';
import { upstreamAccess, type UpstreamAccess, type UpstreamCredential } from '../../core/upstream/access';
import { callOperation } from '../../core/upstream/call';
import { createPorts } from '../../core/upstream/ports';
import type { CallContext, CallResult } from '../../core/upstream/run';
import { readsZod } from '../shared/consumer';
import { withDirectCall } from '../shared/directCall';
import { langchainTool } from '../shared/langchainTool';
import { modelArguments } from '../shared/modelArguments';
import { staticText } from '../shared/staticParameter';
import { readToolProperties } from './properties';

type ToolContext = ISupplyDataFunctions | IExecuteFunctions;

const ports = createPorts();

const prepare = rememberParsed((text): PreparedOperation =>
  prepareOperation(parseJson(operationDefinitionSchema, text, 'Operation')),
);

export class McpReadTool implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'MCP Read Tool',
    name: 'mcpReadTool',
    icon: { light: 'file:../../icons/mcp-curated.svg', dark: 'file:../../icons/mcp-curated.dark.svg' },
    group: ['output'],
    version: [1],
    subtitle: 'One bounded read operation',
    description: 'One bounded read operation of one application as a tool for agents and MCP clients',
    defaults: { name: 'MCP Read Tool' },
    codex: {
      categories: ['AI'],
      subcategories: { AI: ['Tools'], Tools: ['Other Tools'] },
    },
    inputs: [],
    outputs: [NodeConnectionTypes.AiTool],
    outputNames: ['Tool'],
    credentials: [{ name: 'mcpUpstreamApi', required: true }],
    properties: readToolProperties,
  };

  /** For agents that call a LangChain tool, and with a direct face for our own trigger. */
  async supplyData(this: ISupplyDataFunctions): Promise<SupplyData> {
    const prepared = preparedOf(this);
    const answer = async (args: Record<string, unknown>) => {
      const { index } = this.addInputData(NodeConnectionTypes.AiTool, [[{ json: args as IDataObject }]]);
      try {
        const { text, structured } = await call(this, prepared, args, agentContext());
        this.addOutputData(NodeConnectionTypes.AiTool, index, [[{ json: structured as IDataObject }]]);
        return text;
      } catch (error) {
        const failure = nodeError(this, error);
        this.addOutputData(NodeConnectionTypes.AiTool, index, failure);
        return failure.message;
      }
    };
    const tool = langchainTool(prepared.descriptor, answer, readsZod(this));
    const { descriptor, definitionSha256 } = prepared;
    const response = withDirectCall(tool, {
      descriptor,
      definitionSha256,
      call: async (args, context) => {
        const { text, structured } = await call(this, prepared, args, context);
        return { content: [{ type: 'text', text }], structuredContent: structured };
      },
    });
    return await Promise.resolve({ response });
  }

  /** For agents from version 3 on (n8n 2.x), which run the node instead of the tool. */
  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    try {
      const prepared = preparedOf(this);
      const { structured } = await call(this, prepared, modelArguments(this), agentContext());
      return [[{ json: structured as IDataObject, pairedItem: { item: 0 } }]];
    } catch (error) {
      const failure = nodeError(this, error);
      if (!this.continueOnFail()) throw failure;
      return [[{ json: { error: failure.message }, pairedItem: { item: 0 } }]];
    }
  }
}

function preparedOf(context: ToolContext): PreparedOperation {
  try {
    return prepare(staticText(context.getNode(), 'definition'));
  } catch (error) {
    throw nodeError(context, error);
  }
}

async function call(
  context: ToolContext,
  prepared: PreparedOperation,
  args: unknown,
  callContext: CallContext,
): Promise<CallResult> {
  return await callOperation(prepared, args, await accessOf(context), callContext, ports);
}

async function accessOf(context: ToolContext): Promise<UpstreamAccess> {
  const credential = await context.getCredentials('mcpUpstreamApi').catch((cause: unknown) => {
    throw new PolicyError(
      'credential_missing',
      'This tool has no upstream credential; the operator has to choose one.',
      {
        cause,
      },
    );
  });
  return upstreamAccess(credential as unknown as UpstreamCredential);
}

/** An agent inside n8n is no named consumer: operations that are bound to one are refused to it. */
function agentContext(): CallContext {
  return {
    consumer: null,
    tenant: null,
    correlationId: randomUUID(),
    signal: new AbortController().signal,
  };
}

function nodeError(context: ToolContext, thrown: unknown): NodeOperationError {
  const error = toPolicyError(thrown, 'internal_error', 'The tool failed inside.');
  return new NodeOperationError(context.getNode(), `${error.code}: ${error.message}`);
}
