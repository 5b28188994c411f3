import { rawHttp, type RawResponse } from './rawHttp';

/** Where and as whom; `bearer: null` sends no Authorization. */
export interface Endpoint {
  url: string;
  bearer: string | null;
}

export interface RequestOptions {
  /** JSON-RPC id; 1 if absent, none for a notification. */
  id?: string | number | null;
  /** Instead of or beside the usual headers; a name given here replaces the usual one, however often it is given. */
  headers?: readonly (readonly [name: string, value: string])[];
  /** Usual headers to leave out, lower case. */
  without?: readonly string[];
  signal?: AbortSignal;
}

/** POSTs a body as it stands, with the headers of an ordinary 2025-era client. */
export function post(
  { url, bearer }: Endpoint,
  body: string | Buffer,
  { headers = [], without = [], signal }: RequestOptions = {},
): Promise<RawResponse> {
  const usual: [string, string][] = [
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream'],
    ...(bearer === null ? [] : ([['Authorization', `Bearer ${bearer}`]] as [string, string][])),
  ];
  const replaced = new Set([...headers.map(([name]) => name.toLowerCase()), ...without]);
  const sent = [...usual.filter(([name]) => !replaced.has(name.toLowerCase())), ...headers];
  return rawHttp({ url, headers: sent, body, ...(signal ? { signal } : {}) });
}

/** One JSON-RPC request. */
export function rpc(
  endpoint: Endpoint,
  method: string,
  params?: object,
  options: RequestOptions = {},
): Promise<RawResponse> {
  const { id = 1 } = options;
  const message = {
    jsonrpc: '2.0',
    ...(id === null ? {} : { id }),
    method,
    ...(params === undefined ? {} : { params }),
  };
  return post(endpoint, JSON.stringify(message), options);
}

export function callTool(
  endpoint: Endpoint,
  name: string,
  args: object = {},
  options: RequestOptions = {},
): Promise<RawResponse> {
  return rpc(endpoint, 'tools/call', { name, arguments: args }, options);
}

export interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: { type: string; properties?: Record<string, Record<string, unknown>> };
  outputSchema?: object;
  annotations?: Record<string, boolean>;
}

/** What `tools/list` shows; fails when it is no list. */
export async function listTools(endpoint: Endpoint): Promise<ListedTool[]> {
  const { json, status, text } = await rpc(endpoint, 'tools/list');
  const tools = (json as { result?: { tools?: ListedTool[] } } | undefined)?.result?.tools;
  if (!tools) throw new Error(`tools/list answered ${status}: ${text.slice(0, 300)}`);
  return tools;
}

export interface ToolResult {
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: { 'mcp-curated/error'?: { code: string; pointer?: string; retry_after_seconds?: number } };
}

export function resultOf({ json }: RawResponse): ToolResult | undefined {
  return (json as { result?: ToolResult } | undefined)?.result;
}

/** The text of the first block of a result. */
export function textOf(response: RawResponse): string {
  return resultOf(response)?.content[0]?.text ?? '';
}

interface RpcError {
  code: number;
  message: string;
  data?: { code?: string };
}

export function errorOf({ json }: RawResponse): RpcError | undefined {
  return (json as { error?: RpcError } | undefined)?.error;
}

/** The stable code that an answer carries; `ok` for a result without a fault. */
export function codeOf(response: RawResponse): string | undefined {
  const result = resultOf(response);
  if (result) return result.isError ? result._meta?.['mcp-curated/error']?.code : 'ok';
  return errorOf(response)?.data?.code;
}

/** The sentence for a person that an answer carries. */
export function sentenceOf(response: RawResponse): string {
  return errorOf(response)?.message ?? textOf(response);
}
