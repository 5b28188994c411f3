import type { ToolDescriptor } from '../../core/contract/pin';
import type { CallContext, CallResult } from '../../core/upstream/call';

/**
 * How our trigger calls our own tools: beside the LangChain face, with the caller's identity and with structured
 * results. A registered symbol, because each node is a bundle of its own.
 */
export const DIRECT_CALL = Symbol.for('n8n-nodes-mcp-curated.directCall.v1');

export interface DirectCall {
  readonly descriptor: ToolDescriptor;
  readonly definitionSha256: string;
  call(args: Record<string, unknown>, context: CallContext): Promise<CallResult>;
}

/** The direct face of a connected tool, if it is one of ours. */
export function directCallOf(tool: unknown): DirectCall | undefined {
  if (tool === null || typeof tool !== 'object') return undefined;
  return (tool as { [DIRECT_CALL]?: DirectCall })[DIRECT_CALL];
}
