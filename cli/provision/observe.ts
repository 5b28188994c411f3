import { APPLICATION_ID_PATTERN } from '../../core/contract/vocabulary';
import type { N8nCredential, N8nPublicApi, N8nWorkflow } from '../n8n/publicApi';
import { clientLedgerOf } from './clientLedger';
import { ledgerOf } from './workflow';

/** What an instance holds at one moment. */
export interface Observed {
  readonly workflows: readonly N8nWorkflow[];
  /** `unsupported` where the release cannot list them. */
  readonly credentials: readonly N8nCredential[] | 'unsupported';
}

/** Reads everything that a plan is made of: as many requests as there are pages. @throws N8nApiError */
export async function observe(api: N8nPublicApi): Promise<Observed> {
  const [workflows, credentials] = await Promise.all([api.listWorkflows(), api.listCredentials()]);
  return { workflows, credentials };
}

/** A fault of one surface, known before the first write. */
export class PlanError extends Error {
  constructor(
    readonly code:
      | 'duplicate_resource'
      | 'name_taken'
      | 'path_taken'
      | 'pack_missing'
      | 'credential_incomplete'
      | 'token_shared',
    message: string,
  ) {
    super(message);
    this.name = 'PlanError';
  }
}

export function hasTag({ tags }: N8nWorkflow, owner: string): boolean {
  return tags?.some(({ name }) => name === owner) ?? false;
}

/**
 * Whether a workflow carries the marker of this owner: a name that we give and either its tag or the ledger that we
 * wrote; or, where a person has renamed it, both of these.
 */
export function isOwned(workflow: N8nWorkflow, owner: string): boolean {
  const isNamed = namedId(workflow, owner) !== undefined;
  return (isNamed && (hasTag(workflow, owner) || hasLedger(workflow))) || isRenamed(workflow, owner);
}

/** A person may rename a workflow; its tag and its ledger still say whose and which it is. */
function isRenamed(workflow: N8nWorkflow, owner: string): boolean {
  return hasTag(workflow, owner) && hasLedger(workflow);
}

function hasLedger(workflow: N8nWorkflow): boolean {
  return ledgerOf(workflow) !== undefined || clientLedgerOf(workflow) !== undefined;
}

/** The application in a name that we would give; `acme:web-app-x copy` is a person's. */
function namedId({ name }: N8nWorkflow, owner: string): string | undefined {
  const id = name.startsWith(`${owner}:`) ? name.slice(owner.length + 1) : '';
  return APPLICATION_ID_PATTERN.test(id) ? id : undefined;
}

/**
 * The application of a managed workflow: that of its name if the operator file has it, else that of its ledger, which
 * survives a renaming.
 *
 * @param named application ids of the operator file
 */
export function applicationIdOf(
  workflow: N8nWorkflow,
  owner: string,
  named: ReadonlySet<string>,
): string | undefined {
  const byName = namedId(workflow, owner);
  if (byName !== undefined && named.has(byName)) return byName;
  return ledgerOf(workflow)?.application_id ?? clientLedgerOf(workflow)?.client_id ?? byName;
}

/**
 * The managed workflow of an application.
 *
 * @param named application ids of the operator file, whose names are their own whatever a ledger says
 * @throws PlanError `duplicate_resource` for more than one, `name_taken` for one of that name that is not ours
 */
export function findManaged(
  { workflows }: Observed,
  owner: string,
  applicationId: string,
  named: ReadonlySet<string> = new Set(),
): N8nWorkflow | undefined {
  const name = `${owner}:${applicationId}`;
  const candidates = workflows.filter(
    (workflow) =>
      workflow.name === name ||
      (isRenamed(workflow, owner) && applicationIdOf(workflow, owner, named) === applicationId),
  );
  const living = candidates.filter(({ isArchived }) => isArchived !== true);
  const [found, ...others] = living.length > 0 ? living : candidates;
  if (!found) return undefined;
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(', ');
    throw new PlanError(
      'duplicate_resource',
      `Several workflows are ${name} (${ids}); delete or rename all but one, and run it again.`,
    );
  }
  if (!isOwned(found, owner)) {
    throw new PlanError(
      'name_taken',
      `The workflow ${name} (${found.id}) carries neither the tag ${owner} nor a ledger, so it is not touched; rename it, or give it the tag to hand it over.`,
    );
  }
  return found;
}
