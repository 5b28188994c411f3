import type { Progress, ReadResourceResult, Tool } from '@modelcontextprotocol/client';
import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import { isLogLevel, type Reporter } from '../policy/report';
import type { ToolDescriptor } from '../contract/pin';
import type { ServerAccess } from './access';
import type { Allowlist } from './allowlist';
import { checkStructured, inputAsked, inputRefused } from './answer';
import { argumentsFor } from './arguments';
import {
  connect,
  refusedCapability,
  timedOut,
  withDeadline,
  type ClientLog,
  type Connection,
  type ServerLog,
} from './connection';
import { failureOf, isSessionLoss, SessionLoss } from './failure';
import { compareIdentity, type ServerIdentity } from './identity';
import { listTools, type ListedTool, type Listing } from './listing';
import type { DatedListing, ListingCache } from './listingCache';
import { secretsOf } from './oauth';
import { outcomeOf, withoutSecrets, type CallOutcome } from './result';
import { Shared } from './shared';
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
/** A list that changes while it is read is read again, but not for ever. */
const MOST_READS = 3;
/** Longest word on progress that is handed on. */
const MESSAGE_CHARACTERS = 300;

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
  #connection: Shared<Connection> | undefined;
  #listing: Shared<DatedListing> | undefined;
  /** Requests that wait for their answers, by connection. */
  readonly #underWay = new WeakMap<Connection, number>();
  readonly #lost = new Set<Connection>();
  /** Who is told what, by calls that are under way. */
  readonly #listeners = new Set<Reporter>();
  /** How often the server has said that its list has changed. */
  #changes = 0;

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
    return await this.#reopening(signal, async () => (await this.#listed(signal)).listing);
  }

  /** What the server says of itself after a handshake. @throws PolicyError */
  async describe(
    signal: AbortSignal,
  ): Promise<Pick<Connection, 'identity' | 'transport' | 'protocolVersion'>> {
    const { identity, transport, protocolVersion } = await this.#connected().outcome(signal);
    return { identity, transport, protocolVersion };
  }

  /** The pinned tools that may be used now. @throws PolicyError for what blocks all of them */
  async verified(allowlist: Allowlist, signal: AbortSignal): Promise<Verified> {
    this.#compareOrigin(allowlist.server);
    return this.#compared(allowlist, await this.listing(signal));
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
   * @param report is told what the server tells of its progress, and logs, until it answers
   * @throws PolicyError; an answer with `isError` is an outcome, not an error
   */
  async call(
    allowlist: Allowlist,
    name: string,
    given: unknown,
    signal: AbortSignal,
    report?: Reporter,
  ): Promise<CallOutcome> {
    return await this.#reopening(signal, async () => {
      const tool = await this.#usable(allowlist, name, signal);
      const args = argumentsFor(tool.descriptor.inputSchema, given);
      return await this.#relaying(
        report,
        async () => await this.#send(allowlist.server, tool, args, signal, report),
      );
    });
  }

  /**
   * Reads one resource. The caller has checked that it may be read; who answers is compared here, after every connect.
   *
   * @throws PolicyError
   */
  async readResource(pinned: ServerIdentity, uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    this.#compareOrigin(pinned);
    const read = async () =>
      await this.#request(signal, async ({ client, identity }, options) => {
        this.#compareIdentity(pinned, identity);
        return await client.readResource({ uri }, options);
      });
    return withoutSecrets(await this.#reopening(signal, read), secretsOf(this.#access));
  }

  /** Ends what is under way and closes the connection. Never throws; may be called again. */
  async close(): Promise<void> {
    this.#ended.abort(new PolicyError('call_cancelled', 'The execution has ended.'));
    const connection = this.#connection;
    this.#connection = undefined;
    this.#listing = undefined;
    await (await connection?.settled())?.close();
  }

  /** Before anything is sent: an endpoint that was moved is not shown the credential. */
  #compareOrigin(pinned: ServerIdentity): void {
    this.#compareIdentity(pinned, { ...pinned, origin: this.#access.endpoint.origin });
  }

  #compared(allowlist: Allowlist, listing: Listing): Verified {
    return verify(allowlist, listing, (pin) => this.remembered(pin), secretsOf(this.#access));
  }

  #compareIdentity(pinned: ServerIdentity, live: ServerIdentity): void {
    compareIdentity(pinned, live, secretsOf(this.#access));
  }

  async #usable(allowlist: Allowlist, name: string, signal: AbortSignal): Promise<ListedTool> {
    if (!allowlist.tools.some((pinned) => pinned.name === name)) {
      throw new PolicyError(
        'tool_not_pinned',
        `The tool ${foreignText(name, 120)} is not one of those that are pinned.`,
      );
    }
    this.#compareOrigin(allowlist.server);
    const { compareEveryCall, listAgeSeconds } = this.#settings;
    const mostAge = compareEveryCall ? 0 : Math.max(RELIST_AFTER_MS, listAgeSeconds * 1_000);
    if (mostAge === 0 || Date.now() - (await this.#listed(signal)).at > mostAge) this.#forgetListing();
    const { usable, blocked } = this.#compared(allowlist, (await this.#listed(signal)).listing);
    const found = usable.find(({ descriptor }) => descriptor.name === name);
    if (found) return found;
    throw (
      blocked.find((one) => one.name === name)?.error ??
      new PolicyError('tool_missing', 'The tool is not listed.')
    );
  }

  async #send(
    pinned: ServerIdentity,
    { descriptor: { name, inputSchema, outputSchema } }: ListedTool,
    args: Record<string, unknown>,
    signal: AbortSignal,
    report: Reporter | undefined,
  ): Promise<CallOutcome> {
    const result = await this.#request(signal, async ({ client, identity }, options) => {
      // The list may be of an earlier execution; who answers now is known only now.
      this.#compareIdentity(pinned, identity);
      // The output schema is checked below, where a fault becomes one of our codes.
      const toolDefinition = { name, inputSchema } as Tool;
      const request = {
        ...options,
        toolDefinition,
        allowInputRequired: true,
        ...(report ? { onprogress: this.#progressTo(report) } : {}),
      };
      return await client.callTool({ name, arguments: args }, request);
    });
    const asked = inputAsked(result);
    if (asked !== undefined) {
      this.#log.warn(refusedCapability(asked, this.#access));
      throw inputRefused();
    }
    const outcome = outcomeOf(result, secretsOf(this.#access));
    checkStructured(outputSchema, outcome);
    return outcome;
  }

  /** Foreign words that may repeat what the server was shown. */
  #progressTo(report: Reporter): (told: Progress) => void {
    const secrets = secretsOf(this.#access);
    return ({ progress, total, message }) => {
      const shown = message === undefined ? undefined : foreignText(message, MESSAGE_CHARACTERS, secrets);
      report({ kind: 'progress', progress, total, message: shown });
    };
  }

  /** A log message names no request, so it belongs to a call only while that is the only one. */
  async #relaying<T>(report: Reporter | undefined, work: () => Promise<T>): Promise<T> {
    if (!report) return await work();
    this.#listeners.add(report);
    try {
      return await work();
    } finally {
      this.#listeners.delete(report);
    }
  }

  #relayLog({ level, data, logger }: ServerLog): void {
    const [report, second] = this.#listeners;
    if (!report || second || !isLogLevel(level)) return;
    const secrets = secretsOf(this.#access);
    const shown = logger === undefined ? undefined : foreignText(logger, 120, secrets);
    report({ kind: 'log', level, data: withoutSecrets({ data }, secrets).data, logger: shown });
  }

  /** @throws PolicyError; SessionLoss, after which the connection is gone; whatever the SDK throws */
  async #request<T>(
    signal: AbortSignal,
    send: (connection: Connection, options: { timeout: number; signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const shared = this.#connected();
    const connection = await shared.outcome(signal);
    const timeout = this.#settings.timeoutSeconds * 1_000;
    const time = AbortSignal.timeout(timeout);
    const deadline = AbortSignal.any([signal, this.#ended.signal, time]);
    this.#underWay.set(connection, (this.#underWay.get(connection) ?? 0) + 1);
    try {
      // Our own time limit is the one that rings.
      return await withDeadline(
        deadline,
        async () => await send(connection, { timeout: timeout + 60_000, signal: deadline }),
      );
    } catch (error) {
      if (deadline.reason !== undefined && deadline.reason === time.reason) throw timedOut(timeout);
      if (!connection.hasSession || !isSessionLoss(error)) throw error;
      this.#forget(shared);
      this.#lost.add(connection);
      throw new SessionLoss('The session is over.', { cause: error });
    } finally {
      const left = (this.#underWay.get(connection) ?? 1) - 1;
      this.#underWay.set(connection, left);
      // What else is under way may still be answered.
      if (left === 0 && this.#lost.delete(connection)) void connection.close();
    }
  }

  /** Runs `work`, and once more in a new session when the server has forgotten the old one. @throws PolicyError */
  async #reopening<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SessionLoss)) throw this.#explained(error, signal);
    }
    return await work().catch((error: unknown) => {
      if (!(error instanceof SessionLoss)) throw this.#explained(error, signal);
      throw new PolicyError('session_lost', 'The MCP server forgets its session again and again; try later.');
    });
  }

  async #listed(signal: AbortSignal): Promise<DatedListing> {
    if (!this.#listing || this.#listing.isOver) {
      this.#listing = new Shared(async (unwanted) => await this.#list(unwanted));
    }
    return await this.#listing.outcome(signal);
  }

  async #list(signal: AbortSignal): Promise<DatedListing> {
    const { fingerprint } = this.#access;
    const cached = this.#cache.listing(fingerprint, this.#settings.listAgeSeconds);
    if (cached) return cached;
    let listing: Listing;
    let changes: number;
    let reads = 0;
    do {
      changes = this.#changes;
      listing = await this.#request(signal, listTools);
      reads += 1;
    } while (changes !== this.#changes && reads < MOST_READS);
    // What changed while it was read is used for what asked for it, and for nothing else.
    return changes === this.#changes
      ? this.#cache.remember(fingerprint, listing)
      : { listing, at: Date.now() };
  }

  #connected(): Shared<Connection> {
    if (this.#connection && !this.#connection.isOver) return this.#connection;
    const shared: Shared<Connection> = new Shared(
      async (unwanted) =>
        await connect(this.#access, {
          timeoutMs: this.#settings.timeoutSeconds * 1_000,
          responseBytes: this.#settings.responseBytes,
          signal: AbortSignal.any([unwanted, this.#ended.signal]),
          log: this.#log,
          onToolsChanged: () => {
            this.#changes += 1;
            this.#forgetListing();
          },
          onLog: (message) => {
            this.#relayLog(message);
          },
          onClosed: () => {
            this.#forget(shared);
          },
        }),
    );
    this.#connection = shared;
    return shared;
  }

  /** A connection that is over. Whoever is connected next may be another server, so nothing is taken as compared. */
  #forget(connection: Shared<Connection>): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#forgetListing();
  }

  #forgetListing(): void {
    this.#listing = undefined;
    this.#cache.forget(this.#access.fingerprint);
  }

  #explained(error: unknown, signal: AbortSignal): PolicyError {
    if (signal.aborted || this.#ended.signal.aborted) {
      return new PolicyError('call_cancelled', 'The execution was cancelled.');
    }
    return failureOf(error, secretsOf(this.#access));
  }
}
