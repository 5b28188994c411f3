import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type CallToolResult,
  type McpRequestContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { ToolDescriptor } from '../contract/pin';
import { ruleOf, toPolicyError, type PolicyError } from '../policy/errors';
import { callTool, failedResult, listTools } from './callTool';
import type { Exchange } from './exchange';
import type { JsonRpcMessage } from './inbound';

// The low-level Server: tools are answered from pinned descriptors, not from registered callbacks with zod schemas.
/* eslint-disable @typescript-eslint/no-deprecated */

/** The SDK wants an address; what it is does not matter. */
const SHOWN_ADDRESS = 'http://mcp.invalid/';

/** The 2026-07-28 leg. It holds nothing between requests, so one instance serves the process. */
const modern = createMcpHandler((context) => serverOf(context), { legacy: 'reject' });

/**
 * Answers one authenticated, well-formed message through the MCP SDK, in whichever protocol era the client speaks.
 * 2025-era clients are answered with one JSON body, so that a client that accepts only JSON is served too.
 */
export async function answerMessage(
  message: JsonRpcMessage,
  headers: Headers,
  exchange: Exchange,
): Promise<Response> {
  // The SDK demands both types of every 2025-era client. What we send is JSON, which is all that these accept.
  headers.set('accept', 'application/json, text/event-stream');
  // Without a body, which is parsed already and would cost a stream.
  const request = new Request(SHOWN_ADDRESS, { method: 'POST', headers });
  const authInfo = { token: '', clientId: exchange.consumer.id, scopes: [], extra: { exchange } };
  if (await isLegacyRequest(request, message)) return await answerLegacy(message, request, exchange);
  return await modern.fetch(new Request(request, { signal: exchange.signal }), {
    authInfo,
    parsedBody: message,
  });
}

async function answerLegacy(
  message: JsonRpcMessage,
  request: Request,
  exchange: Exchange,
): Promise<Response> {
  const server = makeServer(exchange);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } catch (error) {
    // What was answered has nothing left to close, and closing takes a tenth of the time of a request.
    void server.close().catch(() => undefined);
    throw error;
  }
}

function serverOf(context: McpRequestContext): Server {
  const exchange = context.authInfo?.extra?.['exchange'] as Exchange | undefined;
  if (!exchange) throw new Error('A request reached the protocol layer without having been authenticated.');
  return makeServer(exchange);
}

function makeServer(exchange: Exchange): Server {
  const { surface } = exchange;
  const server = new Server(
    { name: surface.applicationId, title: surface.name, version: exchange.serverVersion },
    {
      capabilities: { tools: {} },
      ...(surface.instructions === undefined ? {} : { instructions: surface.instructions }),
    },
  );
  server.setRequestHandler('tools/list', () => answerList(exchange));
  server.setRequestHandler('tools/call', () => answerCall(exchange));
  return server;
}

async function answerList(exchange: Exchange): Promise<{ tools: Tool[] }> {
  try {
    return { tools: (await listTools(exchange)).map(asMcpTool) };
  } catch (thrown) {
    throw protocolError(refuse(exchange, thrown));
  }
}

async function answerCall(exchange: Exchange): Promise<CallToolResult> {
  try {
    return await callTool(exchange);
  } catch (thrown) {
    const error = refuse(exchange, thrown);
    if (ruleOf(error.code).answer === 'result') return failedResult(error);
    throw protocolError(error);
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

function asMcpTool(tool: ToolDescriptor): Tool {
  return {
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: tool.inputSchema as Tool['inputSchema'],
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
    ...(tool.annotations === undefined ? {} : { annotations: withoutUndefined(tool.annotations) }),
  };
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
}
