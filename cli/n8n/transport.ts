import { setMaxListeners } from 'node:events';
import { foreignText } from '../../core/policy/redaction';
import { adviceOf, codeOfStatus, N8nApiError, notThePublicApi } from './errors';
import { exchange, NoAnswerError, type Exchange } from './exchange';
import { backOffMs, REAL_PACE, retryAfterMs, Semaphore, type Pace } from './pacing';
import { secretForms } from './secretForms';

export interface N8nApiOptions {
  /** Ends every wait, and reads that are under way. A write that was sent is never cut off. */
  readonly signal?: AbortSignal;
  readonly pace?: Pace;
  /** How often an idempotent request is sent before it is given up; 4 if absent. */
  readonly attempts?: number;
  /** How many requests may be under way at the same time; 4 if absent. */
  readonly concurrency?: number;
  /** How long one answer may take; 30 s if absent. */
  readonly requestLimitMs?: number;
}

/** What one call is, beyond method and path. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`, with its query. */
  readonly path: string;
  readonly body?: unknown;
  /** What the API key must be allowed to do. */
  readonly scope: string;
  /** `read` changes nothing; `write` does the same twice as once; `create` makes another one each time. */
  readonly kind: 'read' | 'write' | 'create';
  /** Never quoted, in no form. */
  readonly secrets?: readonly string[];
}

/** How many requests were sent, each attempt counted. */
export interface RequestCounts {
  readonly reads: number;
  readonly writes: number;
  readonly byMethod: Readonly<Record<string, number>>;
}

/** A wait that n8n asks for and that is longer than this is not waited for. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Sends requests to n8n's public API: a few at a time, again where that is safe, and with errors that can be acted on. */
export class N8nTransport {
  readonly #base: string;
  readonly #apiKey: string;
  readonly #signal: AbortSignal | undefined;
  readonly #pace: Pace;
  readonly #attempts: number;
  readonly #limitMs: number;
  readonly #places: Semaphore;
  readonly #byMethod: Record<string, number> = {};
  #reads = 0;
  #writes = 0;

  constructor(base: string, apiKey: string, options: N8nApiOptions = {}) {
    this.#base = base;
    this.#apiKey = apiKey;
    this.#signal = options.signal;
    // Every request that waits listens to it; Node would warn of a leak from the eleventh on.
    if (options.signal) setMaxListeners(0, options.signal);
    this.#pace = options.pace ?? REAL_PACE;
    this.#attempts = options.attempts ?? 4;
    this.#limitMs = options.requestLimitMs ?? 30_000;
    this.#places = new Semaphore(options.concurrency ?? 4);
  }

  get counts(): RequestCounts {
    return { reads: this.#reads, writes: this.#writes, byMethod: { ...this.#byMethod } };
  }

  /**
   * @returns the JSON of the answer; undefined when it is empty
   * @throws N8nApiError what n8n refused, or that there was no answer; the reason of the signal when it was aborted
   */
  async request(call: Call): Promise<unknown> {
    return await this.#places.run(async () => await this.#untilAnswered(call), this.#signal);
  }

  async #untilAnswered(call: Call): Promise<unknown> {
    const attempts = call.kind === 'create' ? 1 : this.#attempts;
    for (let attempt = 1; ; attempt += 1) {
      this.#signal?.throwIfAborted();
      const outcome = await this.#once(call);
      if (!('error' in outcome)) return outcome.json;
      const { error, again, retryAfter = null } = outcome;
      // An earlier attempt has deleted it; its answer was lost.
      if (attempt > 1 && call.method === 'DELETE' && error.code === 'not_found') return undefined;
      if (!again || attempt >= attempts) throw error;
      const asked = retryAfterMs(retryAfter, this.#pace.now());
      if (asked !== undefined && asked > LONGEST_RETRY_AFTER_MS) throw error;
      const backOff = backOffMs(attempt, this.#pace.random());
      await this.#pace.sleep(Math.max(backOff, asked ?? 0), this.#signal);
    }
  }

  async #once(call: Call): Promise<Outcome> {
    this.#count(call);
    let answer: Exchange;
    try {
      answer = await exchange(this.#base + call.path, this.#init(call), this.#limitMs);
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      if (call.kind === 'create' && error.maybeSent) {
        return { error: outcomeUnknown(call, error.message, 0, error), again: false };
      }
      return { error: new N8nApiError(0, error.message, 'unreachable', { cause: error }), again: true };
    }
    return this.#read(call, answer);
  }

  #init({ method, body, kind }: Call): RequestInit {
    return {
      method,
      headers: {
        accept: 'application/json',
        'x-n8n-api-key': this.#apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: kind === 'read' ? (this.#signal ?? null) : null,
    };
  }

  #read(call: Call, { status, text, retryAfter }: Exchange): Outcome {
    const json = parsed(text);
    if (status >= 200 && status <= 299) {
      if (text === '' || json !== undefined) return { json };
      // A page is not n8n's; half a JSON may well be, after it has done what it was asked for.
      const half = call.kind === 'create' && /^\s*[{[]/.test(text);
      const error = half
        ? outcomeUnknown(call, 'The answer ends in the middle', status)
        : notThePublicApi(status);
      return { error, again: false };
    }
    const error = this.#refusal(call, status, json);
    if (status >= 500 && call.kind === 'create') {
      return { error: outcomeUnknown(call, error.message, status, error), again: false };
    }
    return { error, again: status === 429 || status >= 500, retryAfter };
  }

  #refusal(call: Call, status: number, json: unknown): N8nApiError {
    const said = (json as { message?: unknown } | null | undefined)?.message;
    const known = status === 429 || status >= 500;
    if (typeof said !== 'string' && !known) {
      return status >= 300 && status <= 399
        ? notThePublicApi(status, 'is a redirect, which is not followed')
        : notThePublicApi(status);
    }
    // n8n says `not found` of an address that it does not have, and `Not Found` of an object.
    const code = status === 404 && said === 'not found' ? 'method_not_supported' : codeOfStatus(status);
    const reason = typeof said === 'string' ? `: ${this.#harmless(said, call)}` : '';
    return new N8nApiError(
      status,
      `n8n answered ${nameOf(call)} with ${String(status)}${reason}${adviceOf(code, call.scope)}`,
      code,
    );
  }

  #harmless(said: string, { secrets = [] }: Call): string {
    return foreignText(said, 300, secretForms([this.#apiKey, ...secrets]));
  }

  #count({ method, kind }: Call): void {
    this.#byMethod[method] = (this.#byMethod[method] ?? 0) + 1;
    if (kind === 'read') this.#reads += 1;
    else this.#writes += 1;
  }
}

type Outcome =
  | { readonly json: unknown }
  | { readonly error: N8nApiError; readonly again: boolean; readonly retryAfter?: string | null };

function outcomeUnknown(call: Call, reason: string, status: number, cause?: Error): N8nApiError {
  return new N8nApiError(
    status,
    `Whether ${nameOf(call)} has made something is not known: ${reason.replace(/\.$/, '')}`,
    'outcome_unknown',
    cause === undefined ? undefined : { cause },
  );
}

function nameOf({ method, path }: Call): string {
  return `${method} ${path.split('?')[0] ?? path}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
