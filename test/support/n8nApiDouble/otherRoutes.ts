import { credentialAnswer, credentialListItem } from './answers';
import { ok, pageOf, says, type Context, type Reply, type Route } from './routes';
import type { CredentialRow } from './store';
import { faultOfCredential, isObject, unknownKeys, unknownMessage } from './validation';

/** Tags, credentials, the security audit, and what a release says of itself. */
export function otherRoutes(profile: Context['profile']): Route[] {
  const credential = '/credentials/{}';
  const routes: Route[] = [
    { method: 'GET', path: '/tags', scope: 'tag:list', handle: listTags },
    { method: 'POST', path: '/tags', scope: 'tag:create', handle: createTag },
    { method: 'DELETE', path: '/tags/{}', scope: 'tag:delete', handle: deleteTag },
    { method: 'POST', path: '/credentials', scope: 'credential:create', handle: createCredential },
    {
      method: 'DELETE',
      path: credential,
      scope: 'credential:delete',
      handle: onCredential(deleteCredential),
    },
    { method: 'GET', path: '/credentials/schema/{}', scope: '', handle: schemaOf },
    { method: 'POST', path: '/audit', scope: 'securityAudit:generate', handle: audit },
  ];
  if (profile.listCredentials) {
    routes.push({ method: 'GET', path: '/credentials', scope: 'credential:list', handle: listCredentials });
  }
  if (profile.patchCredential) {
    const handle = onCredential(patchCredential, 'Credential not found');
    routes.push({ method: 'PATCH', path: credential, scope: 'credential:update', handle });
  }
  if (profile.getCredential) {
    const handle = onCredential((row) => ok(credentialAnswer(row, profile)), 'Credential not found');
    routes.push({ method: 'GET', path: credential, scope: 'credential:read', handle });
  }
  return routes;
}

const listTags: Route['handle'] = ({ query }, context) =>
  pageOf([...context.store.tags.values()], query, context);

const createTag: Route['handle'] = ({ body }, { store, profile }) => {
  if (!isObject(body)) return says(400, 'request/body must be object');
  const strange = unknownKeys(body, ['name']);
  if (strange.length > 0) return says(400, unknownMessage('', strange, profile));
  const name = String(body['name']).trim();
  const taken = [...store.tags.values()].some((tag) => tag.name === name);
  // n8n says so of every name that it does not take.
  if (taken || name.length < 1 || name.length > 24) return says(409, 'Tag already exists');
  return ok(store.addTag(name), 201);
};

const deleteTag: Route['handle'] = ({ params: [id = ''] }, { store }) => {
  const tag = store.tags.get(id);
  if (!tag) return says(404, 'Not Found');
  store.tags.delete(id);
  for (const row of store.workflows.values()) row.tagIds = row.tagIds.filter((tagId) => tagId !== id);
  return ok(tag);
};

const listCredentials: Route['handle'] = ({ query }, context) =>
  pageOf([...context.store.credentials.values()].reverse().map(credentialListItem), query, context);

const createCredential: Route['handle'] = ({ body }, context) => {
  const { store, profile, credentialTypes } = context;
  if (!isObject(body)) return says(400, 'request/body must be object');
  const { id, name, type, data } = body;
  if (id !== undefined && !profile.ownCredentialId) return says(400, 'request/body/id is read-only');
  const schema = credentialTypes.get(String(type));
  if (!schema) return says(400, 'req.body.type is not a known type');
  const fault = faultOfCredential(data, schema);
  if (fault !== undefined) return says(400, fault);
  if (typeof id === 'string' && store.credentials.has(id)) {
    return says(409, 'A credential with this ID already exists');
  }
  const row = store.addCredential({
    name: String(name),
    type: String(type),
    data: structuredClone(data) as CredentialRow['data'],
    ...(typeof id === 'string' ? { id } : {}),
  });
  return ok(credentialAnswer(row, profile));
};

type Work = (row: CredentialRow, context: Context, body: unknown) => Reply;

function onCredential(work: Work, missing = 'Not Found'): Route['handle'] {
  return ({ params: [id = ''], body }, context) => {
    const row = context.store.credentials.get(id);
    return row ? work(row, context, body) : says(404, missing);
  };
}

const patchCredential: Work = (row, { store, profile, credentialTypes }, body) => {
  const { name, data } = isObject(body) ? body : {};
  if (data !== undefined) {
    const fault = faultOfCredential(data, credentialTypes.get(row.type) ?? {});
    if (fault !== undefined) return says(400, fault);
    const { length } = typeof name === 'string' ? name : row.name;
    if (profile.unknownKey === 'zod' && (length < 3 || length > 128)) {
      return says(400, 'Credential name must be 3 to 128 characters long.');
    }
    row.data = structuredClone(data) as CredentialRow['data'];
  }
  if (typeof name === 'string') row.name = name;
  row.updatedAt = store.now();
  return ok(credentialAnswer(row, profile));
};

const deleteCredential: Work = (row, { store, profile }) => {
  store.credentials.delete(row.id);
  return ok(credentialAnswer(row, profile, true));
};

const schemaOf: Route['handle'] = ({ params: [type = ''] }, { credentialTypes }) => {
  const schema = credentialTypes.get(type);
  return schema ? ok(schema) : says(404, 'Not Found');
};

/** Only the part about credentials; of all others n8n has nothing to say here. */
const audit: Route['handle'] = (_request, { store }) => {
  const used = (active: boolean) =>
    new Set(
      [...store.workflows.values()]
        .filter((row) => row.active || !active)
        .flatMap(({ nodes }) =>
          nodes.flatMap(({ credentials = {} }) => Object.values(credentials).map((one) => one.id)),
        ),
    );
  const all = [...store.credentials.values()];
  const section = (title: string, rows: readonly CredentialRow[]) => ({
    title,
    description: 'Keeping unused credentials in your instance is an unneeded security risk.',
    recommendation: 'Consider deleting these credentials if you no longer need them.',
    location: rows.map(({ id, name }) => ({ kind: 'credential', id, name })),
  });
  const sections = [
    section(
      'Credentials not used in any workflow',
      all.filter(({ id }) => !used(false).has(id)),
    ),
    section(
      'Credentials not used in any active workflow',
      all.filter(({ id }) => !used(true).has(id)),
    ),
    section('Credentials not used in recently executed workflows', all),
  ].filter(({ location }) => location.length > 0);
  return ok(sections.length === 0 ? [] : { 'Credentials Risk Report': { risk: 'credentials', sections } });
};

/** What the key may do, as releases from 2.14 on tell it. */
export function discoverRoute(routes: readonly Route[], everyScope: readonly string[]): Route {
  const handle: Route['handle'] = (_request, { scopes }) => {
    const allowed = scopes() ?? everyScope;
    const endpoints = routes
      .filter(({ scope }) => scope === '' || allowed.includes(scope))
      .map(({ method, path }) => ({ method, path: `/api/v1${path.replaceAll('{}', '{id}')}` }));
    const resources: Record<string, { endpoints: unknown[] }> = {};
    for (const endpoint of endpoints) {
      const resource = endpoint.path.split('/')[3] ?? '';
      (resources[resource] ??= { endpoints: [] }).endpoints.push(endpoint);
    }
    return ok({ data: { scopes: allowed, resources, specUrl: '/api/v1/openapi.yml' } });
  };
  return { method: 'GET', path: '/discover', scope: '', handle };
}
