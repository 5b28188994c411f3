import { failedWith, type N8nPublicApi, type N8nWorkflow, type WrittenWorkflow } from '../n8n/publicApi';
import type { ApplyOptions } from './apply';
import { ApplyError } from './applyError';
import { applyCredential, removeCredentials, type Leftovers } from './credentials';
import type { DesiredSurface } from './desired';
import { probeEndpoint, untilServed } from './endpoint';
import { fingerprintOf } from './fingerprint';
import type { Ledger, Replaced } from './ledger';
import { mergedInto } from './merge';
import { hasTag } from './observe';
import type { CredentialKind, SurfacePlan } from './plan';
import { tagWorkflow } from './tag';
import { ledgerOf, managedWorkflow, type ManagedWorkflow, type SurfaceCredentials } from './workflow';

/**
 * Brings one surface into service or up to date: credentials, workflow, tag, activation, a look whether it asks for a
 * bearer; then what it replaces is deleted.
 *
 * @param notes filled with what a person should know
 * @returns id of the workflow
 * @throws ApplyError, N8nApiError
 */
export async function serve(
  api: N8nPublicApi,
  owner: string,
  surface: SurfacePlan,
  { address, signal }: ApplyOptions,
  leftovers: Leftovers,
  notes: string[],
): Promise<string> {
  const { desired, observed } = surface;
  if (!desired) throw new TypeError('A surface that is served has a desired state.');
  const { path } = desired.contract.endpoint;
  const endpoint = `${address}/mcp/${path}`;
  if (!observed?.active && (await probeEndpoint(endpoint, signal)) !== 404) {
    throw new ApplyError('path_taken', `Another workflow serves /mcp/${path} already; deactivate it.`);
  }
  const { bound, replaced } = await applyCredentials(api, surface, desired, leftovers, signal);
  const isStuck =
    observed?.isArchived === true && (await api.unarchiveWorkflow(observed.id)) === 'unsupported';
  const goes: Replaced = {
    credentials: [...new Set([...surface.gone, ...replaced])],
    workflows: [...(ledgerBefore(surface)?.replaced?.workflows ?? []), ...(isStuck ? [observed.id] : [])],
  };
  const ledger = await ledgerFor(surface, desired, bound);
  const pending = await pendingOf(api, goes);
  const wanted = managedWorkflow(desired, bound, pending ? { ...ledger, replaced: pending } : ledger);
  const base = isStuck ? undefined : observed;
  let workflow: N8nWorkflow;
  if (!base) workflow = await create(api, withPeoples(observed, wanted), notes);
  else workflow = surface.rewrite ? await rewrite(api, base, wanted, notes) : base;
  if (!base || !hasTag(base, owner)) await tagWorkflow(api, workflow.id, owner, observed);
  await activate(api, workflow, desired, base === undefined ? 'made' : 'updated');
  await untilServed(endpoint, desired.name, signal);
  await removeCredentials(api, goes.credentials);
  for (const id of goes.workflows) await removeWorkflow(api, id);
  if (pending) {
    const clean = await rewrite(
      api,
      {
        ...workflow,
        nodes: observed?.nodes ?? workflow.nodes,
        connections: observed?.connections ?? workflow.connections,
      },
      managedWorkflow(desired, bound, ledger),
      notes,
    );
    await activate(api, clean, desired, 'updated');
  }
  return workflow.id;
}

async function applyCredentials(
  api: N8nPublicApi,
  { credentials }: SurfacePlan,
  desired: DesiredSurface,
  leftovers: Leftovers,
  signal: AbortSignal,
): Promise<{ bound: SurfaceCredentials; replaced: string[] }> {
  const replaced: string[] = [];
  const references: Partial<Record<CredentialKind, { id: string; name: string }>> = {};
  for (const step of credentials) {
    signal.throwIfAborted();
    const outcome = await applyCredential(api, step, desired[step.kind].data, leftovers);
    references[step.kind] = { id: outcome.id, name: step.name };
    replaced.push(...outcome.replaced);
  }
  return { bound: references as SurfaceCredentials, replaced };
}

