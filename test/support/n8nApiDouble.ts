import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CREDENTIAL_TYPES } from './n8nApiDouble/credentialTypes';
import { answerAfter, answeredBefore, Faults, type Fault, type When } from './n8nApiDouble/faults';
import { mcpAnswer } from './n8nApiDouble/mcpEndpoint';
import { discoverRoute, otherRoutes } from './n8nApiDouble/otherRoutes';
import { PROFILES, type Release } from './n8nApiDouble/profiles';
import { activate } from './n8nApiDouble/publishing';
import { matchRoute, says, type Context, type Reply, type Route } from './n8nApiDouble/routes';
import { servedByCore, type ToolAnswer } from './n8nApiDouble/servedSurface';
import { N8nStore, type Json, type WorkflowRow } from './n8nApiDouble/store';
import { workflowRoutes } from './n8nApiDouble/workflowRoutes';
import { closeServer, listenOnLoopback, originOf } from './loopback';

export { RELEASES, type Release } from './n8nApiDouble/profiles';
export type { Fault, When } from './n8nApiDouble/faults';
export type { ToolAnswer } from './n8nApiDouble/servedSurface';

export interface RecordedApiRequest {
  readonly method: string;
  /** Below `/api/v1`, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** What n8n answered, whether or not it arrived; undefined when a fault kept the request from n8n. */
  readonly status: number | undefined;
}

const API = '/api/v1';

/**
 * n8n's public API in memory, over real HTTP on loopback, that answers like a release; and the MCP endpoints of what
 * is active in it. It records every request of the API, and has what goes wrong injected.
 */
export class N8nApiDouble {
  readonly apiKey = 'n8n_api_double_key';
  readonly store = new N8nStore();
  readonly requests: RecordedApiRequest[] = [];
  /** Types that credentials can be made of, with their schemas; the pack is installed. */
  readonly credentialTypes = new Map(Object.entries(CREDENTIAL_TYPES));
  /** What the applications behind the surfaces answer, by tool; the least that fits the schema by default. */
  readonly toolAnswers = new Map<string, ToolAnswer>();
  /** What the key may do; undefined: everything. The community editions enforce it from some 2.x on. */
  scopes: readonly string[] | undefined;

  readonly #faults = new Faults();
  readonly #routes: readonly Route[];
  readonly #context: Context;
  readonly #server: Server;
  #pageSize: number | undefined;
  #foreign = new Map<string, string>();
  #cursors = 0;

  private constructor(readonly release: Release) {
    const profile = PROFILES[release];
    const routes = [...workflowRoutes(profile), ...otherRoutes(profile)];
    const everyScope = [...new Set(routes.map(({ scope }) => scope).filter((scope) => scope !== ''))];
    this.#routes = profile.discover ? [...routes, discoverRoute(routes, everyScope)] : routes;
    this.#context = {
      store: this.store,
      profile,
      credentialTypes: this.credentialTypes,
      pageSize: () => this.#pageSize,
      scopes: () => this.scopes,
    };
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(release: Release): Promise<N8nApiDouble> {
    const double = new N8nApiDouble(release);
    await listenOnLoopback(double.#server);
    return double;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  /** The requests that change something, as `PUT /workflows/x`. */
  get writes(): string[] {
    return this.requests
      .filter(({ method, path }) => method !== 'GET' && path !== '/audit')
      .map(({ method, path }) => `${method} ${path}`);
  }

  /** Lets something go wrong with the next request, or with those that `when` says. */
  inject(fault: Fault, when?: When): this {
    this.#faults.add(fault, when);
    return this;
  }

  /** Nothing goes wrong any more, and no request is remembered. What n8n holds stays. */
  forget(): void {
    this.#faults.clear();
    this.requests.length = 0;
  }

  /** A workflow that a person made, active if `given` says so. */
  seedWorkflow(given: Partial<WorkflowRow> & { name: string }): WorkflowRow {
    const row = this.store.addWorkflow({ ...given, active: false });
    if (given.active) {
      const refusal = activate(row, this.#context);
      if (refusal) throw new Error(JSON.stringify(refusal.body));
    }
    return row;
  }

  /** From now on everything that is there is somebody else's. */
  rememberForeign(): void {
    this.#foreign = this.store.snapshot();
  }

  /** What is not, byte for byte, as it was when {@link rememberForeign} was called; empty if all is well. */
  foreignChanges(): string[] {
    const now = this.store.snapshot();
    return [...this.#foreign].filter(([what, text]) => now.get(what) !== text).map(([what]) => what);
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.origin);
    const text = await textOf(request);
    if (!url.pathname.startsWith(`${API}/`)) {
      await this.#serveEndpoint(url.pathname, request, text, response);
      return;
    }
    const { method = '' } = request;
    const path = url.pathname.slice(API.length);
    const fault = this.#faults.next(method, path);
    const record = { method, path, query: url.searchParams, body: jsonOf(text), status: undefined };
    const index = this.requests.push(record) - 1;
    if (fault?.kind === 'hold') await fault.until;
    if (text !== '' && record.body === undefined) {
      // n8n's own answer to a body that is no JSON.
      response.writeHead(500, { 'content-type': 'text/html; charset=utf-8' }).end('<!DOCTYPE html>');
      return;
    }
    if (answeredBefore(fault, response)) return;
    const reply = this.#reply(record, request.headers['x-n8n-api-key'], fault);
    this.requests[index] = { ...record, status: reply.status };
    answerAfter(fault, reply, response);
  }

  #reply({ method, path, query, body }: RecordedApiRequest, key: unknown, fault: Fault | undefined): Reply {
    const { profile } = this.#context;
    const matched = matchRoute(this.#routes, method, path);
    if ('status' in matched) return matched;
    if (key !== this.apiKey) return says(401, profile.unknownKey === 'zod' ? 'Unauthorized' : 'unauthorized');
    const { route, params } = matched;
    if (route.scope !== '' && this.scopes?.includes(route.scope) === false) return says(403, 'Forbidden');
    const endless = fault?.kind === 'endless_cursor';
    const asked = new URLSearchParams(query);
    if (endless) asked.delete('cursor');
    this.#pageSize = fault?.kind === 'page_size' ? fault.size : undefined;
    const reply = structuredClone(route.handle({ params, query: asked, body }, this.#context));
    if (endless) {
      this.#cursors += fault.fresh ? 1 : 0;
      (reply.body as Json)['nextCursor'] = `again${this.#cursors}`;
    }
    return reply;
  }

  async #serveEndpoint(
    pathname: string,
    request: IncomingMessage,
    text: string,
    response: ServerResponse,
  ): Promise<void> {
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const path = /^\/mcp\/(.+)$/.exec(pathname)?.[1] ?? '';
    const body = { text, json: jsonOf(text) };
    if (await servedByCore(this.store, path, request, body, this.toolAnswers, response)) return;
    answerAfter(undefined, mcpAnswer(this.store, path, bearer, body.json), response);
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
