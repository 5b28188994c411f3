import { NodeConnectionTypes, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { PolicyError } from '../../core/policy/errors';

/** The part of the run data that agents of n8n 2.x leave for a tool node; undocumented, so it is looked for. */
interface RunContext {
  readonly runIndex?: number;
  readonly runExecutionData?: {
    readonly resultData?: {
      readonly runData?: Record<string, { readonly inputOverride?: Record<string, unknown> }[] | undefined>;
    };
  };
}

/**
 * The model's own arguments when an agent runs this node's `execute()`.
 *
 * The input items cannot be used: agents from version 3 on mix their own input item into them, so whoever controls
 * that item would control every argument that the model left out.
 *
 * @throws PolicyError `arguments_invalid` where the host does not say what the model sent
 */
export function modelArguments(context: IExecuteFunctions): Record<string, unknown> {
  const { runExecutionData, runIndex = 0 } = context as unknown as RunContext;
  const run = runExecutionData?.resultData?.runData?.[context.getNode().name]?.[runIndex];
  const override = run?.inputOverride?.[NodeConnectionTypes.AiTool] as { json?: unknown }[][] | undefined;
  const own = override?.[0]?.[0]?.json;
  if (own === null || typeof own !== 'object' || Array.isArray(own)) {
    throw new PolicyError(
      'arguments_invalid',
      'This tool is called by an AI agent or by the MCP Bearer Server Trigger; it cannot be run by itself.',
    );
  }
  return { ...(own as Record<string, unknown>) };
}

/**
 * The context with the input items as they were before the model's arguments were mixed in, as far as that can be
 * undone: what the model named is gone. An expression in a credential is read with it, for otherwise a model could
 * choose the token, or the endpoint that is shown the token.
 */
export function withoutModelArguments<T extends IExecuteFunctions>(context: T, own: object): T {
  const { connectionInputData } = context as { connectionInputData?: INodeExecutionData[] };
  if (!Array.isArray(connectionInputData)) return context;
  const items = connectionInputData.map((item) => ({
    ...item,
    json: Object.fromEntries(
      Object.entries(item.json).filter(([key]) => key !== 'toolCallId' && !Object.hasOwn(own, key)),
    ),
  }));
  return Object.create(context, { connectionInputData: { value: items } }) as T;
}
