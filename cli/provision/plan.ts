import type { Contract } from '../../core/contract/schema';
import type { N8nCredential, N8nWorkflow } from '../n8n/publicApi';
import type { Operator, WantedSurface } from '../operator/load';
import { workflowChanges, type Change } from './compare';
import { consumersName, desiredSurface, surfaceName, upstreamName, type DesiredSurface } from './desired';
import { matchesFingerprint } from './fingerprint';
import type { Ledger, ServedLedger } from './ledger';
import { findManaged, hasTag, isOwned, PlanError, type Observed } from './observe';
import { credentialIdsIn, ledgerOf, managedWorkflow, servedPath } from './workflow';

export type CredentialKind = 'consumers' | 'upstream';

/** What is to happen to one of the two credentials of a surface. */
export interface CredentialStep {
  readonly kind: CredentialKind;
  readonly type: 'mcpConsumersApi' | 'mcpUpstreamApi';
  readonly name: string;
  readonly action: 'keep' | 'update' | 'create';
  /** The one that is there; `undefined` where none is. */
  readonly id: string | undefined;
}

export type SurfaceAction = 'create' | 'update' | 'retire' | 'unchanged' | 'retired';

/** What one run would do for one application. */
export interface SurfacePlan {
  readonly applicationId: string;
  readonly name: string;
  readonly action: SurfaceAction;
  readonly changes: readonly Change[];
  readonly observed: N8nWorkflow | undefined;
  readonly desired: DesiredSurface | undefined;
  readonly credentials: readonly CredentialStep[];
  /** For a surface that goes out of service: the contract that its workflow is rendered from, where there is one. */
  readonly contract: Contract | undefined;
}

export interface Plan {
  readonly owner: string;
  readonly surfaces: readonly SurfacePlan[];
}

const KINDS = [
  { kind: 'consumers', type: 'mcpConsumersApi', nameOf: consumersName },
  { kind: 'upstream', type: 'mcpUpstreamApi', nameOf: upstreamName },
] as const;

/**
 * What has to change so that an instance is as the operator file says. Changes nothing, and knows all faults before the
 * first write.
 *
 * @param only application ids to look at; all when empty
 * @throws PlanError, OperatorError
 */
export async function makePlan(
  operator: Operator,
  observed: Observed,
  only: readonly string[] = [],
): Promise<Plan> {
  const { owner } = operator.file;
  const wanted = operator.surfaces.filter(({ surface }) => isChosen(surface.application_id, only));
  refuseTakenPaths(wanted, observed, owner);
  const surfaces = await Promise.all(
    wanted.map(async (one) =>
      one.surface.enabled ? await planServed(operator, one, observed) : planRetired(owner, one, observed),
    ),
  );
  return { owner, surfaces: [...surfaces, ...planOrphans(operator, observed, only)] };
}

const isChosen = (id: string, only: readonly string[]) => only.length === 0 || only.includes(id);

/** n8n 1.x lets a second workflow take a path over without a word. */
function refuseTakenPaths(wanted: readonly WantedSurface[], { workflows }: Observed, owner: string): void {
  for (const { surface, contract } of wanted) {
    if (!surface.enabled) continue;
    const { path } = contract.endpoint;
    const foreign = workflows.find(
      (workflow) =>
        workflow.active &&
        servedPath(workflow) === path &&
        !isManagedFor(workflow, owner, surface.application_id),
    );
    if (foreign) {
      throw new PlanError(
        'path_taken',
        `The workflow ${foreign.id} serves /mcp/${path} already; deactivate it, and run it again.`,
      );
    }
  }
}

function isManagedFor(workflow: N8nWorkflow, owner: string, applicationId: string): boolean {
  if (!isOwned(workflow, owner)) return false;
  return (
    workflow.name === surfaceName(owner, applicationId) ||
    ledgerOf(workflow)?.application_id === applicationId
  );
}

