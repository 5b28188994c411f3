import type { Contract } from '../../core/contract/schema';
import { PolicyError } from '../../core/policy/errors';
import type { N8nWorkflow } from '../n8n/publicApi';
import { OperatorError } from '../operator/error';
import type { Operator, WantedSurface } from '../operator/load';
import { workflowChanges, type Change } from './compare';
import { desiredSurface, sharedBearer, surfaceName, type DesiredSurface } from './desired';
import type { Ledger } from './ledger';
import { applicationIdOf, findManaged, hasTag, isOwned, PlanError, type Observed } from './observe';
import {
  decideCredential,
  kindsOf,
  ownCredentials,
  type CredentialKind,
  type CredentialStep,
} from './planCredentials';
import { retirement } from './planRetirement';
import { refuseTakenPath } from './takenPaths';
import { ledgerOf, managedWorkflow } from './workflow';

export type { CredentialKind, CredentialStep } from './planCredentials';

export type SurfaceAction = 'create' | 'update' | 'retire' | 'unchanged' | 'retired' | 'failed';

/** What one run would do for one application. */
export interface SurfacePlan {
  readonly applicationId: string;
  readonly name: string;
  readonly action: SurfaceAction;
  readonly changes: readonly Change[];
  readonly observed: N8nWorkflow | undefined;
  readonly desired: DesiredSurface | undefined;
  readonly credentials: readonly CredentialStep<CredentialKind>[];
  /** Whether the workflow has to be written; what else there is to do has calls of its own. */
  readonly rewrite: boolean;
  /** Ids of credentials that go: of a surface out of service, or left over by an interrupted run. */
  readonly gone: readonly string[];
  /** For a surface that goes out of service: the contract that its workflow is rendered from, where there is one. */
  readonly contract: Contract | undefined;
  /** Why nothing can be done for this surface; null for every action but `failed`. */
  readonly error: Failure | null;
}

/** A stable code, and one sentence to act on. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

export interface Plan {
  readonly owner: string;
  readonly surfaces: readonly SurfacePlan[];
}

/**
 * What has to change so that an instance is as the operator file says. Changes nothing, and knows all faults before the
 * first write. What is wrong with one surface stands in its plan as `failed`.
 *
 * What it cannot see where credentials cannot be listed (before 2.8): that a person has deleted one. `verify` sees it,
 * as a surface that answers nobody; a run of apply after the ledger was deleted from the note makes it anew.
 *
 * @param only application ids to look at; all when empty
 */
export async function makePlan(
  operator: Operator,
  observed: Observed,
  only: readonly string[] = [],
): Promise<Plan> {
  const { owner } = operator.file;
  const named = namesOf(operator);
  const staying = stayingIds(operator);
  const isChosen = (id: string) => only.length === 0 || only.includes(id);
  const leaves = (workflow: N8nWorkflow) => {
    const id = isOwned(workflow, owner) ? applicationIdOf(workflow, owner, named) : undefined;
    return id !== undefined && !staying.has(id) && isChosen(id);
  };
  const wanted = operator.surfaces.filter(({ surface }) => isChosen(surface.application_id));
  const surfaces = await Promise.all(
    wanted.map(
      async (one) =>
        await orFailed(owner, one.surface.application_id, async () =>
          one.surface.enabled
            ? await planServed(operator, one, observed, named, leaves)
            : retirementOf(owner, one.surface.application_id, observed, named, one.contract),
        ),
    ),
  );
  const left = observed.workflows
    .filter((workflow) => leaves(workflow))
    .map((workflow) => applicationIdOf(workflow, owner, named) ?? '');
  const orphans = [...new Set(left)].filter(
    (id) => !wanted.some(({ surface }) => surface.application_id === id),
  );
  const retired = await Promise.all(
    orphans.map(
      async (id) => await orFailed(owner, id, () => retirementOf(owner, id, observed, named, undefined)),
    ),
  );
  return { owner, surfaces: [...withoutSharedBearers(surfaces), ...retired] };
}

/** Every application that the operator file names. */
function namesOf({ file }: Operator): Set<string> {
  return new Set([
    ...file.surfaces.map((surface) => surface.application_id),
    ...file.clients.map(({ id }) => id),
  ]);
}

/** Those of which something is to be in service. */
function stayingIds({ file }: Operator): Set<string> {
  return new Set([
    ...file.surfaces.filter(({ enabled }) => enabled).map((surface) => surface.application_id),
    ...file.clients.filter(({ enabled }) => enabled).map(({ id }) => id),
  ]);
}

function retirementOf(
  owner: string,
  applicationId: string,
  observed: Observed,
  named: ReadonlySet<string>,
  contract: Contract | undefined,
): SurfacePlan {
  const found = findManaged(observed, owner, applicationId, named);
  return retirement(surfaceName(owner, applicationId), applicationId, found, observed, contract);
}

async function orFailed(
  owner: string,
  applicationId: string,
  plan: () => SurfacePlan | Promise<SurfacePlan>,
): Promise<SurfacePlan> {
  try {
    return await plan();
  } catch (error) {
    const isFault =
      error instanceof PlanError || error instanceof OperatorError || error instanceof PolicyError;
    if (!isFault) throw error;
    return failed(applicationId, surfaceName(owner, applicationId), error);
  }
}

export function failed(applicationId: string, name: string, { code, message }: Failure): SurfacePlan {
  return {
    ...{ applicationId, name, action: 'failed', changes: [], observed: undefined, desired: undefined },
    ...{ credentials: [], rewrite: false, gone: [], contract: undefined, error: { code, message } },
  };
}

