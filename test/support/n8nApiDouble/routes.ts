import type { Profile } from './profiles';
import type { Json, N8nStore } from './store';

export interface ApiRequest {
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

export interface Context {
  readonly store: N8nStore;
  readonly profile: Profile;
  /** JSON Schemas by credential type. */
  readonly credentialTypes: Map<string, Json>;
  /** How many entries a page holds at most, whatever is asked for; undefined: what is asked for. */
  readonly pageSize: () => number | undefined;
  /** Scopes of the key; undefined: everything. */
  readonly scopes: () => readonly string[] | undefined;
}

export interface Route {
  readonly method: string;
  /** `/workflows/{}/tags` */
  readonly path: string;
  readonly scope: string;
  readonly handle: (request: ApiRequest, context: Context) => Reply;
}

export const ok = (body: unknown, status = 200): Reply => ({ status, body });
export const says = (status: number, message: string): Reply => ({ status, body: { message } });

interface Matched {
  readonly route: Route;
  readonly params: readonly string[];
}

/** The route of a request, or n8n's words about there being none. */
export function matchRoute(routes: readonly Route[], method: string, path: string): Matched | Reply {
  const segments = path.split('/');
  const fitting = routes.flatMap((route) => {
    const params = paramsOf(route.path.split('/'), segments);
    return params ? [{ route, params }] : [];
  });
  // `/credentials/schema/x` is not a credential with the id `schema`.
  fitting.sort((a, b) => a.params.length - b.params.length);
  if (fitting.length === 0) return says(404, 'not found');
  return fitting.find(({ route }) => route.method === method) ?? says(405, `${method} method not allowed`);
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): string[] | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: string[] = [];
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (part === '{}') params.push(decodeURIComponent(segment));
    else if (part !== segment) return undefined;
  }
  return params;
}

/** One page by position, as n8n counts them; the cursor carries size and position. */
export function pageOf(rows: readonly unknown[], query: URLSearchParams, context: Context): Reply {
  let limit = Number(query.get('limit') ?? 100);
  let offset = 0;
  const cursor = query.get('cursor');
  if (cursor !== null) {
    try {
      ({ limit, offset } = JSON.parse(Buffer.from(cursor, 'base64').toString()) as {
        limit: number;
        offset: number;
      });
    } catch {
      return says(400, 'An invalid cursor was provided');
    }
  }
  if (limit > 250 && context.profile.strictQuery) return says(400, 'request/query/limit must be <= 250');
  const size = context.pageSize() ?? Math.min(limit, 250);
  const next = offset + size;
  return ok({
    data: rows.slice(offset, next),
    nextCursor:
      next < rows.length ? Buffer.from(JSON.stringify({ limit, offset: next })).toString('base64') : null,
  });
}

/** The first query parameter that a strict release does not know. */
export function strangeQuery(query: URLSearchParams, known: readonly string[]): Reply | undefined {
  const strange = [...query.keys()].find((key) => !known.includes(key));
  return strange === undefined ? undefined : says(400, `Unknown query parameter '${strange}'`);
}
