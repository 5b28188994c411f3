import { isDeepStrictEqual } from 'node:util';
import { workflowAnswer, type Place } from './answers';
import { activate, publishedOf, takeDown } from './publishing';
import { ok, pageOf, says, strangeQuery, type Context, type Reply, type Route } from './routes';
import type { Json, NodeRow, WorkflowRow } from './store';
import { faultOfWorkflow, isObject } from './validation';

/** The calls on workflows of one release. */
export function workflowRoutes({ archive, publish }: Context['profile']): Route[] {
  const one = '/workflows/{}';
  return [
    { method: 'GET', path: '/workflows', scope: 'workflow:list', handle: list },
    { method: 'POST', path: '/workflows', scope: 'workflow:create', handle: create },
    { method: 'GET', path: one, scope: 'workflow:read', handle: onWorkflow(shown('get')) },
    { method: 'PUT', path: one, scope: 'workflow:update', handle: update },
    { method: 'DELETE', path: one, scope: 'workflow:delete', handle: onWorkflow(remove) },
    step('activate', 'workflow:activate', activating),
    step('deactivate', 'workflow:deactivate', deactivating),
    ...(publish
      ? [
          step('publish', 'workflow:activate', activating),
          step('unpublish', 'workflow:deactivate', deactivating),
        ]
      : []),
    ...(archive
      ? [step('archive', 'workflow:delete', archiving), step('unarchive', 'workflow:delete', unarchiving)]
      : []),
    { method: 'GET', path: `${one}/tags`, scope: 'workflowTags:list', handle: onWorkflow(tagsShown) },
    { method: 'PUT', path: `${one}/tags`, scope: 'workflowTags:update', handle: onWorkflow(setTags) },
  ];
}

type Work = (row: WorkflowRow, context: Context, body: unknown) => Reply;

function step(verb: string, scope: string, work: Work): Route {
  return { method: 'POST', path: `/workflows/{}/${verb}`, scope, handle: onWorkflow(work, verb) };
}

function onWorkflow(work: Work, verb?: string): Route['handle'] {
  return ({ params: [id = ''], body }, context) => {
    const row = context.store.workflows.get(id);
    return row ? work(row, context, body) : missing(context, verb);
  };
}

/** Where n8n 2.41 asks for a permission first, nobody has it for what is not there. */
function missing({ profile }: Context, verb: string | undefined): Reply {
  const asks = profile.unknownKey === 'zod' && ['update', 'activate', 'deactivate'].includes(verb ?? '');
  return says(
    404,
    asks
      ? `You do not have permission to ${verb ?? ''} this workflow. Ask the owner to share it with you.`
      : 'Not Found',
  );
}

const shown =
  (place: Place): Work =>
  (row, { store, profile }) =>
    ok(workflowAnswer(row, place, store, profile));

const list: Route['handle'] = ({ query }, context) => {
  const { store, profile } = context;
  const known = ['active', 'tags', 'name', 'projectId', 'excludePinnedData', 'limit', 'cursor'];
  const strange = profile.strictQuery ? strangeQuery(query, known) : undefined;
  if (strange) return strange;
  const name = query.get('name')?.trim().toLowerCase() ?? '';
  const tags = query.get('tags')?.split(',') ?? [];
  const tagged = (row: WorkflowRow) => row.tagIds.some((id) => tags.includes(store.tags.get(id)?.name ?? ''));
  const rows = [...store.workflows.values()]
    .filter((row) => row.name.toLowerCase().includes(name) && (tags.length === 0 || tagged(row)))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((row) => workflowAnswer(row, 'list', store, profile));
  if (query.get('excludePinnedData') === 'true') for (const row of rows) delete row['pinData'];
  return pageOf(rows, query, context);
};

const create: Route['handle'] = ({ body }, context) => {
  const { store, profile } = context;
  const fault = faultOfWorkflow(body, profile);
  if (fault !== undefined) return says(400, fault);
  const row = store.addWorkflow(contentOf(body as Json, context));
  return ok(workflowAnswer(row, 'create', store, profile));
};

