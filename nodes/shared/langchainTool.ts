import { DynamicStructuredTool as BundledTool } from '@langchain/core/tools';
import { createRequire } from 'node:module';
import type { ToolDescriptor } from '../../core/contract/pin';

type ToolConstructor = typeof BundledTool;

/**
 * The tool class of the host, so that its `instanceof` checks hold; the bundled one where the host's copy cannot be
 * resolved from a community package (the pnpm layout of the Docker image).
 */
function toolConstructor(): ToolConstructor {
  try {
    // A require that the bundler does not see: it is resolved inside the host, at run time.
    const host = createRequire(__filename)('@langchain/core/tools') as {
      DynamicStructuredTool?: ToolConstructor;
    };
    return host.DynamicStructuredTool ?? BundledTool;
  } catch {
    return BundledTool;
  }
}

let constructor: ToolConstructor | undefined;

/**
 * The LangChain face of a tool, for agents.
 *
 * @param run answers with the text for the model; what it throws becomes the agent's tool error
 */
export function langchainTool(
  descriptor: ToolDescriptor,
  run: (args: Record<string, unknown>) => Promise<string>,
): InstanceType<ToolConstructor> {
  constructor ??= toolConstructor();
  return new constructor({
    name: descriptor.name,
    description: descriptor.description ?? descriptor.title ?? descriptor.name,
    schema: descriptor.inputSchema as never,
    func: run as never,
  });
}