/** Two consumers may not have one bearer, at whichever surfaces they are. */
function withoutSharedBearers(surfaces: readonly SurfacePlan[]): SurfacePlan[] {
  const rows = (surface: SurfacePlan) => surface.desired?.consumers.data.consumers.values ?? [];
  return surfaces.map((surface, index) => {
    const earlier = surfaces.slice(0, index).flatMap(rows);
    const shared = sharedBearer([...earlier, ...rows(surface)]);
    if (!shared || sharedBearer(earlier)) return surface;
    const message = `The consumers ${shared.join(' and ')} have one bearer; every consumer needs its own.`;
    return failed(surface.applicationId, surface.name, { code: 'token_shared', message });
  });
}

async function planServed(
  operator: Operator,
  wanted: WantedSurface,
  observed: Observed,
  named: ReadonlySet<string>,
  leaves: (workflow: N8nWorkflow) => boolean,
): Promise<SurfacePlan> {
  const { owner } = operator.file;
  const desired = await desiredSurface(operator, wanted);
  const { applicationId, name } = desired;
  const found = findManaged(observed, owner, applicationId, named);
  refuseTakenPath(
    desired.contract.endpoint.path,
    observed,
    (workflow) => workflow === found || leaves(workflow),
  );
  const ledger = found && ledgerOf(found);
  const decided = await Promise.all(
    kindsOf(desired).map(async (kind) => await decideCredential(kind, desired, found, ledger, observed)),
  );
  const credentials = decided.map(({ step }) => step);
  const gone = [
    ...decided.flatMap(({ leftOver }) => leftOver),
    ...replacedIds(ledger, desired, found, observed),
  ];
  const common = {
    ...{ applicationId, name, desired, credentials, observed: found, contract: wanted.contract },
    ...{ gone: gone.filter((id) => !credentials.some((step) => step.id === id)), error: null },
  };
  if (!found)
    return { ...common, action: 'create', rewrite: true, changes: decided.flatMap(leftOverChanges) };
  const written = [
    ...decided.flatMap(({ changes }) => changes),
    ...ledgerChanges(ledger, desired),
    ...workflowChanges(found, expected(desired, credentials)),
  ];
  const changes = [...stateChanges(found, owner), ...written];
  const action = changes.length > 0 ? 'update' : 'unchanged';
  return { ...common, action, changes, rewrite: written.length > 0 };
}

function leftOverChanges({
  step,
  leftOver,
}: {
  step: CredentialStep;
  leftOver: readonly string[];
}): Change[] {
  return leftOver.map((id) => ({ field: `left over ${step.kind} credential`, from: id, to: '(absent)' }));
}

/** What the run that replaced them did not come to delete, as far as it is there. */
function replacedIds(
  ledger: Ledger | undefined,
  desired: DesiredSurface,
  found: N8nWorkflow | undefined,
  { credentials }: Observed,
): string[] {
  const recorded = ledger?.replaced?.credentials ?? [];
  if (credentials === 'unsupported') return recorded;
  const ours = kindsOf(desired).flatMap(({ kind, type }) =>
    ownCredentials({ name: desired[kind].name, type, recorded: undefined }, found, credentials),
  );
  return recorded.filter((id) => ours.some((one) => one.id === id));
}

/** The workflow as it should be if its credentials stayed the ones that they are. */
function expected(
  desired: DesiredSurface,
  steps: readonly CredentialStep<CredentialKind>[],
): ReturnType<typeof managedWorkflow> {
  const reference = (kind: CredentialKind) => {
    const step = steps.find((one) => one.kind === kind);
    return { id: step?.id ?? '(new)', name: step?.name ?? '' };
  };
  const references = { consumers: reference('consumers'), upstream: reference('upstream') };
  return managedWorkflow(desired, references, emptyLedger(desired));
}

function emptyLedger({ applicationId, contractHash }: DesiredSurface): Ledger {
  return { version: 1, application_id: applicationId, contract: contractHash, served: null };
}

function stateChanges(workflow: N8nWorkflow, owner: string): Change[] {
  const { active, isArchived, versionId, activeVersionId, tags } = workflow;
  const changes: Change[] = [];
  if (isArchived === true) changes.push({ field: 'archived', from: 'true', to: 'false' });
  if (!active) changes.push({ field: 'active', from: 'false', to: 'true' });
  else if (activeVersionId != null && versionId !== undefined && versionId !== activeVersionId) {
    changes.push({ field: 'active version', from: 'an older one', to: 'what is saved' });
  }
  // Where tags are switched off n8n shows none, and takes none.
  if (tags !== undefined && !hasTag(workflow, owner)) {
    changes.push({ field: 'tags', from: '(absent)', to: owner });
  }
  return changes;
}

function ledgerChanges(
  ledger: Ledger | undefined,
  { applicationId, contractHash }: DesiredSurface,
): Change[] {
  if (!ledger) return [{ field: 'ledger', from: '(missing or edited)', to: 'written anew' }];
  const changes: Change[] = [];
  if (ledger.application_id !== applicationId) {
    changes.push({ field: 'ledger', from: '(edited)', to: 'written anew' });
  }
  if (ledger.contract !== contractHash) {
    changes.push({ field: 'contract', from: ledger.contract, to: contractHash });
  }
  const { credentials = [], workflows = [] } = ledger.replaced ?? {};
  for (const id of credentials) changes.push({ field: 'replaced credential', from: id, to: '(absent)' });
  for (const id of workflows) changes.push({ field: 'replaced workflow', from: id, to: '(absent)' });
  return changes;
}

/** Whether a run has anything to do. */
export function hasChanges({ surfaces }: Plan): boolean {
  return surfaces.some(({ action }) => action !== 'unchanged' && action !== 'retired');
}
