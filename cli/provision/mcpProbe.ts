import type { Contract } from '../../core/contract/schema';
import { exchange } from '../n8n/exchange';

const LIMIT_MS = 30_000;
const VERSION = '2025-06-18';

export interface McpAnswer {
  readonly status: number;
  readonly result: Record<string, unknown> | undefined;
  /** Code of a refusal, ours where the server is one of ours. */
  readonly error: string | undefined;
}

/** One MCP request to one of our endpoints, which keep no sessions. */
export async function mcpRequest(
  endpoint: string,
  bearer: string,
  method: string,
  params: object,
  signal: AbortSignal,
): Promise<McpAnswer> {
  const { status, text } = await exchange(
    endpoint,
    {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': VERSION,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal,
    },
    LIMIT_MS,
  );
  return { status, ...readAnswer(text) };
}

function readAnswer(text: string): Pick<McpAnswer, 'result' | 'error'> {
  try {
    const { result, error } = JSON.parse(text) as {
      result?: Record<string, unknown>;
      error?: { code?: number; data?: { code?: string } };
    };
    const code = error?.data?.code ?? error?.code;
    return { result, error: code === undefined ? undefined : String(code) };
  } catch {
    return { result: undefined, error: undefined };
  }
}

/** Whether a bearer is let in, by listing what it may call. */
export async function isAccepted(endpoint: string, bearer: string, signal: AbortSignal): Promise<boolean> {
  const { status, result } = await mcpRequest(endpoint, bearer, 'tools/list', {}, signal);
  return status === 200 && Array.isArray(result?.['tools']);
}

/** The tool of a contract that can be called without any argument; `undefined` where every tool needs one. */
export function harmlessTool({ operations }: Contract): string | undefined {
  return operations.find(({ input_schema: schema }) => ((schema['required'] ?? []) as unknown[]).length === 0)
    ?.name;
}

/**
 * Calls a tool that needs no argument.
 *
 * @returns `undefined` when it answered, else the code of what went wrong
 */
export async function readFailure(
  endpoint: string,
  bearer: string,
  tool: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { status, result, error } = await mcpRequest(
    endpoint,
    bearer,
    'tools/call',
    { name: tool, arguments: {} },
    signal,
  );
  if (status !== 200 || !result) return error ?? `http_${String(status)}`;
  if (result['isError'] !== true) return undefined;
  const meta = result['_meta'] as { 'mcp-curated/error'?: { code?: string } } | undefined;
  return meta?.['mcp-curated/error']?.code ?? 'tool_failed';
}
