import { failedWith } from './errors';
import { isObject, otherShape } from './shapes';
import type { N8nTransport } from './transport';

/** `unknown` where the instance does not tell and only trying would show. */
export type Capability = boolean | 'unknown';

/** What this instance can do beyond what 1.100.1 can, told by its own answers. */
export interface Capabilities {
  readonly canListCredentials: boolean;
  readonly canUpdateCredentials: Capability;
  readonly hasArchive: Capability;
  /** Publish and unpublish as calls of their own. */
  readonly hasPublish: Capability;
  /** What the key may do, in n8n's words; undefined where the instance does not tell. */
  readonly scopes: readonly string[] | undefined;
}

/** @throws N8nApiError when it does not answer as n8n does */
export async function detectCapabilities(transport: N8nTransport): Promise<Capabilities> {
  const told = await discover(transport);
  const has = (endpoint: string, scope: string): Capability =>
    // n8n lists only what the key may do.
    told === undefined || !told.scopes.includes(scope) ? 'unknown' : told.endpoints.has(endpoint);
  const list = has('GET /credentials', 'credential:list');
  return {
    canListCredentials: list === 'unknown' ? await answersLists(transport) : list,
    canUpdateCredentials: has('PATCH /credentials/{}', 'credential:update'),
    hasArchive: has('POST /workflows/{}/archive', 'workflow:delete'),
    hasPublish: has('POST /workflows/{}/publish', 'workflow:activate'),
    scopes: told?.scopes,
  };
}

interface Told {
  readonly scopes: readonly string[];
  /** `GET /credentials`, `PATCH /credentials/{}`: method and path with its parameters unnamed. */
  readonly endpoints: ReadonlySet<string>;
}

async function discover(transport: N8nTransport): Promise<Told | undefined> {
  let answer: unknown;
  try {
    answer = await transport.request({ method: 'GET', path: '/discover', scope: 'none', kind: 'read' });
  } catch (error) {
    if (failedWith(error, 'method_not_supported', 'api_key_scope_missing')) return undefined;
    throw error;
  }
  const data = isObject(answer) ? answer['data'] : undefined;
  if (!isObject(data) || !isObject(data['resources'])) throw otherShape('a description of the API');
  const { scopes, resources } = data;
  if (!Array.isArray(scopes)) throw otherShape('a description of the API');
  const endpoints = Object.values(resources).flatMap((resource) => {
    const listed = isObject(resource) ? resource['endpoints'] : undefined;
    return Array.isArray(listed) ? listed.filter(isObject) : [];
  });
  return {
    scopes: scopes.filter((scope) => typeof scope === 'string'),
    endpoints: new Set(
      endpoints.map(({ method, path }) => {
        const below = String(path).replace(/^.*\/api\/v1/, '');
        return `${String(method)} ${below.replace(/\{[^}]*\}/g, '{}')}`;
      }),
    ),
  };
}

/** A key that may not list credentials shows that they can be listed. */
async function answersLists(transport: N8nTransport): Promise<boolean> {
  try {
    await transport.request({
      method: 'GET',
      path: '/credentials?limit=1',
      scope: 'credential:list',
      kind: 'read',
    });
    return true;
  } catch (error) {
    if (failedWith(error, 'api_key_scope_missing')) return true;
    if (failedWith(error, 'method_not_supported')) return false;
    throw error;
  }
}
