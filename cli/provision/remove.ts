import { setTimeout as sleep } from 'node:timers/promises';
import { failedWith, type N8nPublicApi, type N8nWorkflow } from '../n8n/publicApi';
import { removeCredentials } from './credentials';
import { untilGone } from './endpoint';
import { isOwned, type Observed } from './observe';
import { consumersName, surfaceName, upstreamName } from './desired';
import { credentialIdsIn, ledgerOf, servedPath } from './workflow';

/** A managed workflow that is to go, with its credentials. */
export interface Removal {
  readonly applicationId: string;
  readonly workflow: N8nWorkflow;
  readonly credentialIds: readonly string[];
}

/**
 * What of an owner is there, by application. Nothing that does not carry the owner's marker is in it.
 *
 * @param keep application ids that stay
 */
export function removals(observed: Observed, owner: string, keep: ReadonlySet<string>): Removal[] {
  return observed.workflows
    .filter((workflow) => isOwned(workflow, owner))
    .map((workflow) => {
      const applicationId = ledgerOf(workflow)?.application_id ?? workflow.name.slice(owner.length + 1);
      return {
        applicationId,
        workflow,
        credentialIds: credentialIds(observed, owner, applicationId, workflow),
      };
    })
    .filter(({ applicationId }) => !keep.has(applicationId));
}

/** Those that its ledger and its nodes name, and where they can be listed, those that carry its name. */
function credentialIds(
  { credentials }: Observed,
  owner: string,
  applicationId: string,
  workflow: N8nWorkflow,
): string[] {
  const name = surfaceName(owner, applicationId);
  const served = ledgerOf(workflow)?.served;
  const named =
    credentials === 'unsupported'
      ? []
      : credentials.filter((one) => [consumersName(name), upstreamName(name)].includes(one.name));
  const ids = [
    served?.consumers.id,
    served?.upstream.id,
    ...credentialIdsIn(workflow, 'mcpConsumersApi'),
    ...credentialIdsIn(workflow, 'mcpUpstreamApi'),
    ...named.map(({ id }) => id),
  ];
  return [...new Set(ids.filter((id) => id !== undefined))];
}

const POLL_MS = 300;
/** 2.x refuses to delete while it publishes or unpublishes in the background. */
const BACKGROUND_LIMIT_MS = 25_000;

/** First the endpoint, then the credentials, then the workflow: an interrupted run leaves what the next one finds. */
export async function removeSurface(
  api: N8nPublicApi,
  { workflow, credentialIds: ids }: Removal,
  address: string,
  signal: AbortSignal,
): Promise<void> {
  const path = servedPath(workflow);
  if (workflow.active) {
    await api.deactivateWorkflow(workflow.id);
    if (path !== undefined) await untilGone(`${address}/mcp/${path}`, workflow.name, signal);
  }
  await removeCredentials(api, ids);
  const deadline = Date.now() + BACKGROUND_LIMIT_MS;
  for (;;) {
    try {
      await api.deleteWorkflow(workflow.id);
      return;
    } catch (error) {
      if (failedWith(error, 'not_found')) return;
      if (!failedWith(error, 'conflict') || Date.now() > deadline) throw error;
      await sleep(POLL_MS, undefined, { signal });
    }
  }
}
