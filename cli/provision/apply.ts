import { failedWith, type N8nPublicApi, type N8nWorkflow } from '../n8n/publicApi';
import { ApplyError } from './applyError';
import { applyCredential, removeCredentials, type Leftovers } from './credentials';
import { probeEndpoint, untilGone, untilServed } from './endpoint';
import { fingerprintOf } from './fingerprint';
import type { Ledger } from './ledger';
import { hasTag } from './observe';
import type { Plan, SurfacePlan } from './plan';
import { ledgerOf, managedWorkflow, mergedInto, servedPath, type SurfaceCredentials } from './workflow';

export interface ApplyOptions {
  /** Address of n8n, without `/mcp`. */
  readonly address: string;
  readonly signal: AbortSignal;
  /** A line for a person that waits. */
  readonly onProgress: (line: string) => void;
}

/** What became of one surface. */
export interface Applied {
  readonly applicationId: string;
  readonly action: SurfacePlan['action'];
  readonly workflowId: string | null;
  /** Things that a person should know, such as settings that this release does not take. */
  readonly notes: readonly string[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

/**
 * Carries a plan out, surface by surface. Each step can be repeated, and the order is such that an interrupted run
 * leaves either what was there before or something that the next run finishes: a new credential is used before the one
 * that it replaces is deleted, and nothing is served before its credentials are bound. One surface that fails does not
 * keep the others from being processed.
 */
export async function applyPlan(api: N8nPublicApi, plan: Plan, options: ApplyOptions): Promise<Applied[]> {
  const leftovers: Leftovers = { unused: undefined };
  const applied: Applied[] = [];
  for (const surface of plan.surfaces) {
    options.signal.throwIfAborted();
    const notes: string[] = [];
    const { applicationId, action } = surface;
    try {
      const id = await applySurface(api, plan.owner, surface, options, leftovers, notes);
      applied.push({ applicationId, action, workflowId: id, notes, error: null });
    } catch (error) {
      options.signal.throwIfAborted();
      const { code = 'failed', message = 'The surface could not be applied.' } = error as {
        code?: string;
        message?: string;
      };
      applied.push({
        applicationId,
        action,
        workflowId: surface.observed?.id ?? null,
        notes,
        error: { code, message },
      });
    }
  }
  return applied;
}

async function applySurface(
  api: N8nPublicApi,
  owner: string,
  surface: SurfacePlan,
  options: ApplyOptions,
  leftovers: Leftovers,
  notes: string[],
): Promise<string | null> {
  switch (surface.action) {
    case 'unchanged':
    case 'retired':
      return surface.observed?.id ?? null;
    case 'retire':
      options.onProgress(`${surface.applicationId}: taking it out of service`);
      return await retire(api, surface, options);
    case 'create':
    case 'update':
      options.onProgress(
        `${surface.applicationId}: ${surface.action === 'create' ? 'creating' : 'updating'}`,
      );
      return await serve(api, owner, surface, options, leftovers, notes);
  }
}

async function serve(
  api: N8nPublicApi,
  owner: string,
  surface: SurfacePlan,
  { address, signal }: ApplyOptions,
  leftovers: Leftovers,
  notes: string[],
): Promise<string> {
  const { desired, observed, credentials } = surface;
  if (!desired) throw new TypeError('A surface that is served has a desired state.');
  const endpoint = `${address}/mcp/${desired.contract.endpoint.path}`;
  if (!observed?.active && (await probeEndpoint(endpoint, signal)) !== 404) {
    throw new ApplyError(
      'path_taken',
      `Another workflow serves /mcp/${desired.contract.endpoint.path} already; deactivate it.`,
    );
  }
  const replaced: string[] = [];
  const references: Partial<Record<'consumers' | 'upstream', { id: string; name: string }>> = {};
  for (const step of credentials) {
    signal.throwIfAborted();
    const outcome = await applyCredential(api, step, desired[step.kind].data, leftovers);
    references[step.kind] = { id: outcome.id, name: step.name };
    replaced.push(...outcome.replaced);
  }
  const bound = references as SurfaceCredentials;
  const ledger = await ledgerFor(surface, bound);
  const wanted = managedWorkflow(desired, bound, ledger);
  signal.throwIfAborted();
  const workflow = observed ? await rewrite(api, observed, wanted, notes) : await create(api, wanted, notes);
  if (!observed || !hasTag(observed, owner)) await tag(api, workflow.id, owner, observed);
  if (!workflow.active || isStale(workflow)) await api.activateWorkflow(workflow.id);
  await untilServed(endpoint, desired.name, signal);
  await removeCredentials(api, replaced);
  return workflow.id;
}

function isStale({ versionId, activeVersionId }: N8nWorkflow): boolean {
  return activeVersionId != null && versionId !== undefined && versionId !== activeVersionId;
}

async function ledgerFor(
  { desired, observed, credentials }: SurfacePlan,
  bound: SurfaceCredentials,
): Promise<Ledger> {
  if (!desired) throw new TypeError('A surface that is served has a desired state.');
  const before = observed && ledgerOf(observed)?.served;
  const fingerprint = async (kind: 'consumers' | 'upstream') => {
    const kept = credentials.some((step) => step.kind === kind && step.action === 'keep');
    return kept && before ? before[kind].fingerprint : await fingerprintOf(desired[kind].data);
  };
  return {
    version: 1,
    application_id: desired.applicationId,
    contract: desired.contractHash,
    served: {
      consumers: {
        id: bound.consumers.id,
        fingerprint: await fingerprint('consumers'),
        rows: desired.described.rows,
      },
      upstream: {
        id: bound.upstream.id,
        fingerprint: await fingerprint('upstream'),
        ...desired.described.upstream,
      },
    },
  };
}

async function create(
  api: N8nPublicApi,
  wanted: ReturnType<typeof managedWorkflow>,
  notes: string[],
): Promise<N8nWorkflow> {
  try {
    const written = await api.createWorkflow(wanted);
    note(written.droppedSettings, notes);
    return written;
  } catch (error) {
    if (!failedWith(error, 'outcome_unknown')) throw error;
    const [made] = await api.workflowsNamed(wanted.name);
    if (!made) throw error;
    return made;
  }
}

async function rewrite(
  api: N8nPublicApi,
  observed: N8nWorkflow,
  wanted: ReturnType<typeof managedWorkflow>,
  notes: string[],
): Promise<N8nWorkflow> {
  if (observed.isArchived === true) await api.unarchiveWorkflow(observed.id);
  const written = await api.updateWorkflow(observed.id, mergedInto(observed, wanted), observed.settings);
  note(written.droppedSettings, notes);
  return written;
}

function note(dropped: readonly string[], notes: string[]): void {
  if (dropped.length > 0)
    notes.push(`This n8n does not take the settings ${dropped.join(', ')}; they were left out.`);
}

async function tag(
  api: N8nPublicApi,
  workflowId: string,
  owner: string,
  observed: N8nWorkflow | undefined,
): Promise<void> {
  const find = async () => (await api.listTags()).find(({ name }) => name === owner);
  const existing =
    (await find()) ??
    (await api.createTag(owner).catch(async (error: unknown) => {
      // Somebody else, or our own interrupted request, has made it.
      const made = failedWith(error, 'conflict', 'outcome_unknown') ? await find() : undefined;
      if (!made) throw error;
      return made;
    }));
  const ids = new Set([...(observed?.tags ?? []).map(({ id }) => id), existing.id]);
  await api.setWorkflowTags(workflowId, [...ids]);
}

/** First the endpoint, then the credentials, then the traces of them: each can be repeated. */
async function retire(
  api: N8nPublicApi,
  surface: SurfacePlan,
  { address, signal }: ApplyOptions,
): Promise<string | null> {
  const { observed, credentials } = surface;
  if (!observed) return null;
  const path = servedPath(observed);
  if (observed.active) await api.deactivateWorkflow(observed.id);
  if (observed.active && path !== undefined) await untilGone(`${address}/mcp/${path}`, surface.name, signal);
  await removeCredentials(
    api,
    credentials.flatMap(({ id }) => (id === undefined ? [] : [id])),
  );
  await api.updateWorkflow(observed.id, withoutCredentials(observed), observed.settings);
  return observed.id;
}

function withoutCredentials(observed: N8nWorkflow): {
  name: string;
  nodes: object[];
  connections: object;
  settings: object;
} {
  const { name, nodes, connections } = observed;
  const stripped = nodes.map((node) => {
    const {
      mcpConsumersApi: _consumers,
      mcpUpstreamApi: _upstream,
      ...others
    } = (node['credentials'] ?? {}) as Record<string, unknown>;
    const { credentials: _all, ...rest } = node;
    return Object.keys(others).length > 0 ? { ...rest, credentials: others } : rest;
  });
  return { name, nodes: stripped, connections, settings: {} };
}