async function planServed(
  operator: Operator,
  wanted: WantedSurface,
  observed: Observed,
): Promise<SurfacePlan> {
  const { owner } = operator.file;
  const desired = await desiredSurface(operator, wanted);
  const { applicationId, name } = desired;
  const found = findManaged(observed, owner, applicationId);
  const ledger = found && ledgerOf(found);
  const decided = await Promise.all(
    KINDS.map(async ({ kind, type }) => await credentialStep(kind, type, desired, found, ledger, observed)),
  );
  const credentials = decided.map(({ step }) => step);
  const common = { applicationId, name, desired, credentials, observed: found, contract: wanted.contract };
  if (!found) return { ...common, action: 'create', changes: [] };
  const changes = [
    ...decided.flatMap((one) => one.changes),
    ...stateChanges(found, owner),
    ...contractChange(ledger, desired),
    ...workflowChanges(found, expected(desired, credentials)),
  ];
  return { ...common, action: changes.length > 0 ? 'update' : 'unchanged', changes };
}

/** The workflow as it should be if its credentials stayed the ones that they are. */
function expected(
  desired: DesiredSurface,
  steps: readonly CredentialStep[],
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
  const { active, isArchived, versionId, activeVersionId } = workflow;
  const changes: Change[] = [];
  if (isArchived === true) changes.push({ field: 'archived', from: 'true', to: 'false' });
  if (!active) changes.push({ field: 'active', from: 'false', to: 'true' });
  else if (activeVersionId != null && versionId !== undefined && versionId !== activeVersionId) {
    changes.push({ field: 'active version', from: 'an older one', to: 'what is saved' });
  }
  if (!hasTag(workflow, owner)) changes.push({ field: 'tags', from: '(absent)', to: owner });
  return changes;
}

function contractChange(ledger: Ledger | undefined, { contractHash }: DesiredSurface): Change[] {
  if (!ledger) return [{ field: 'ledger', from: '(missing or edited)', to: 'written anew' }];
  if (ledger.contract === contractHash) return [];
  return [{ field: 'contract', from: ledger.contract, to: contractHash }];
}

async function credentialStep(
  kind: CredentialKind,
  type: CredentialStep['type'],
  desired: DesiredSurface,
  found: N8nWorkflow | undefined,
  ledger: Ledger | undefined,
  { credentials }: Observed,
): Promise<{ step: CredentialStep; changes: Change[] }> {
  const { name } = desired[kind];
  const recorded = ledger?.served?.[kind];
  const used = found ? credentialIdsIn(found, type) : [];
  const id = existingId(name, type, [recorded?.id, ...used], credentials);
  const step = { kind, type, name };
  if (id === undefined) {
    const changes = found ? [{ field: `${kind} credential`, from: '(absent)', to: name }] : [];
    return { step: { ...step, action: 'create', id: undefined }, changes };
  }
  const isKnown = recorded?.id === id;
  if (isKnown && (await matchesFingerprint(desired[kind].data, recorded.fingerprint))) {
    return { step: { ...step, action: 'keep', id }, changes: [] };
  }
  const changes = isKnown ? describedChanges(kind, recorded, desired) : [unknownContent(kind)];
  return { step: { ...step, action: 'update', id }, changes };
}

/** The credential that is there, of those that the ledger and the nodes name, or that carries the name. */
function existingId(
  name: string,
  type: string,
  candidates: readonly (string | undefined)[],
  credentials: readonly N8nCredential[] | 'unsupported',
): string | undefined {
  const known = candidates.filter((id) => id !== undefined);
  if (credentials === 'unsupported') return known[0];
  const there = known.find((id) =>
    credentials.some((credential) => credential.id === id && credential.type === type),
  );
  if (there !== undefined) return there;
  const named = credentials.filter((credential) => credential.name === name && credential.type === type);
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ');
    throw new PlanError(
      'duplicate_resource',
      `Several credentials are named ${name} (${ids}); delete all but one, and run it again.`,
    );
  }
  return named[0]?.id;
}

function unknownContent(kind: CredentialKind): Change {
  return { field: `${kind} credential`, from: '(unknown)', to: 'written anew' };
}

