import type { Profile } from './profiles';
import type { CredentialRow, Json, N8nStore, NodeRow, WorkflowRow } from './store';

/** Which answer a workflow stands in: they show different fields. */
export type Place = 'list' | 'create' | 'get' | 'update' | 'step';

const PROJECT = 'ProjectOfOwner00';

/** A workflow as the release shows it, with its order of keys. */
export function workflowAnswer(row: WorkflowRow, place: Place, store: N8nStore, profile: Profile): Json {
  return profile.unknownKey === 'zod'
    ? newAnswer(row, place, store, profile)
    : oldAnswer(row, place, store, profile);
}

function oldAnswer(row: WorkflowRow, place: Place, store: N8nStore, profile: Profile): Json {
  const { createdAt, updatedAt, id, name, active, isArchived, connections, staticData, meta, pinData } = row;
  const versions = profile.publishes
    ? { activeVersionId: row.published?.versionId ?? null, versionCounter: row.versionCounter }
    : {};
  const common = {
    createdAt,
    updatedAt,
    id,
    name,
    active,
    isArchived,
    nodes: row.nodes,
    connections,
    settings: shownSettings(row, profile),
    staticData,
    meta,
    pinData,
    versionId: row.versionId,
    ...versions,
    triggerCount: row.triggerCount,
  };
  if (place === 'create') {
    // The order of what was sent, then what n8n adds.
    const first = { name, nodes: [], connections, settings: {}, active, versionId: '', id };
    return Object.assign({ ...first, staticData, meta, pinData, createdAt, updatedAt }, common);
  }
  return {
    ...common,
    ...(place === 'get' || place === 'step' ? { shared: sharedWith(row.id) } : {}),
    ...(place === 'get' || place === 'list' ? { tags: tagsOf(row, store) } : {}),
  };
}

function newAnswer(row: WorkflowRow, place: Place, store: N8nStore, profile: Profile): Json {
  const { id, name, active, createdAt, updatedAt, isArchived, versionId, triggerCount } = row;
  const activeVersionId = row.published?.versionId ?? null;
  const activeVersion = row.published && {
    ...row.published,
    workflowId: id,
    nodes: row.published.nodes.map(ordered),
  };
  const content = { nodes: row.nodes.map(ordered), connections: row.connections, nodeGroups: [] };
  const settings = shownSettings(row, profile);
  const { staticData, meta, pinData } = row;
  const tags = tagsOf(row, store);
  const shared = sharedWith(id);
  if (place === 'list') {
    return {
      ...{ id, name, active, activeVersionId, createdAt, updatedAt, isArchived, versionId, triggerCount },
      ...content,
      ...{ settings, staticData, meta, pinData, tags, shared, activeVersion },
    };
  }
  return {
    ...{ id, name, description: null, active, activeVersionId, createdAt, updatedAt, isArchived, versionId },
    ...{ versionCounter: row.versionCounter, sourceWorkflowId: null, triggerCount },
    ...content,
    ...{ settings, staticData, pinData, meta },
    ...(place === 'step' ? {} : { tags }),
    ...(place === 'update' ? {} : { shared }),
    activeVersion,
    ...(place === 'create' ? { parentFolder: null } : {}),
  };
}

/** Settings in the order of the schema, with those that appear on their own. */
function shownSettings(row: WorkflowRow, { settings: known, addedSettings }: Profile): Json {
  const all: Json = { ...addedSettings, ...row.settings };
  const keys = Object.keys(all);
  const sorted = [
    ...known.filter((key) => keys.includes(key)),
    ...keys.filter((key) => !known.includes(key)),
  ];
  return Object.fromEntries(sorted.map((key) => [key, all[key]]));
}

const NODE_ORDER = ['id', 'name', 'webhookId', 'disabled', 'notesInFlow', 'notes', 'type', 'typeVersion'];

/** n8n 2.41 gives the keys of a node back in the order of its schema. */
function ordered(node: NodeRow): Json {
  const last = ['position', 'parameters', 'credentials'];
  const middle = Object.keys(node).filter((key) => !NODE_ORDER.includes(key) && !last.includes(key));
  const keys = [...NODE_ORDER, ...middle, ...last].filter((key) => key in node);
  return Object.fromEntries(keys.map((key) => [key, node[key]]));
}

function tagsOf(row: WorkflowRow, store: N8nStore): unknown[] {
  return row.tagIds.map((id) => store.tags.get(id)).filter((tag) => tag !== undefined);
}

function sharedWith(workflowId: string): unknown[] {
  return [{ role: 'workflow:owner', workflowId, projectId: PROJECT }];
}

/** A credential as create, update and delete answer with it. */
export function credentialAnswer(row: CredentialRow, profile: Profile, deleted = false): Json {
  const { id, name, type, createdAt, updatedAt } = row;
  if (profile.unknownKey === 'ajv') {
    // 1.100.1 answers a delete without the id.
    return { name, type, ...(deleted ? {} : { id }), createdAt, updatedAt, isManaged: false };
  }
  const flags = { isManaged: false, isGlobal: false, isResolvable: false, resolvableAllowFallback: false };
  return { id, name, type, ...flags, resolverId: null, createdAt, updatedAt };
}

export function credentialListItem({ id, name, type, createdAt, updatedAt }: CredentialRow): Json {
  return { id, name, type, createdAt, updatedAt, shared: [{ id: PROJECT, role: 'credential:owner' }] };
}