const update: Route['handle'] = ({ params: [id = ''], body }, context) => {
  const { store, profile } = context;
  const fault = faultOfWorkflow(body, profile);
  if (fault !== undefined) return says(400, fault);
  const row = store.workflows.get(id);
  if (!row) return missing(context, 'update');
  if (row.isArchived && profile.publishes) return says(400, 'Cannot update an archived workflow.');
  const content = contentOf(body as Json, context);
  const changed =
    !isDeepStrictEqual(content.nodes, row.nodes) || !isDeepStrictEqual(content.connections, row.connections);
  const settings = profile.mergesSettings
    ? withoutDefaults({ ...row.settings, ...content.settings })
    : content.settings;
  Object.assign(row, content, { settings, updatedAt: store.now() });
  if (changed || !profile.publishes) {
    row.versionId = store.newVersion();
    row.versionCounter += 1;
  }
  // What was saved stays, whether or not it can run.
  const refused = row.active ? activate(row, context) : undefined;
  return refused ?? ok(workflowAnswer(row, 'update', store, profile));
};

interface Content {
  name: string;
  nodes: NodeRow[];
  connections: Json;
  settings: Json;
}

function contentOf(body: Json, { store }: Context): Content {
  const { name, nodes, connections, settings } = structuredClone(body) as unknown as Content;
  for (const node of nodes) {
    node['id'] ??= store.newId();
    for (const [type, reference] of Object.entries(node.credentials ?? {})) {
      if (store.credentials.has(reference.id ?? '')) continue;
      // n8n repairs an id that it does not know where exactly one credential has the name.
      const named = [...store.credentials.values()].filter(
        (one) => one.type === type && one.name === reference.name,
      );
      if (named.length === 1 && named[0]) reference.id = named[0].id;
    }
  }
  return { name, nodes, connections, settings };
}

function withoutDefaults(settings: Json): Json {
  const kept = Object.entries(settings).filter(([key, value]) =>
    key === 'executionTimeout' ? value !== -1 : value !== 'DEFAULT',
  );
  return Object.fromEntries(kept);
}

const activating: Work = (row, context) => {
  const { store, profile } = context;
  if (row.isArchived && profile.publishes) return says(400, 'Cannot activate an archived workflow.');
  if (row.active && !profile.publishes) return ok(workflowAnswer(row, 'step', store, profile));
  return activate(row, context) ?? ok(workflowAnswer(row, 'step', store, profile));
};

const deactivating: Work = (row, { store, profile }) => {
  takeDown(row, store, profile);
  return ok(workflowAnswer(row, 'step', store, profile));
};

const archiving: Work = (row, { store, profile }) => {
  if (!row.isArchived) {
    takeDown(row, store, profile);
    Object.assign(row, { isArchived: true, versionId: store.newVersion(), updatedAt: store.now() });
  }
  return ok(workflowAnswer(row, 'step', store, profile));
};

const unarchiving: Work = (row, { store, profile }) => {
  if (!row.isArchived) return says(400, 'Workflow is not archived.');
  Object.assign(row, { isArchived: false, versionId: store.newVersion(), updatedAt: store.now() });
  return ok(workflowAnswer(row, 'step', store, profile));
};

const remove: Work = (row, { store, profile }) => {
  if (profile.keepsPublished && publishedOf(row, profile)) {
    return says(409, 'Cannot delete a published workflow. Unpublish it before deleting.');
  }
  if (store.unpublishing.delete(row.id)) {
    return says(409, 'Workflow is still being unpublished. Please try again in a few moments.');
  }
  const answer = workflowAnswer(row, 'step', store, profile);
  takeDown(row, store, profile);
  store.unpublishing.delete(row.id);
  store.workflows.delete(row.id);
  return ok(answer);
};

const tagsShown: Work = (row, { store }) => ok(row.tagIds.map((id) => store.tags.get(id)));

const setTags: Work = (row, { store }, body) => {
  const ids = Array.isArray(body) ? body.map((tag) => (isObject(tag) ? String(tag['id']) : '')) : [];
  if (!ids.every((id) => store.tags.has(id))) return says(404, 'Some tags not found');
  row.tagIds = ids;
  return ok(ids.map((id) => store.tags.get(id)));
};
