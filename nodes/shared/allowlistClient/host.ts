import type { IExecuteFunctions, ILoadOptionsFunctions, ISupplyDataFunctions, Logger } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { serverAccess, type ServerAccess, type ServerCredential } from '../../../core/client/access';
import { secretsOf } from '../../../core/client/oauth';
import { ListingCache } from '../../../core/client/listingCache';
import type { ClientLog } from '../../../core/client/connection';
import { resultText, type CallOutcome } from '../../../core/client/result';
import { Sessions, type Lease, type Lifetime } from '../../../core/client/sessions';
import { ToolServer, type ServerSettings } from '../../../core/client/toolServer';
import { differenceText, DriftError } from '../../../core/client/verify';
import { PolicyError, toPolicyError } from '../../../core/policy/errors';
import { foreignText } from '../../../core/policy/redaction';
import { htmlText } from './htmlText';

export const CREDENTIAL = 'mcpAllowlistClientApi';

export type RunContext = ISupplyDataFunctions | IExecuteFunctions;

const sessions = new Sessions();
const listings = new ListingCache();

/**
 * Newer agents run every call as a node of its own, between which nothing is in use: the connection waits for the next
 * one until the execution ends, or at most this long.
 */
const LINGER_MS = 60_000;

/**
 * Supplied tools are used now and then, and n8n 1.x forgets to close what it was supplied for a webhook of its own: what
 * is not used for this long is closed, and opened again for the next call. Without an execution that call comes at once.
 */
const IDLE_MS = 60_000;
const IDLE_WITHOUT_EXECUTION_MS = 5_000;

/** What n8n's contexts have at run time beside their published interface; detected, not assumed. */
interface HostContext {
  getExecutionCancelSignal?(): AbortSignal | undefined;
  onExecutionCancellation?(handler: () => void): void;
  /** From n8n 2.x on. */
  onExecutionFinish?(handler: () => void): void;
  /** Without hooks nobody ever says that the execution is over: a webhook that answers by itself has none. */
  readonly additionalData?: { readonly hooks?: unknown };
}

/** @throws PolicyError `credential_missing`, `endpoint_invalid` */
export async function accessOf(
  context: RunContext | ILoadOptionsFunctions,
  itemIndex = 0,
): Promise<ServerAccess> {
  const credential = await context.getCredentials(CREDENTIAL, itemIndex).catch((cause: unknown) => {
    const sentence = 'The credential of the MCP server is missing or cannot be read; choose one.';
    throw new PolicyError('credential_missing', sentence, { cause });
  });
  return serverAccess(credential as unknown as ServerCredential);
}

/** Aborted when the execution is cancelled. */
export function cancelSignal(context: RunContext): AbortSignal {
  return (context as HostContext).getExecutionCancelSignal?.() ?? new AbortController().signal;
}

/** The server for this node in this execution. Whoever leases it releases it. */
export function lease(context: RunContext, access: ServerAccess, settings: ServerSettings): Lease {
  const { id, name } = context.getNode();
  const key = [executionId(context), id, name, access.fingerprint].join('\n');
  const make = () => new ToolServer(access, settings, clientLog(context.logger), listings);
  return sessions.lease(key, make, lifetimeOf(context));
}

/** A server that is leased while it is used. */
export interface HeldServer {
  use<T>(work: (server: ToolServer) => Promise<T>): Promise<T>;
  /** Gives it back; it may be used again. */
  readonly release: () => Promise<void>;
}

/** The same for tools that may be called at any time, or never again. */
export function hold(context: RunContext, access: ServerAccess, settings: ServerSettings): HeldServer {
  const idleMs = context.getExecutionId() ? IDLE_MS : IDLE_WITHOUT_EXECUTION_MS;
  let held: Lease | undefined;
  let timer: NodeJS.Timeout | undefined;
  let users = 0;
  const release = async () => {
    clearTimeout(timer);
    const given = held;
    held = undefined;
    await given?.release();
  };
  return {
    release,
    use: async (work) => {
      clearTimeout(timer);
      users += 1;
      try {
        held ??= lease(context, access, settings);
        return await work(held.server);
      } finally {
        users -= 1;
        if (users === 0 && held) timer = setTimeout(() => void release(), idleMs).unref();
      }
    },
  };
}

/** For one look at a server outside of an execution. */
export function newServer(
  access: ServerAccess,
  settings: ServerSettings,
  logger: Logger | undefined,
): ToolServer {
  return new ToolServer(access, settings, clientLog(logger), listings);
}

function executionId(context: RunContext): string {
  // Manual runs of 1.x have none; then nothing is shared.
  return context.getExecutionId() || randomUUID();
}

function lifetimeOf(context: HostContext): Lifetime {
  const tells =
    typeof context.onExecutionFinish === 'function' && context.additionalData?.hooks !== undefined;
  return {
    lingerMs: tells ? LINGER_MS : 0,
    onEnd: (close) => {
      context.onExecutionCancellation?.(close);
      if (tells) context.onExecutionFinish?.(close);
    },
  };
}

const FAILURE_CHARACTERS = 2_000;

/** An answer with `isError` as an error. A server may repeat in it whatever it was sent, the credential included. */
export function toolFailure(outcome: CallOutcome, access: ServerAccess): PolicyError {
  const said = resultText(outcome, FAILURE_CHARACTERS);
  const shown = foreignText(said, FAILURE_CHARACTERS + CUT_CHARACTERS, secretsOf(access));
  return new PolicyError('tool_failed', `The tool failed: ${shown}`);
}

/** For what `resultText` says of what it has cut off. */
const CUT_CHARACTERS = 80;

function clientLog(logger: Logger | undefined): ClientLog {
  return {
    warn: (line) => logger?.warn(line),
    debug: (line) => logger?.debug(line),
  };
}

/** What went wrong, as n8n shows it: code and sentence, and for a drift what has changed, for the person who reviews. */
export function nodeError(context: RunContext, thrown: unknown, itemIndex?: number): NodeOperationError {
  const error = toPolicyError(thrown, 'internal_error', 'The node failed inside.');
  const changes =
    error instanceof DriftError && error.changes.length > 0
      ? htmlText(differenceText(error.changes))
      : undefined;
  return new NodeOperationError(context.getNode(), `${error.code}: ${error.message}`, {
    ...(changes === undefined ? {} : { description: changes }),
    ...(itemIndex === undefined ? {} : { itemIndex }),
  });
}
