import {
  NodeConnectionTypes,
  NodeOperationError,
  type IDataObject,
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeProperties,
  type INodeTypeDescription,
  type ISupplyDataFunctions,
  type SupplyData,
} from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import {
  operationDefinitionSchema,
  prepareOperation,
  type OperationDefinition,
  type PreparedOperation,
} from '../../core/contract/definition';
import { parseJson } from '../../core/contract/parseJson';
import { rememberParsed } from '../../core/contract/rememberParsed';
import { PolicyError, toPolicyError } from '../../core/policy/errors';
import type { CallContext, CallResult } from '../../core/upstream/run';
import { readsZod } from './consumer';
import { withDirectCall } from './directCall';
import { langchainTool } from './langchainTool';
import { modelArguments } from './modelArguments';
import { staticText } from './staticParameter';

export type ToolContext = ISupplyDataFunctions | IExecuteFunctions;

/** What sets one kind of read tool apart from the others: how upstream is asked. */
export interface ReadToolKind {
  /** Its credential type. */
  readonly credential: string;
  /** @throws PolicyError */
  ask(
    prepared: PreparedOperation,
    args: unknown,
    credential: unknown,
    context: CallContext,
  ): Promise<CallResult>;
}

/** What the descriptions of all read tools have in common. */
export const readToolDescription: Pick<INodeTypeDescription, 'group' | 'version' | 'codex'> = {
  group: ['output'],
  version: [1],
  codex: {
    categories: ['AI'],
    subcategories: { AI: ['Tools'], Tools: ['Other Tools'] },
  },
};

/**
 * The parameters of a read tool: a notice and the operation.
 *
 * @param example what a new node starts with: a complete operation that a person can edit
 */
export function readToolProperties(notice: string, example: OperationDefinition): INodeProperties[] {
  return [
    { displayName: notice, name: 'notice', type: 'notice', default: '' },
    {
      displayName: 'Operation',
      name: 'definition',
      type: 'json',
      typeOptions: { rows: 20 },
      default: JSON.stringify(example, null, 2),
      required: true,
      // An expression would let workflow data decide what is called.
      noDataExpression: true,
      description: 'The operation with its adapter and limits, as rendered from contract.yml',
    },
  ];
}

/** For agents that call a LangChain tool, and with a direct face for our own trigger. */
export function supplyReadTool(context: ISupplyDataFunctions, kind: ReadToolKind): SupplyData {
  const prepared = preparedOf(context);
  const answer = async (args: Record<string, unknown>) => {
    const { index } = context.addInputData(NodeConnectionTypes.AiTool, [[{ json: args as IDataObject }]]);
    try {
      const { text, structured } = await call(context, kind, prepared, args, agentContext());
      context.addOutputData(NodeConnectionTypes.AiTool, index, [[{ json: structured as IDataObject }]]);
      return text;
    } catch (error) {
      const failure = nodeError(context, error);
      context.addOutputData(NodeConnectionTypes.AiTool, index, failure);
      return failure.message;
    }
  };
  const { descriptor, definitionSha256 } = prepared;
  const tool = langchainTool(descriptor, answer, readsZod(context));
  const response = withDirectCall(tool, {
    descriptor,
    definitionSha256,
    resource: prepared.definition.operation.resource,
    call: async (args, caller) => {
      const { text, structured } = await call(context, kind, prepared, args, caller);
      return { content: [{ type: 'text', text }], structuredContent: structured };
    },
  });
  return { response };
}

/** For agents from version 3 on (n8n 2.x), which run the node instead of the tool. */
export async function executeReadTool(
  context: IExecuteFunctions,
  kind: ReadToolKind,
): Promise<INodeExecutionData[][]> {
  try {
    const prepared = preparedOf(context);
    const { structured } = await call(context, kind, prepared, modelArguments(context), agentContext());
    return [[{ json: structured as IDataObject, pairedItem: { item: 0 } }]];
  } catch (error) {
    const failure = nodeError(context, error);
    if (!context.continueOnFail()) throw failure;
    return [[{ json: { error: failure.message }, pairedItem: { item: 0 } }]];
  }
}

const prepare = rememberParsed((text): PreparedOperation =>
  prepareOperation(parseJson(operationDefinitionSchema, text, 'Operation')),
);

function preparedOf(context: ToolContext): PreparedOperation {
  try {
    return prepare(staticText(context.getNode(), 'definition'));
  } catch (error) {
    throw nodeError(context, error);
  }
}

async function call(
  context: ToolContext,
  kind: ReadToolKind,
  prepared: PreparedOperation,
  args: unknown,
  caller: CallContext,
): Promise<CallResult> {
  const credential = await context.getCredentials(kind.credential).catch((cause: unknown) => {
    throw new PolicyError(
      'credential_missing',
      'This tool has no upstream credential; the operator has to choose one.',
      { cause },
    );
  });
  return await kind.ask(prepared, args, credential, caller);
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
