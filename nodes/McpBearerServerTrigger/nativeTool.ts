import type { ToolDescriptor } from '../../core/contract/pin';
import { PolicyError } from '../../core/policy/errors';
import { withoutAddresses } from '../../core/policy/redaction';
import type { ConnectedTool, ToolResult } from '../../core/server/tools';
import { jsonSchemaOf } from '../shared/jsonSchemaOf';
import { contentOf } from './nativeContent';

/** What every LangChain tool of every host has. */
export interface LangchainTool {
  readonly name: string;
  readonly description?: string;
  readonly schema?: unknown;
  invoke(input: unknown, config?: { signal?: AbortSignal }): Promise<unknown>;
}

export function isLangchainTool(value: unknown): value is LangchainTool {
  const tool = value as Partial<LangchainTool> | null | undefined;
  return (
    typeof tool === 'object' &&
    tool !== null &&
    typeof tool.name === 'string' &&
    typeof tool.invoke === 'function'
  );
}

/** How n8n's own tools say in their text that they failed (1.100.1 and 2.41.1); a thrown error says it better. */
const FAILURE_TEXT = /^(?:Error during node execution: |There was an error: )/;
/** How the Workflow Tool puts it when its sub-workflow returned no items, which is an answer and no failure. */
const NO_ITEMS = /The workflow did not return a response/;
const CAUSE_CHARACTERS = 300;

/**
 * A native n8n tool as the trigger serves it: name, description and input schema, with no annotations, since nobody
 * has said what it does.
 *
 * @param failure tells after a call whether n8n recorded the run of the tool's node as failed
 */
export function nativeTool(tool: LangchainTool, failure: () => Error | undefined): ConnectedTool {
  const descriptor: ToolDescriptor = {
    name: tool.name,
    description: tool.description ?? '',
    inputSchema: jsonSchemaOf(tool.schema),
  };
  return {
    descriptor,
    definitionSha256: null,
    invoke: async (args, { signal }) => {
      let output: unknown;
      try {
        output = await tool.invoke(args, { signal });
      } catch (error) {
        return emptyOrFailed(error instanceof Error ? error.message : String(error));
      }
      const text = textOf(output);
      const recorded = failure();
      if (recorded) return emptyOrFailed(recorded.message);
      if (FAILURE_TEXT.test(text)) return emptyOrFailed(text.replace(FAILURE_TEXT, ''));
      return contentOf(output) ?? toResult(text);
    },
  };
}

function emptyOrFailed(cause: string): ToolResult {
  if (NO_ITEMS.test(cause)) return toResult('');
  throw failed(cause);
}

function failed(cause: string): PolicyError {
  return new PolicyError('tool_failed', `The tool failed: ${withoutAddresses(cause, CAUSE_CHARACTERS)}`);
}

function textOf(output: unknown): string {
  if (typeof output === 'string') return output;
  return output === undefined || output === null ? '' : JSON.stringify(output);
}

/** An empty answer says so: a model that gets nothing at all cannot tell it from a fault. */
function toResult(text: string): ToolResult {
  const empty = text.trim() === '' || text.trim() === '[]';
  return { content: [{ type: 'text', text: empty ? '[] (no results)' : text }] };
}
