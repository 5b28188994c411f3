import type { ToolDescriptor } from '../../core/contract/pin';
import type { ResourceDeclaration } from '../../core/contract/resource';
import { ERROR_RULES, PolicyError, toPolicyError, type ErrorCode } from '../../core/policy/errors';
import type { ToolResult } from '../../core/server/tools';
import type { CallContext } from '../../core/upstream/run';

/**
 * How our trigger calls our own tools: beside the LangChain face, with the caller's identity and with structured
 * results. A registered symbol, because each node is a bundle of its own.
 */
const DIRECT_CALL = Symbol.for('n8n-nodes-mcp-curated.directCall.v1');

/** A failure as data: classes are not the same on both sides, since each bundle has its own copy. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly pointer: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

type Outcome = { readonly result: ToolResult } | { readonly failure: Failure };

interface Wire {
  readonly descriptor: ToolDescriptor;
  readonly definitionSha256: string | null;
  readonly resource?: ResourceDeclaration | undefined;
  call(args: Record<string, unknown>, context: CallContext): Promise<Outcome>;
}

export interface DirectCall {
  readonly descriptor: ToolDescriptor;
  /** Hash of a Read Tool's whole definition; `null` for a tool of a foreign server. */
  readonly definitionSha256: string | null;
  /** How a Read Tool is read as a resource; `undefined` for what is a tool only. */
  readonly resource?: ResourceDeclaration | undefined;
  /** @throws PolicyError */
  call(args: Record<string, unknown>, context: CallContext): Promise<ToolResult>;
}

/** Gives a tool its direct face. */
export function withDirectCall<T extends object>(tool: T, direct: DirectCall): T {
  const wire: Wire = {
    descriptor: direct.descriptor,
    definitionSha256: direct.definitionSha256,
    resource: direct.resource,
    call: async (args, context) => {
      try {
        return { result: await direct.call(args, context) };
      } catch (thrown) {
        const error = toPolicyError(thrown, 'tool_failed', 'The tool failed inside.');
        const { code, message, pointer, retryAfterSeconds } = error;
        return { failure: { code, message, pointer, retryAfterSeconds } };
      }
    },
  };
  return Object.assign(tool, { [DIRECT_CALL]: wire });
}

/** The direct face of a connected tool, if it is one of ours. */
export function directCallOf(tool: unknown): DirectCall | undefined {
  if (tool === null || typeof tool !== 'object') return undefined;
  const wire = (tool as { [DIRECT_CALL]?: Wire })[DIRECT_CALL];
  return wire && { ...wire, call: async (args, context) => resultOf(await wire.call(args, context)) };
}

function resultOf(outcome: Outcome): ToolResult {
  if ('result' in outcome) return outcome.result;
  const { code, message, pointer, retryAfterSeconds } = outcome.failure;
  throw new PolicyError(Object.hasOwn(ERROR_RULES, code) ? (code as ErrorCode) : 'tool_failed', message, {
    ...(pointer === undefined ? {} : { pointer }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
