import { N8nApiError, type JsonObject, type N8nPublicApi } from '../n8n/publicApi';
import { credentialFaults } from './credentialFaults';
import { PlanError } from './observe';
import { failed, type Plan, type SurfacePlan } from './plan';

/**
 * What n8n would refuse in the middle of a run, found before its first write: that the pack is not installed, that the
 * key may not do something, that a credential does not fit its schema. Asks nothing where there is nothing to do.
 *
 * @returns the plan, with the surfaces at fault as `failed`
 * @throws PlanError `pack_missing`, N8nApiError `api_key_scope_missing`
 */
export async function preflight(api: N8nPublicApi, plan: Plan): Promise<Plan> {
  const active = plan.surfaces.filter(({ action }) => ['create', 'update', 'retire'].includes(action));
  if (active.length === 0) return plan;
  await refuseMissingScopes(api, active);
  if (active.every(({ desired }) => desired === undefined)) return plan;
  const schemas = new Map<string, JsonObject>();
  const types = new Set(active.flatMap(({ credentials }) => credentials.map(({ type }) => type)));
  for (const type of types) schemas.set(type, await schemaOf(api, type));
  return { ...plan, surfaces: plan.surfaces.map((surface) => fitting(surface, schemas)) };
}

async function schemaOf(api: N8nPublicApi, type: string): Promise<JsonObject> {
  const schema = await api.credentialSchema(type);
  if (schema) return schema;
  throw new PlanError(
    'pack_missing',
    'This n8n does not know the nodes of n8n-nodes-mcp-curated; install the pack there, and run it again.',
  );
}

/** Only instances that say what a key may do; the others show it by refusing. */
async function refuseMissingScopes(api: N8nPublicApi, active: readonly SurfacePlan[]): Promise<void> {
  const { scopes } = await api.capabilities();
  const missing = scopes && [...neededBy(active)].filter((scope) => !scopes.includes(scope));
  if (!missing || missing.length === 0) return;
  throw new N8nApiError(
    403,
    `The API key lacks the scopes ${missing.join(', ')}; give them to it, or use a key of somebody who may do this.`,
    'api_key_scope_missing',
  );
}

function neededBy(surfaces: readonly SurfacePlan[]): Set<string> {
  const needed = new Set<string>();
  for (const { action, observed, credentials, gone, rewrite } of surfaces) {
    if (action === 'create') needed.add('workflow:create');
    else if (rewrite) needed.add('workflow:update');
    if (action === 'retire') {
      if (observed?.active) needed.add('workflow:deactivate');
    } else {
      needed.add('workflow:activate');
      if (action === 'create') for (const scope of ['tag:list', 'workflowTags:update']) needed.add(scope);
    }
    for (const step of credentials) if (step.action !== 'keep') needed.add(`credential:${step.action}`);
    if (gone.length > 0) needed.add('credential:delete');
  }
  return needed;
}

function fitting(surface: SurfacePlan, schemas: ReadonlyMap<string, JsonObject>): SurfacePlan {
  const { applicationId, name, desired, credentials } = surface;
  if (!desired) return surface;
  for (const { kind, type, name: credential } of credentials) {
    const faults = credentialFaults(schemas.get(type) ?? {}, desired[kind].data);
    if (faults.length === 0) continue;
    const message = `n8n would refuse the credential ${credential}: ${faults.join(', ')}; is the pack there of another version?`;
    return failed(applicationId, name, { code: 'credential_incomplete', message });
  }
  return surface;
}
