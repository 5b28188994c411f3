import type { ReadResourceResult, Tool } from '@modelcontextprotocol/client';
import { satisfies } from '../policy/arguments';
import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import type { ToolDescriptor } from '../contract/pin';
import type { ServerAccess } from './access';
import type { Allowlist } from './allowlist';
import { argumentsFor } from './arguments';
import {
  connect,
  refusedCapability,
  timedOut,
  withDeadline,
  type ClientLog,
  type Connection,
} from './connection';
import { failureOf, statusOf } from './failure';
import { listTools, type ListedTool, type Listing } from './listing';
import type { ListingCache } from './listingCache';
import { outcomeOf, type CallOutcome } from './result';
import { verify, type Verified } from './verify';

export interface ServerSettings {
  readonly timeoutSeconds: number;
  /** Most bytes of one answer. */
  readonly responseBytes: number;
  /** How old a list of an earlier execution may be; 0: every execution lists for itself. */
  readonly listAgeSeconds: number;
  /** Compare with a fresh list before every call, and not only when the server says that it has changed. */
  readonly compareEveryCall: boolean;
}

/** After this long within one execution the list is read anew before a call. */
const RELIST_AFTER_MS = 60_000;

/**
 * One foreign server for one execution: one connection, one list, any number of calls. Nothing is opened before it is
 * needed. Everything that is offered or called is compared with its pin first.
 */
export class ToolServer {
  readonly #access: ServerAccess;
  readonly #settings: ServerSettings;
  readonly #log: ClientLog;
  readonly #cache: ListingCache;
  readonly #ended = new AbortController();
  #connection: Promise<Connection> | undefined;
  #listing: Promise<{ listing: Listing; at: number }> | undefined;

  constructor(access: ServerAccess, settings: ServerSettings, log: ClientLog, cache: ListingCache) {
    this.#access = access;
    this.#settings = settings;
    this.#log = log;
    this.#cache = cache;
  }