/** What the next run could not find by its name, should this one be interrupted before it is deleted. */
async function pendingOf(api: N8nPublicApi, goes: Replaced): Promise<Replaced | undefined> {
  if (goes.credentials.length === 0 && goes.workflows.length === 0) return undefined;
  const { canListCredentials } = await api.capabilities();
  const pending = { ...goes, credentials: canListCredentials ? [] : goes.credentials };
  return pending.credentials.length + pending.workflows.length > 0 ? pending : undefined;
}

function ledgerBefore({ observed }: SurfacePlan): Ledger | undefined {
  return observed && ledgerOf(observed);
}

async function ledgerFor(
  surface: SurfacePlan,
  desired: DesiredSurface,
  bound: SurfaceCredentials,
): Promise<Ledger> {
  const before = ledgerBefore(surface)?.served;
  const fingerprint = async (kind: CredentialKind) => {
    const kept = surface.credentials.some((step) => step.kind === kind && step.action === 'keep');
    return kept && before ? before[kind].fingerprint : await fingerprintOf(desired[kind].data);
  };
  const { rows, upstream } = desired.described;
  return {
    version: 1,
    application_id: desired.applicationId,
    contract: desired.contractHash,
    served: {
      consumers: { id: bound.consumers.id, fingerprint: await fingerprint('consumers'), rows },
      upstream: { id: bound.upstream.id, fingerprint: await fingerprint('upstream'), ...upstream },
    },
  };
}

/** What a person added to an archived workflow that this n8n does not give back moves to the new one. */
function withPeoples(archived: N8nWorkflow | undefined, wanted: ManagedWorkflow) {
  if (!archived) return wanted;
  return {
    ...mergedInto(archived, wanted),
    settings: { ...archived.settings, ...wanted.settings },
  };
}

async function create(
  api: N8nPublicApi,
  wanted: ReturnType<typeof withPeoples>,
  notes: string[],
): Promise<N8nWorkflow> {
  try {
    const written = await api.createWorkflow(wanted);
    note(written, notes);
    return written;
  } catch (error) {
    if (!failedWith(error, 'outcome_unknown')) throw error;
    const made = (await api.workflowsNamed(wanted.name)).filter(
      (workflow) => workflow.isArchived !== true && ledgerOf(workflow) !== undefined,
    );
    if (made[0] === undefined || made.length > 1) throw error;
    return made[0];
  }
}

async function rewrite(
  api: N8nPublicApi,
  observed: N8nWorkflow,
  wanted: ManagedWorkflow,
  notes: string[],
): Promise<N8nWorkflow> {
  const written = await api.updateWorkflow(observed.id, mergedInto(observed, wanted), observed.settings);
  note(written, notes);
  return written;
}

function note({ droppedSettings }: WrittenWorkflow, notes: string[]): void {
  if (droppedSettings.length === 0) return;
  const text = `This n8n does not take the settings ${droppedSettings.join(', ')}; they were left out.`;
  if (!notes.includes(text)) notes.push(text);
}

/** Publishes what is saved, where it is not what is running. */
async function activate(
  api: N8nPublicApi,
  workflow: N8nWorkflow,
  { name, contract }: DesiredSurface,
  done: 'made' | 'updated',
): Promise<void> {
  if (workflow.active && !isStale(workflow)) return;
  let running: N8nWorkflow | undefined;
  try {
    running = await api.activateWorkflow(workflow.id);
    if (isStale(running)) running = await api.getWorkflow(workflow.id);
  } catch (error) {
    if (!failedWith(error, 'rejected', 'conflict')) throw error;
    const message = `${name} was ${done}, and is not active at /mcp/${contract.endpoint.path}: ${error.message}`;
    throw new ApplyError('not_active', message);
  }
  if (!running || isStale(running)) {
    throw new ApplyError(
      'not_published',
      `${name} was ${done}, and an older version of it is still running.`,
    );
  }
}

function isStale({ versionId, activeVersionId }: N8nWorkflow): boolean {
  return activeVersionId != null && versionId !== undefined && versionId !== activeVersionId;
}

async function removeWorkflow(api: N8nPublicApi, id: string): Promise<void> {
  await api.deleteWorkflow(id).catch((error: unknown) => {
    if (!failedWith(error, 'not_found')) throw error;
  });
}
