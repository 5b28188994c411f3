import { createHash, randomBytes } from 'node:crypto';
import type { ToolDescriptor } from '../../../core/contract/pin';
import { ConcurrencyGate, type Limits } from '../../../core/policy/limits';
import { RateLimiter } from '../../../core/policy/rate';
import { authenticate } from '../../../core/server/authenticate';
import { parseConsumers } from '../../../core/server/consumers';
import type { OpenEventStream } from '../../../core/server/eventStream';
import { serve, type Endpoint, type Served } from '../../../core/server/serve';
import { handMadeSurface } from '../../../core/server/surfaces';
import type { ConnectedTool, ServedSurface } from '../../../core/server/tools';

export const LIMITS: Limits = {
  request_bytes: 4_000,
  response_bytes: 2_000,
  timeout_seconds: 1,
  concurrent_requests: 2,
  page_size: 10,
  result_items: 10,
  stream_seconds: 5,
};

export interface Secret {
  readonly token: string;
  readonly sha256: string;
}

/** A bearer that exists for one test run only. */
export function makeToken(): Secret {
  const token = randomBytes(24).toString('base64url');
  return { token, sha256: createHash('sha256').update(token).digest('hex') };
}

export const descriptor = (name: string): ToolDescriptor => ({
  name,
  title: name,
  description: `Says what ${name} was given.`,
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string', maxLength: 20 } },
    additionalProperties: false,
  },
});

/** A tool that answers with its arguments, or as told. */
export function tool(name: string, invoke?: ConnectedTool['invoke']): ConnectedTool {
  return {
    descriptor: descriptor(name),
    definitionSha256: null,
    invoke:
      invoke ?? ((args) => Promise.resolve({ content: [{ type: 'text', text: JSON.stringify(args) }] })),
  };
}

/** The surface that a person would make in the editor of these tools. */
export function surfaceOfTools(
  tools: readonly ConnectedTool[],
  limits: Limits = LIMITS,
  abilities: { logs?: boolean; hasResources?: boolean } = {},
): ServedSurface {
  return handMadeSurface(
    {
      applicationId: 'web-app-example',
      name: 'Example',
      tools: tools.map(({ descriptor: { name } }) => name),
      limits,
      ...abilities,
    },
    {
      find: (name) => Promise.resolve(tools.find(({ descriptor: found }) => found.name === name)),
      all: () => Promise.resolve(tools),
    },
  );
}

export interface Row {
  readonly id: string;
  readonly secret: Secret;
  readonly tools: string;
  readonly expiresAt?: string;
  readonly tenant?: string;
  readonly requestsPerMinute?: number;
  readonly concurrentCalls?: number;
}

/** An endpoint with named consumers, as the trigger node would hand it to `serve`. */
export function endpoint(
  surface: ServedSurface,
  rows: readonly Row[],
  changes: Partial<Endpoint> = {},
): Endpoint {
  const consumers = parseConsumers({
    consumers: {
      values: rows.map(({ secret, ...row }) => ({ ...row, tokenSha256: secret.sha256 })),
    },
  });
  return {
    applicationId: surface.applicationId,
    identify: async (authorization, now) =>
      await Promise.resolve(authenticate(authorization, consumers, now)),
    metadataAddress: () => undefined,
    surface: () => surface,
    allowedOrigins: new Set(),
    allowedHosts: new Set(),
    ownHosts: () => [],
    gate: new ConcurrencyGate(),
    gateKey: 'test',
    rates: new RateLimiter(),
    takeUndelivered: () => 0,
    serverVersion: '1.2.3',
    now: Date.now,
    ...changes,
  };
}

export interface Sent {
  readonly body?: unknown;
  readonly bytes?: number;
  readonly method?: string;
  readonly token?: string;
  readonly contentType?: string;
  readonly headers?: readonly string[];
  readonly signal?: AbortSignal;
  readonly isLoopback?: boolean;
  readonly openStream?: OpenEventStream;
}

/** One request as a host would hand it over. */
export async function send(to: Endpoint, { token, headers = [], ...sent }: Sent): Promise<Served> {
  const authorization = token === undefined ? [] : ['Authorization', `Bearer ${token}`];
  return await serve(
    {
      method: sent.method ?? 'POST',
      rawHeaders: ['Content-Type', sent.contentType ?? 'application/json', ...authorization, ...headers],
      body: sent.body,
      bodyBytes: sent.bytes ?? Buffer.byteLength(JSON.stringify(sent.body ?? '')),
      signal: sent.signal ?? new AbortController().signal,
      isLoopback: sent.isLoopback,
      openStream: sent.openStream,
    },
    to,
  );
}

export const rpc = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  ...(params === undefined ? {} : { params }),
});

export const call = (name: unknown, args?: unknown) =>
  rpc('tools/call', args === undefined ? { name } : { name, arguments: args });

export interface RpcBody {
  readonly id: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly code?: string };
  };
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly type: string; readonly text: string }[];
    readonly tools?: readonly { readonly name: string }[];
    readonly _meta?: Record<string, { readonly code: string; readonly pointer?: string }>;
  };
}

export const bodyOf = ({ answer }: Served): RpcBody => JSON.parse(answer.body) as RpcBody;

/** The stable code of an answer, in whichever of the three forms it came. */
export function codeOf(served: Served): string | undefined {
  const { error, result } = bodyOf(served);
  return error?.data?.code ?? result?._meta?.['mcp-curated/error']?.code;
}
