import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  Server,
  type McpRequestContext,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { PolicyError, ruleOf, toPolicyError, type ErrorCode } from '../policy/errors';
import { callTool, failedResult, listTools } from './callTool';
import type { Exchange } from './exchange';
import type { JsonRpcMessage } from './inbound';
import { asMcpResource, asMcpTemplate, asMcpTool } from './listed';
import { LegacyTransport } from './legacyTransport';
import { pageOf } from './listPage';
import { reporterOf } from './notices';
import { listResources, readResource } from './readResource';
import { isTemplate } from '../contract/resource';

// The low-level Server: tools are answered from pinned descriptors, not from registered callbacks with zod schemas.
/* eslint-disable @typescript-eslint/no-deprecated */

/** What the protocol layer answers; the body is empty where everything went into the stream. */
export interface ProtocolAnswer {
  readonly status: number;
  readonly body: string;
}

/** The SDK wants an address; what it is does not matter. */
const SHOWN_ADDRESS = 'http://mcp.invalid/';

type Era = 'legacy' | 'modern';

/**
 * The 2026-07-28 leg. It holds nothing between requests, so one instance serves the process. It answers with JSON
 * unless something is told on the way, which is up to the exchange.
 */
const modern = createMcpHandler(serverOf, { legacy: 'reject', keepAliveMs: 0 });

/**
 * Answers one authenticated, well-formed message through the MCP SDK, in whichever protocol era the client speaks. The
 * answer is one JSON body, unless a tool tells of its progress or logs, the client asked for that and takes a stream.
 */
export async function answerMessage(
  message: JsonRpcMessage,
  headers: Headers,
  exchange: Exchange,
): Promise<ProtocolAnswer> {
  // The SDK demands both types of every client. What a client does not take, it is not sent: see the stream.
  headers.set('accept', 'application/json, text/event-stream');
  // Without a body, which is parsed already and would cost a stream.
  const request = new Request(SHOWN_ADDRESS, { method: 'POST', headers });
  if (await isLegacyRequest(request, message)) return await answerLegacy(message, headers, exchange);
  const authInfo = { token: '', clientId: exchange.consumer.id, scopes: [], extra: { exchange } };
  const cancellable = new Request(request, { signal: exchange.signal });
  const response = await modern.fetch(cancellable, { authInfo, parsedBody: message });
  const streamed = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!streamed || !exchange.stream) return { status: response.status, body: await response.text() };
  const { stream } = exchange;
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    stream.raw(decoder.decode(chunk as Uint8Array, { stream: true }));
  }
  return { status: response.status, body: '' };
}

async function answerLegacy(
  message: JsonRpcMessage,
  headers: Headers,
  exchange: Exchange,
): Promise<ProtocolAnswer> {
  const server = makeServer(exchange, 'legacy');
  const transport = new LegacyTransport(exchange.stream);
  await server.connect(transport);
  try {
    const version = headers.get('mcp-protocol-version');
    if (
      version !== null &&
      message.method !== 'initialize' &&
      !transport.supportedVersions.includes(version)
    ) {
      throw new PolicyError(
        'protocol_version_unsupported',
        `This protocol revision is not spoken here; use one of ${transport.supportedVersions.join(', ')}.`,
      );
    }
    const answer = await transport.exchange(message);
    if (!answer) return { status: 202, body: '' };
    if (!exchange.stream?.isOpen) return { status: 200, body: JSON.stringify(answer) };
    exchange.stream.message(answer);
    return { status: 200, body: '' };
  } catch (error) {
    // What was answered has nothing left to close, and closing takes a tenth of the time of a request.
    void server.close().catch(() => undefined);
    throw error;
  }
}

function serverOf(context: McpRequestContext): Server {
  const exchange = context.authInfo?.extra?.['exchange'] as Exchange | undefined;
  if (!exchange) throw new Error('A request reached the protocol layer without having been authenticated.');
  return makeServer(exchange, 'modern');
}

/** How long a client may keep what a pinned contract lists: it changes with a new contract only. */
const PINNED_TTL_MS = 60_000;

