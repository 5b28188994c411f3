import type { CallToolResult } from '@modelcontextprotocol/server';
import { validateArguments } from '../policy/arguments';
import { PolicyError, toPolicyError } from '../policy/errors';
import { utf8Bytes } from '../policy/limits';
import type { Exchange } from './exchange';
import { nameList } from './surfaces';
import { toolOf, toolsOf, type ConnectedTool, type ToolResult } from './tools';

/**
 * One `tools/call`: authorize, validate, take a place, resolve and compare with the pin, call within the time limit,
 * bound the result.
 *
 * @throws PolicyError; the caller decides by its rule whether it becomes a result, a JSON-RPC error or an HTTP status
 */
export async function callTool(exchange: Exchange): Promise<CallToolResult> {
  const { surface, consumer, gate, gateKey } = exchange;
  const served = await toolOf(surface, consumer, exchange.call?.name);
  if (!served) {
    const names = nameList(await toolsOf(surface, consumer));
    throw new PolicyError('tool_unknown', `There is no tool of that name here. Tools: ${names}.`);
  }
  const args = validateArguments(served.descriptor.inputSchema, exchange.call?.arguments);
  const leave = gate.tryEnter(gateKey, surface.limits.concurrent_requests);
  if (!leave) {
    throw new PolicyError(
      'too_many_requests',
      `This surface runs ${String(surface.limits.concurrent_requests)} calls at a time and all are busy; try again.`,
      { retryAfterSeconds: 1 },
    );
  }
  try {
    return bounded(await invokeInTime(await served.connect(), args, exchange), surface.limits.response_bytes);
  } finally {
    leave();
  }
}

/** Time for a tool to say in its own words what it was waiting for, once its time is over. */
const LAST_WORDS_MS = 250;

/** A tool that does not listen to the signal is left behind; the caller does not wait for it. */
async function invokeInTime(
  tool: ConnectedTool,
  args: Record<string, unknown>,
  { surface, consumer, correlationId, signal: caller }: Exchange,
): Promise<ToolResult> {
  const seconds = surface.limits.timeout_seconds;
  const timeout = AbortSignal.timeout(seconds * 1_000);
  const signal = AbortSignal.any([caller, timeout]);
  const ended = new Promise<never>((_resolve, reject) => {
    const end = () => {
      if (caller.aborted) reject(new PolicyError('call_cancelled', 'The caller ended the request.'));
      else {
        const late = new PolicyError(
          'tool_timeout',
          `The tool did not answer within ${String(seconds)} seconds.`,
        );
        setTimeout(reject, LAST_WORDS_MS, late).unref();
      }
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  const context = { consumer: consumer.id, tenant: consumer.tenant, correlationId, signal };
  try {
    return await Promise.race([tool.invoke(args, context), ended]);
  } catch (error) {
    throw toPolicyError(error, 'tool_failed', 'The tool failed; the operator finds the cause in the log.');
  }
}

function bounded({ content, structuredContent }: ToolResult, limit: number): CallToolResult {
  const result: CallToolResult = {
    content: [...content],
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
  if (utf8Bytes(JSON.stringify(content)) > limit) {
    throw new PolicyError(
      'response_too_large',
      `The result is larger than ${String(limit)} bytes; ask for less.`,
    );
  }
  return result;
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
