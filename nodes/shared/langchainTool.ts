import { DynamicStructuredTool } from '@langchain/core/tools';
import { createRequire } from 'node:module';
import type { JsonSchema, ToolDescriptor } from '../../core/contract/pin';
import { withZodLook } from './zodLookalike';

/** What agents and n8n use of a LangChain tool. */
export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  invoke(input: unknown, config?: unknown): Promise<unknown>;
}

type ToolConstructor = new (fields: {
  name: string;
  description: string;
  schema: unknown;
  func: (args: Record<string, unknown>) => Promise<string>;
}) => AgentTool;

const bundled = DynamicStructuredTool as unknown as ToolConstructor;

/**
 * The tool class of the host, so that its `instanceof` checks hold; the bundled one where the host's copy cannot be
 * resolved from a community package (n8n installed with pnpm and not hoisted, as in newer Docker images).
 */
function toolConstructor(): ToolConstructor {
  try {
    // A require that the bundler does not see: it is resolved inside the host, at run time.
    const host = createRequire(__filename)('@langchain/core/tools') as {
      DynamicStructuredTool?: ToolConstructor;
    };
    return host.DynamicStructuredTool ?? bundled;
  } catch {
    return bundled;
  }
}

let constructor: ToolConstructor | undefined;

/**
 * The LangChain face of a tool, for agents.
 *
 * LangChain checks the arguments itself and throws, and the agents of n8n up to version 2 end with that, or show the
 * model an empty text. So whatever is wrong comes back as text that a model can act on.
 *
 * @param run answers with the text for the model, refusals included; it does not throw
 * @param forZod whether the schema is going to be read as a zod schema
 */
export function langchainTool(
  descriptor: ToolDescriptor,
  run: (args: Record<string, unknown>) => Promise<string>,
  forZod = false,
): AgentTool {
  constructor ??= toolConstructor();
  const tool = new constructor({
    name: descriptor.name,
    description: descriptor.description ?? descriptor.title ?? descriptor.name,
    schema: descriptor.inputSchema,
    func: run,
  });
  if (forZod) {
    // n8n 2.x makes a zod schema of it, by which LangChain would drop arguments that zod does not know.
    const invokeUnchecked = async (input: unknown): Promise<unknown> => await run(argumentsOf(input));
    return Object.assign(tool, { schema: withZodLook(descriptor.inputSchema), invoke: invokeUnchecked });
  }
  keepSchema(tool, descriptor.inputSchema);
  const invoke = tool.invoke.bind(tool);
  return Object.assign(tool, {
    invoke: async (input: unknown, config?: unknown): Promise<unknown> =>
      await invoke(input, config).catch(async (error: unknown) => {
        if (error instanceof Error && error.message.includes('did not match expected schema')) {
          return await run(argumentsOf(input));
        }
        throw error;
      }),
  });
}

/**
 * Agents of n8n 2.x replace a JSON Schema by a zod schema that they make of it, and lose on the way what zod cannot say
 * (references, formats, patterns of keys). The model is to see the schema that was reviewed, so it stays.
 */
function keepSchema(tool: AgentTool, schema: JsonSchema): void {
  Object.defineProperty(tool, 'schema', {
    enumerable: true,
    configurable: true,
    get: () => schema,
    set: () => undefined,
  });
}

/** Agents pass the arguments alone or inside a tool call. */
function argumentsOf(input: unknown): Record<string, unknown> {
  const given = (input ?? {}) as { type?: unknown; args?: Record<string, unknown> } & Record<string, unknown>;
  return given.type === 'tool_call' && given.args !== undefined ? given.args : given;
}
