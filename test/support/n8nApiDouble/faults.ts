import type { ServerResponse } from 'node:http';
import type { Reply } from './routes';

/** What goes wrong with a request. */
export type Fault =
  /** The connection ends before n8n has seen the request, or after it has done what was asked. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' }
  /** A sign-in page of somebody else. */
  | { readonly kind: 'html'; readonly status?: number }
  /** A refusal; `handled`: after n8n has done what was asked. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      readonly retryAfter?: string;
      readonly handled?: boolean;
    }
  | { readonly kind: 'redirect'; readonly location?: string }
  /** Done, and the answer ends in the middle. */
  | { readonly kind: 'half_json' }
  /** Pages hold this many entries, whatever is asked for. */
  | { readonly kind: 'page_size'; readonly size: number }
  /** Each page says that there is another one, and all of them are the first. */
  | { readonly kind: 'endless_cursor'; readonly fresh: boolean }
  /** Answered once the promise resolves. */
  | { readonly kind: 'hold'; readonly until: Promise<unknown> }
  /** Answered at once, with something else. */
  | { readonly kind: 'answer'; readonly reply: Reply };

/** Which requests of the public API a fault befalls; all conditions have to hold. */
export interface When {
  /** The n-th request from the injection on that fulfils the other conditions, counted from 1. */
  readonly nth?: number;
  readonly method?: string;
  /** Below `/api/v1`. */
  readonly path?: string | RegExp;
  /** How many requests in a row; 1 if absent. */
  readonly times?: number;
}

/** The faults that wait for their requests. */
export class Faults {
  #waiting: { readonly fault: Fault; readonly when: When; seen: number }[] = [];

  add(fault: Fault, when: When = {}): void {
    this.#waiting.push({ fault, when, seen: 0 });
  }

  clear(): void {
    this.#waiting = [];
  }

  /** What befalls this request. Every fault that fits counts it. */
  next(method: string, path: string): Fault | undefined {
    let befalls: Fault | undefined;
    for (const one of this.#waiting) {
      if (!fits(one.when, method, path)) continue;
      one.seen += 1;
      const { nth = 1, times = 1 } = one.when;
      if (one.seen >= nth && one.seen < nth + times) befalls ??= one.fault;
    }
    return befalls;
  }
}

function fits({ method, path }: When, givenMethod: string, givenPath: string): boolean {
  if (method !== undefined && method !== givenMethod) return false;
  if (path === undefined) return true;
  return typeof path === 'string' ? path === givenPath : path.test(givenPath);
}

const PAGE = '<!doctype html><title>Sign in</title>';

/** Answers a request that never reaches n8n. @returns whether it has */
export function answeredBefore(fault: Fault | undefined, response: ServerResponse): boolean {
  switch (fault?.kind) {
    case 'cut':
      if (fault.when === 'after') return false;
      response.destroy();
      return true;
    case 'html':
      response.writeHead(fault.status ?? 200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
      return true;
    case 'redirect':
      response.writeHead(302, { location: fault.location ?? '/signin' }).end();
      return true;
    case 'status':
      if (fault.handled) return false;
      refuse(fault, response);
      return true;
    case 'answer':
      send(response, fault.reply);
      return true;
    default:
      return false;
  }
}

/** Sends what n8n answered, as far as the fault lets it through. */
export function answerAfter(fault: Fault | undefined, reply: Reply, response: ServerResponse): void {
  if (fault?.kind === 'cut') response.destroy();
  else if (fault?.kind === 'status') refuse(fault, response);
  else if (fault?.kind === 'half_json') {
    const text = JSON.stringify(reply.body);
    send(response, reply, text.slice(0, Math.ceil(text.length / 2)));
  } else send(response, reply);
}

function refuse({ status, message, retryAfter }: Fault & { kind: 'status' }, response: ServerResponse): void {
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    })
    .end(JSON.stringify({ message: message ?? `refused with ${status}` }));
}

function send(response: ServerResponse, { status, body }: Reply, text = JSON.stringify(body)): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(text);
}