  /**
   * Everything that the server lists now, or listed at most `listAgeSeconds` ago.
   *
   * @throws PolicyError
   */
  async listing(signal: AbortSignal): Promise<Listing> {
    return (await this.#listed(signal)).listing;
  }

  /** What the server says of itself after a handshake. @throws PolicyError */
  async describe(
    signal: AbortSignal,
  ): Promise<Pick<Connection, 'identity' | 'transport' | 'protocolVersion'>> {
    const { identity, transport, protocolVersion } = await this.#connected(signal);
    return { identity, transport, protocolVersion };
  }

  /** The pinned tools that may be used now. @throws PolicyError for what blocks all of them */
  async verified(allowlist: Allowlist, signal: AbortSignal): Promise<Verified> {
    return verify(allowlist, await this.listing(signal), (pin) => this.remembered(pin));
  }

  /** What stands behind a pin, if this process has seen it. */
  remembered(pin: string): ToolDescriptor | undefined {
    return this.#cache.descriptor(pin);
  }

  /**
   * Calls a pinned tool: compared with its pin, arguments checked against the pinned schema, then sent. A session that
   * the server has forgotten is opened again once, and everything is compared again before the call is repeated.
   *
   * @param given what the model or the workflow sent
   * @throws PolicyError; an answer with `isError` is an outcome, not an error
   */
  async call(allowlist: Allowlist, name: string, given: unknown, signal: AbortSignal): Promise<CallOutcome> {
    const tool = await this.#usable(allowlist, name, signal);
    const args = argumentsFor(tool.descriptor.inputSchema, given);
    try {
      return await this.#send(tool, args, signal);
    } catch (error) {
      if (!isSessionLoss(error)) throw this.#explained(error, signal);
    }
    await this.#reset();
    const again = await this.#usable(allowlist, name, signal);
    return await this.#send(again, args, signal).catch((error: unknown) => {
      if (!isSessionLoss(error)) throw this.#explained(error, signal);
      throw new PolicyError('session_lost', 'The MCP server forgets its session again and again; try later.');
    });
  }

  /** Reads one resource. The caller has checked that it may be read. @throws PolicyError */
  async readResource(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const read = async () =>
      await this.#request(
        signal,
        async (connection, options) => await connection.client.readResource({ uri }, options),
      );
    try {
      return await read();
    } catch (error) {
      if (!isSessionLoss(error)) throw this.#explained(error, signal);
    }
    await this.#reset();
    return await read().catch((error: unknown) => {
      throw this.#explained(error, signal);
    });
  }

  /** Ends what is under way and closes the connection. Never throws; may be called again. */
  async close(): Promise<void> {
    this.#ended.abort(new PolicyError('call_cancelled', 'The execution has ended.'));
    await this.#reset();
  }

  async #usable(allowlist: Allowlist, name: string, signal: AbortSignal): Promise<ListedTool> {
    if (!allowlist.tools.some((pinned) => pinned.name === name)) {
      throw new PolicyError(
        'tool_not_pinned',
        `The tool ${foreignText(name, 120)} is not one of those that are pinned.`,
      );
    }
    const listed = await this.#listed(signal);
    const tooOld = Date.now() - listed.at > Math.max(RELIST_AFTER_MS, this.#settings.listAgeSeconds * 1_000);
    if (tooOld || (this.#settings.compareEveryCall && this.#connection !== undefined)) this.#forgetListing();
    const { usable, blocked } = await this.verified(allowlist, signal);
    const found = usable.find(({ descriptor }) => descriptor.name === name);
    if (found) return found;
    throw (
      blocked.find((one) => one.name === name)?.error ??
      new PolicyError('tool_missing', 'The tool is not listed.')
    );
  }

  async #send(tool: ListedTool, args: Record<string, unknown>, signal: AbortSignal): Promise<CallOutcome> {
    const { name, inputSchema, outputSchema } = tool.descriptor;
    const result = await this.#request(signal, async ({ client }, options) => {
      // The output schema is checked below, where a fault becomes one of our codes.
      const toolDefinition = { name, inputSchema } as Tool;
      const request = { ...options, toolDefinition, allowInputRequired: true };
      return await client.callTool({ name, arguments: args }, request);
    });
    this.#refuseInputRequest(result);
    const outcome = outcomeOf(result);
    if (
      outputSchema &&
      outcome.structured !== undefined &&
      !outcome.isError &&
      !fits(outputSchema, outcome.structured)
    ) {
      throw new PolicyError(
        'upstream_unexpected_shape',
        "The tool's structured result does not match the output schema that was reviewed.",
      );
    }
    return outcome;
  }

  /** A server of the 2026 era asks for sampling, elicitation or roots inside of its answer. */
  #refuseInputRequest(result: object): void {
    const { resultType, inputRequests } = result as {
      resultType?: unknown;
      inputRequests?: Record<string, unknown>;
    };
    if (resultType !== 'input_required') return;
    const methods = Object.values(inputRequests ?? {}).map(
      (request) => (request as { method?: unknown }).method,
    );
    const asked = methods.filter((method) => typeof method === 'string').join(', ') || 'more input';
    this.#log.warn(refusedCapability(asked, this.#access));
    throw new PolicyError(
      'capability_refused',
      'The MCP server wants to ask a model or a person before it answers, which is not offered to it.',
    );
  }

  async #request<T>(
    signal: AbortSignal,
    send: (connection: Connection, options: { timeout: number; signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const connection = await this.#connected(signal);
    const timeout = this.#settings.timeoutSeconds * 1_000;
    const time = AbortSignal.timeout(timeout);
    const deadline = AbortSignal.any([signal, this.#ended.signal, time]);
    try {
      // Our own time limit is the one that rings.
      return await withDeadline(
        deadline,
        async () => await send(connection, { timeout: timeout + 60_000, signal: deadline }),
      );
    } catch (error) {
      if (time.aborted && !signal.aborted) throw timedOut(timeout);
      throw error;
    }
  }

  async #listed(signal: AbortSignal): Promise<{ listing: Listing; at: number }> {
    this.#listing ??= this.#list(signal).catch((error: unknown) => {
      this.#listing = undefined;
      throw error;
    });
    return await this.#listing;
  }

  async #list(signal: AbortSignal): Promise<{ listing: Listing; at: number }> {
    const { fingerprint } = this.#access;
    const cached = this.#cache.listing(fingerprint, this.#settings.listAgeSeconds);
    if (cached) return cached;
    const read = async () => await this.#request(signal, listTools);
    const listing = await read().catch(async (error: unknown) => {
      if (!isSessionLoss(error)) throw this.#explained(error, signal);
      await this.#reset();
      return await read().catch((again: unknown) => {
        throw this.#explained(again, signal);
      });
    });
    return this.#cache.remember(fingerprint, listing);
  }

  async #connected(signal: AbortSignal): Promise<Connection> {
    this.#connection ??= connect(this.#access, {
      timeoutMs: this.#settings.timeoutSeconds * 1_000,
      responseBytes: this.#settings.responseBytes,
      signal: AbortSignal.any([signal, this.#ended.signal]),
      log: this.#log,
      onToolsChanged: () => {
        this.#forgetListing();
      },
    }).catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return await this.#connection;
  }

  #forgetListing(): void {
    this.#listing = undefined;
    this.#cache.forget(this.#access.fingerprint);
  }

  async #reset(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#listing = undefined;
    await (await connection?.catch(() => undefined))?.close();
  }

  #explained(error: unknown, signal: AbortSignal): PolicyError {
    if (signal.aborted || this.#ended.signal.aborted) {
      return new PolicyError('call_cancelled', 'The execution was cancelled.');
    }
    return failureOf(error, this.#access.secrets);
  }
}

function fits(schema: NonNullable<ListedTool['descriptor']['outputSchema']>, value: unknown): boolean {
  try {
    return satisfies(schema, value);
  } catch {
    return false;
  }
}

/** MCP 2025-11-25, "Session Management": 404 to a request with a session id means that the session is over. */
function isSessionLoss(error: unknown): boolean {
  if (error instanceof PolicyError) return false;
  if (statusOf(error) === 404) return true;
  const { message } = error as { message?: unknown };
  return statusOf(error) === 400 && typeof message === 'string' && /session|not initialized/i.test(message);
}