/** What of a credential has changed, secrets only as such. */
function describedChanges(
  kind: CredentialKind,
  recorded: ServedLedger['consumers'] | ServedLedger['upstream'],
  desired: DesiredSurface,
): Change[] {
  const { id: _id, fingerprint: _fingerprint, ...before } = recorded;
  const after = kind === 'consumers' ? { rows: desired.described.rows } : desired.described.upstream;
  const flatBefore = flat(kind, before);
  const flatAfter = flat(kind, after);
  const fields = [...new Set([...flatBefore.keys(), ...flatAfter.keys()])];
  const changes = fields
    .filter((field) => flatBefore.get(field) !== flatAfter.get(field))
    .map((field) => ({
      field,
      from: flatBefore.get(field) ?? '(absent)',
      to: flatAfter.get(field) ?? '(absent)',
    }));
  return changes.length > 0 ? changes : [{ field: `${kind} secret`, from: 'changed', to: 'changed' }];
}

function flat(prefix: string, value: object): Map<string, string> {
  const fields = new Map<string, string>();
  if ('rows' in value) {
    for (const { id, ...row } of (value as { rows: ServedLedger['consumers']['rows'] }).rows) {
      for (const [key, entry] of Object.entries(row)) {
        fields.set(`${prefix}.${id}.${key}`, Array.isArray(entry) ? entry.join(', ') : String(entry));
      }
    }
    return fields;
  }
  for (const [key, entry] of Object.entries(value)) fields.set(`${prefix}.${key}`, String(entry));
  return fields;
}

/** A surface that is not enabled: no endpoint, no credential. The workflow stays, for what people added to it. */
function planRetired(owner: string, { surface, contract }: WantedSurface, observed: Observed): SurfacePlan {
  const applicationId = surface.application_id;
  return retirement(owner, applicationId, findManaged(observed, owner, applicationId), contract);
}

/** Managed workflows of surfaces that the file does not name any more. */
function planOrphans(operator: Operator, observed: Observed, only: readonly string[]): SurfacePlan[] {
  const { owner } = operator.file;
  const named = new Set([
    ...operator.surfaces.map(({ surface }) => surface.application_id),
    ...operator.file.clients.map(({ id }) => id),
  ]);
  const orphans = observed.workflows
    .filter((workflow) => isOwned(workflow, owner))
    .map(applicationIdOf(owner));
  return [...new Set(orphans)]
    .filter((id) => !named.has(id) && isChosen(id, only))
    .map((id) => retirement(owner, id, findManaged(observed, owner, id), undefined));
}

const applicationIdOf =
  (owner: string) =>
  (workflow: N8nWorkflow): string =>
    ledgerOf(workflow)?.application_id ?? workflow.name.slice(owner.length + 1);

function retirement(
  owner: string,
  applicationId: string,
  found: N8nWorkflow | undefined,
  contract: Contract | undefined,
): SurfacePlan {
  const name = surfaceName(owner, applicationId);
  const common = { applicationId, name, observed: found, desired: undefined, contract };
  if (!found) return { ...common, action: 'retired', changes: [], credentials: [] };
  const ledger = ledgerOf(found);
  const credentials = KINDS.flatMap(({ kind, type, nameOf }): CredentialStep[] => {
    const ids = new Set([ledger?.served?.[kind].id, ...credentialIdsIn(found, type)]);
    return [...ids].flatMap((id) =>
      id === undefined ? [] : [{ kind, type, name: nameOf(name), action: 'keep', id }],
    );
  });
  const changes: Change[] = [
    ...(found.active ? [{ field: 'active', from: 'true', to: 'false' }] : []),
    ...credentials.map(({ kind, id = '' }) => ({ field: `${kind} credential`, from: id, to: '(absent)' })),
  ];
  return { ...common, action: changes.length > 0 ? 'retire' : 'retired', changes, credentials };
}

/** Whether a run has anything to do. */
export function hasChanges({ surfaces }: Plan): boolean {
  return surfaces.some(({ action }) => action !== 'unchanged' && action !== 'retired');
}
