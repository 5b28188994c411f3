import type { N8nCredential, N8nPublicApi, N8nWorkflow } from '../n8n/publicApi';
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

/** A fault of one surface that stops everything before the first write. */
export class PlanError extends Error {
  constructor(
    readonly code: 'duplicate_resource' | 'name_taken' | 'path_taken' | 'pack_missing',
    message: string,
  ) {
    super(message);
    this.name = 'PlanError';
  }
}

export function hasTag({ tags }: N8nWorkflow, owner: string): boolean {
  return tags?.some(({ name }) => name === owner) ?? false;
}

/** Whether a workflow carries the marker of this owner: its name, and its tag or the ledger that we wrote. */
export function isOwned(workflow: N8nWorkflow, owner: string): boolean {
  const isNamed = workflow.name.startsWith(`${owner}:`);
  return (
    (isNamed && (hasTag(workflow, owner) || ledgerOf(workflow) !== undefined)) || isRenamed(workflow, owner)
  );
}

/** A person may rename a workflow; its tag and its ledger still say whose and which it is. */
function isRenamed(workflow: N8nWorkflow, owner: string): boolean {
  return hasTag(workflow, owner) && ledgerOf(workflow) !== undefined;
}

/**
 * The managed workflow of an application.
 *
 * @throws PlanError `duplicate_resource` for more than one, `name_taken` for one of that name that is not ours
 */
export function findManaged(
  { workflows }: Observed,
  owner: string,
  applicationId: string,
): N8nWorkflow | undefined {
  const name = `${owner}:${applicationId}`;
  const candidates = workflows.filter(
    (workflow) =>
      workflow.name === name ||
      (isRenamed(workflow, owner) && ledgerOf(workflow)?.application_id === applicationId),
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
