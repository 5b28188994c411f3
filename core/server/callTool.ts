import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ToolDescriptor } from '../contract/pin';
import { validateArguments } from '../policy/arguments';
import { PolicyError, toPolicyError } from '../policy/errors';
import { utf8Bytes } from '../policy/limits';
import { enterAsConsumer } from './consumerLimits';
import { withinDeadline } from './deadline';
import type { Exchange } from './exchange';
import { nameList } from './surfaces';
import { grantedNames, toolsOf, type ConnectedTool, type ToolResult } from './tools';

/**
 * One `tools/call`: authorize, take a place, find and compare with the pin, validate, call, bound the result, all of it
 * within the time limit.
 *
 * @throws PolicyError; the caller decides by its rule whether it becomes a result, a JSON-RPC error or an HTTP status
 */
export async function callTool(exchange: Exchange): Promise<CallToolResult> {
  const { surface, consumer, call } = exchange;
  const granted = grantedNames(surface, consumer);
  const name = granted.find((known) => known === call?.name);
  if (name === undefined) throw unknown(surface.pinned ? await toolNames(exchange) : granted);
  return await inPlace(exchange, async (signal) => {
    const served = await surface.find(name);
    if (served?.resource?.expose === 'resource' || !served) throw unknown(await toolNames(exchange));
    const args = validateArguments(served.descriptor.inputSchema, call?.arguments);
    const result = await invoke(await served.connect(), args, { ...exchange, signal });
    return bounded(result, surface.limits.response_bytes);
  });
}

async function toolNames({ surface, consumer }: Exchange): Promise<string[]> {
  return (await toolsOf(surface, consumer)).map(({ name }) => name);
}

/** The descriptors of a `tools/list`. */
export async function listTools(exchange: Exchange): Promise<readonly ToolDescriptor[]> {
  return await listOf(exchange, toolsOf);
}

/**
 * What a consumer sees of a surface. Where tools must be supplied for it, that is work like a call: it takes a place and
 * has the same time limit.
 */
export async function listOf<T>(
  exchange: Exchange,
  list: (surface: Exchange['surface'], consumer: Exchange['consumer']) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const { surface, consumer } = exchange;
  if (surface.pinned) return await list(surface, consumer);
  return await inPlace(exchange, async () => await list(surface, consumer));
}

/** Longest time for which a tool that was left behind keeps its place: many times the limit, but not for ever. */
const LEFT_BEHIND_FACTOR = 20;

/**
 * Runs work in one of the places of the consumer and of the surface. They are free again when the work has really
 * ended: a caller that
 * goes away does not make room for more of what still runs.
 */
export async function inPlace<T>(
  { surface: { limits }, consumer, gate, gateKey, signal: caller, report }: Exchange,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaveConsumer = enterAsConsumer(consumer, gate, gateKey);
  const leaveSurface = gate.tryEnter(gateKey, limits.concurrent_requests);
  if (!leaveSurface) {
    leaveConsumer();
    throw new PolicyError(
      'too_many_requests',
      `This surface runs ${String(limits.concurrent_requests)} calls at a time and all are busy; try again.`,
      { retryAfterSeconds: 1 },
    );
  }
  const leave = () => {
    leaveSurface();
    leaveConsumer();
  };
  // Where something may be told on the way, the answer is a stream, and both limits hold.
  const seconds = report ? Math.min(limits.timeout_seconds, limits.stream_seconds) : limits.timeout_seconds;
  return await withinDeadline(seconds, caller, async (signal) => {
    const longest = seconds * LEFT_BEHIND_FACTOR * 1_000;
    const forced = setTimeout(leave, longest).unref();
    try {
      return await work(signal);
    } finally {
      clearTimeout(forced);
      leave();
    }
  });
}

export async function invoke(
  tool: ConnectedTool,
  args: Record<string, unknown>,
  { consumer, correlationId, signal, report }: Exchange,
): Promise<ToolResult> {
  const { id, tenant } = consumer;
  try {
    return await tool.invoke(args, { consumer: id, tenant, correlationId, signal, report });
  } catch (error) {
    throw toPolicyError(error, 'tool_failed', 'The tool failed; the operator finds the cause in the log.');
  }
}

function unknown(names: readonly string[]): PolicyError {
  return new PolicyError('tool_unknown', `There is no tool of that name here. Tools: ${nameList(names)}.`);
}

function bounded({ content, structuredContent }: ToolResult, limit: number): CallToolResult {
  const result: CallToolResult = {
    content: [...content],
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
  refuseLarge(content, limit);
  // It mostly says the same again, so each has the limit for itself.
  if (structuredContent !== undefined) refuseLarge(structuredContent, limit);
  return result;
}

/** A result is refused as a whole: half an image or half a JSON text is worth nothing. @throws PolicyError */
export function refuseLarge(part: unknown, limit: number): void {
  if (utf8Bytes(JSON.stringify(part)) <= limit) return;
  throw new PolicyError(
    'response_too_large',
    `The result is larger than ${String(limit)} bytes; ask for less.`,
  );
}

/** The form in which a model can read a failure and correct itself. */
export function failedResult(error: PolicyError): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.code}: ${error.message}` }],
    _meta: {
      'mcp-curated/error': {
        code: error.code,
        ...(error.pointer === undefined ? {} : { pointer: error.pointer }),
        ...(error.retryAfterSeconds === undefined ? {} : { retry_after_seconds: error.retryAfterSeconds }),
      },
    },
  };
}
