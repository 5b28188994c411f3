import type { Profile } from './profiles';
import { says, type Context, type Reply } from './routes';
import type { N8nStore, NodeRow, WorkflowRow } from './store';

const STARTS = /(?:Trigger|\.webhook|\.cron|\.start)$/i;
const BY_HAND = /manualTrigger$/;

/** Puts a workflow's endpoints up. @returns n8n's refusal, if it refuses */
export function activate(row: WorkflowRow, context: Context): Reply | undefined {
  const { store, profile } = context;
  const nodes = row.nodes.filter(
    ({ type, disabled }) => STARTS.test(type) && !disabled && !BY_HAND.test(type),
  );
  if (nodes.length === 0) {
    // 1.100.1 has taken the workflow down before it finds that it cannot be put up again.
    if (!profile.publishes) withdraw(row.id, store);
    return says(
      400,
      profile.publishes
        ? 'Workflow cannot be activated because it has no trigger node. At least one trigger, webhook, or polling node is required.'
        : `Workflow "${row.name}" (ID: ${row.id}) has no node to start the workflow - at least one trigger, poller or webhook node is required`,
    );
  }
  const paths = nodes.map(pathOf).filter((path) => path !== undefined);
  const taken = paths.some((path) => ![undefined, row.id].includes(store.served.get(path)));
  if (taken && profile.publishes) {
    return says(profile.conflictStatus, 'There is a conflict with one of the webhooks.');
  }
  withdraw(row.id, store);
  // 1.100.1 lets the last one have the path, and says nothing.
  for (const path of paths) store.served.set(path, row.id);
  store.unpublishing.delete(row.id);
  row.active = true;
  row.triggerCount = nodes.length;
  const { versionId, name, connections } = row;
  row.published = { versionId, name, nodes: structuredClone(row.nodes), connections };
  return undefined;
}

export function takeDown(row: WorkflowRow, store: N8nStore, profile: Profile): void {
  if (profile.keepsPublished && row.active) store.unpublishing.add(row.id);
  withdraw(row.id, store);
  row.active = false;
  row.published = null;
}

export function publishedOf(row: WorkflowRow, profile: Profile): boolean {
  return profile.publishes && row.published !== null;
}

/** The nodes that answer: of what was published, not of the draft. */
export function runningNodes(row: WorkflowRow): readonly NodeRow[] {
  return row.published?.nodes ?? row.nodes;
}

export function pathOf({ parameters }: NodeRow): string | undefined {
  const path = parameters?.['path'];
  return typeof path === 'string' && path !== '' ? path : undefined;
}

function withdraw(workflowId: string, store: N8nStore): void {
  for (const [path, id] of [...store.served]) if (id === workflowId) store.served.delete(path);
}