function makeServer(exchange: Exchange, era: Era): Server {
  const { surface } = exchange;
  // Another consumer is shown another list, so no shared cache may hold one.
  const hint = { ttlMs: surface.pinned ? PINNED_TTL_MS : 0, cacheScope: 'private' as const };
  const server = new Server(
    { name: surface.applicationId, title: surface.name, version: exchange.serverVersion },
    {
      capabilities: {
        tools: {},
        ...(surface.hasResources ? { resources: {} } : {}),
        ...(surface.logs ? { logging: {} } : {}),
      },
      cacheHints: { 'tools/list': hint, 'resources/list': hint, 'resources/templates/list': hint },
      ...(surface.instructions === undefined ? {} : { instructions: surface.instructions }),
    },
  );
  server.setRequestHandler('tools/list', async ({ params }) => {
    const { entries, ...rest } = await answered(exchange, async () =>
      pageOf(await listTools(exchange), params?.cursor),
    );
    return { tools: entries.map(asMcpTool), ...rest };
  });
  server.setRequestHandler('tools/call', async (_request, context) => {
    listen(exchange, context, era);
    try {
      return await callTool(exchange);
    } catch (thrown) {
      const error = refuse(exchange, thrown);
      if (ruleOf(error.code).answer === 'result') return failedResult(error);
      throw protocolError(error);
    }
  });
  if (surface.hasResources) serveResources(server, exchange, era);
  return server;
}

function serveResources(server: Server, exchange: Exchange, era: Era): void {
  const page = async (cursor: string | undefined, templates: boolean) =>
    await answered(exchange, async () => {
      const all = await listResources(exchange);
      return pageOf(
        all.filter(({ resource }) => isTemplate(resource.uri_template) === templates),
        cursor,
      );
    });
  server.setRequestHandler('resources/list', async ({ params }) => {
    const { entries, ...rest } = await page(params?.cursor, false);
    return { resources: entries.map(asMcpResource), ...rest };
  });
  server.setRequestHandler('resources/templates/list', async ({ params }) => {
    const { entries, ...rest } = await page(params?.cursor, true);
    return { resourceTemplates: entries.map(asMcpTemplate), ...rest };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    listen(exchange, context, era);
    try {
      return await readResource(exchange, uri);
    } catch (thrown) {
      const { code, message, pointer } = refuse(exchange, thrown);
      const data = { code, ...(pointer === undefined ? {} : { pointer }), ...shownUri(code, uri) };
      throw new ProtocolError(readErrorCode(code), message, data);
    }
  });
}

/** A read has no result that could carry an error, so what a call would answer as one becomes a JSON-RPC error. */
function readErrorCode(code: ErrorCode): number {
  // 2025-era clients know -32002 for it, but the SDK speaks the code of 2026-07-28 (SEP-2164) to all of them.
  if (isNotFound(code)) return -32602;
  if (ruleOf(code).answer !== 'result') return ruleOf(code).rpc;
  return code === 'arguments_invalid' ? -32602 : -32603;
}

function isNotFound(code: ErrorCode): boolean {
  return code === 'resource_unknown' || code === 'upstream_not_found';
}

const SHOWN_URI_CHARACTERS = 1_000;

/** The caller's own URI, which the 2026-07-28 revision wants back, as data beside the sentence. */
function shownUri(code: ErrorCode, uri: string): { uri?: string } {
  return isNotFound(code) && uri.length <= SHOWN_URI_CHARACTERS ? { uri } : {};
}

function listen(exchange: Exchange, context: ServerContext, era: Era): void {
  if (!exchange.stream) return;
  const { logs, limits } = exchange.surface;
  exchange.report = reporterOf(context, { era, logs, bytes: limits.response_bytes });
}

/** Runs what answers a list. @throws ProtocolError */
async function answered<T>(exchange: Exchange, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw protocolError(refuse(exchange, thrown));
  }
}

/** Notes for the HTTP layer and the audit what became of the request. */
function refuse(exchange: Exchange, thrown: unknown): PolicyError {
  const error = toPolicyError(thrown, 'internal_error', 'The request failed inside the server.');
  exchange.outcome = error.code;
  exchange.refusal = error;
  return error;
}

function protocolError(error: PolicyError): ProtocolError {
  return new ProtocolError(ruleOf(error.code).rpc, error.message, { code: error.code });
}
