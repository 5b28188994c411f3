import { APPLICATION_ID_PATTERN } from '../../core/contract/vocabulary';
import { failedWith, type N8nPublicApi, type N8nWorkflow } from '../n8n/publicApi';
import { REAL_PACE } from '../n8n/pacing';
import { serverName } from './clientLedger';
import { removeCredentials } from './credentials';
import { consumersName, surfaceName, upstreamName } from './desired';
import { POLL_MS, POLLS, untilGone } from './endpoint';
import { applicationIdOf, isOwned, type Observed } from './observe';
import { credentialsOf } from './planRetirement';
import { servedPath, type ManagedCredentialType } from './workflow';

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
    .flatMap((workflow) => {
      const applicationId = applicationIdOf(workflow, owner, keep);
      if (applicationId === undefined || keep.has(applicationId)) return [];
      const ids = credentialsOf(surfaceName(owner, applicationId), workflow, observed).map(({ id }) => id);
      return [{ applicationId, workflow, credentialIds: [...new Set(ids)] }];
    });
}

/** A credential of ours whose workflow is not there: an interrupted run made it. */
export interface Stray {
  readonly applicationId: string;
  readonly id: string;
}

const NAMES: Readonly<Record<ManagedCredentialType, (name: string) => string>> = {
  mcpConsumersApi: consumersName,
  mcpUpstreamApi: upstreamName,
  mcpS3Api: upstreamName,
  mcpDatabaseApi: upstreamName,
  mcpAllowlistClientApi: serverName,
};

/**
 * Credentials with a name of ours for applications that do not stay. Where credentials cannot be listed: those that no
 * workflow uses.
 */
export async function strays(api: N8nPublicApi, owner: string, keep: ReadonlySet<string>): Promise<Stray[]> {
  const listed = await api.listCredentials();
  const candidates = listed === 'unsupported' ? await api.unusedCredentials() : listed;
  return candidates.flatMap((credential) => {
    const applicationId = applicationOf(credential.name, owner);
    if (applicationId === undefined || keep.has(applicationId)) return [];
    const types = Object.entries(NAMES)
      .filter(([, nameOf]) => nameOf(surfaceName(owner, applicationId)) === credential.name)
      .map(([type]) => type);
    const isOurs = types.length > 0 && (!('type' in credential) || types.includes(String(credential.type)));
    return isOurs ? [{ applicationId, id: credential.id }] : [];
  });
}

function applicationOf(name: string, owner: string): string | undefined {
  if (!name.startsWith(`${owner}:`)) return undefined;
  const [id = ''] = name.slice(owner.length + 1).split(' ');
  return APPLICATION_ID_PATTERN.test(id) ? id : undefined;
}

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
  for (let tries = 1; ; tries += 1) {
    try {
      await api.deleteWorkflow(workflow.id);
      return;
    } catch (error) {
      if (failedWith(error, 'not_found')) return;
      // 2.x refuses to delete while it publishes or unpublishes in the background.
      if (!failedWith(error, 'conflict') || tries >= POLLS) throw error;
      await REAL_PACE.sleep(POLL_MS, signal);
    }
  }
}
