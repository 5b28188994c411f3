import { readFile } from 'node:fs/promises';
import { failedWith, type N8nPublicApi, type N8nWorkflow } from '../n8n/publicApi';
import type { Operator, WantedSurface } from '../operator/load';
import type { ApplyOptions } from './apply';
import { removeCredentials } from './credentials';
import { desiredSurface, resolveSecret, type DesiredSurface } from './desired';
import { untilServed } from './endpoint';
import { fingerprintOf } from './fingerprint';
import type { Ledger } from './ledger';
import { harmlessTool, readFailure } from './mcpProbe';
import { findManaged, observe } from './observe';
import { reconcile } from './reconcile';
import { RotationError } from './rotationError';
import { forgetOld, isThere, promote, secretFile, type SecretFile } from './secretFiles';
import { credentialIdsIn, ledgerOf, managedWorkflow, mergedInto } from './workflow';

/**
 * Replaces the secret with which a surface asks its application. The new one, issued there, stands in `<file>.next`. It
 * takes the place of the old one in n8n and a real read proves it; if upstream refuses it, the old one comes back. Where
 * n8n cannot change credentials the new one gets a credential of its own, and the old one is deleted at the end. Only
 * after the proof the file is replaced. Until then a plain `apply` leads back to the old secret, which still works.
 *
 * @throws RotationError, and what apply throws
 */
export async function rotateUpstream(
  api: N8nPublicApi,
  operator: Operator,
  applicationId: string,
  options: ApplyOptions,
): Promise<void> {
  const wanted = wantedSurface(operator, applicationId);
  const file = upstreamFile(operator, wanted);
  const next = await nextSecret(file);
  const { tool, bearer } = await proofOf(operator, wanted);
  await reconcile(api, operator, [applicationId], options);
  const desired = await desiredSurface(operator, wanted);
  const changed = {
    ...desired,
    upstream: { ...desired.upstream, data: desired.upstream.with(next) },
  };
  const { owner } = operator.file;
  const workflow = findManaged(await observe(api), owner, applicationId);
  if (!workflow) throw new RotationError('apply_failed', `${applicationId} has no workflow; run apply.`);
  const before = ledgerOf(workflow);
  const endpoint = `${options.address}/mcp/${desired.contract.endpoint.path}`;

  options.signal.throwIfAborted();
  options.onProgress(`${applicationId}: trying the new secret`);
  await removeUnused(api, desired.upstream, workflow);
  const prove = async () => {
    await untilServed(endpoint, desired.name, options.signal);
    const failure = await readFailure(endpoint, bearer, tool, options.signal);
    if (failure !== undefined) throw refused(applicationId, failure);
  };
  const isChanged =
    before?.served &&
    (await isTriedInPlace(api, workflow, desired, changed, before.served.upstream.id, prove));
  const leave = isChanged ? undefined : await replaceCredential(api, workflow, desired, changed, prove);
  options.onProgress(`${applicationId}: the new secret works`);
  await promote(file);
  await leave?.();
  await forgetOld(file);
}

/**
 * Where credentials cannot be changed: a credential of its own for the new secret. The one that goes stands in the ledger
 * until it is deleted, so that an interrupted run leaves nothing that the next one cannot find.
 *
 * @returns what deletes the old one
 */
async function replaceCredential(
  api: N8nPublicApi,
  workflow: N8nWorkflow,
  desired: DesiredSurface,
  changed: DesiredSurface,
  prove: () => Promise<void>,
): Promise<() => Promise<void>> {
  const old = ledgerOf(workflow)?.served?.upstream.id;
  if (old === undefined) {
    throw new RotationError('apply_failed', `${desired.applicationId} has no ledger; run apply.`);
  }
  const made = await api.createCredential(
    desired.upstream.name,
    desired.upstream.type,
    changed.upstream.data,
  );
  const useOnly = async (one: DesiredSurface, id: string, goes: string) => {
    await removeCredentials(api, [goes]);
    await pointAt(api, workflow, one, id);
  };
  try {
    await pointAt(api, workflow, changed, made.id, [old]);
    await prove();
  } catch (error) {
    // Back to what worked, before anything is deleted.
    await pointAt(api, workflow, desired, old, [made.id]);
    await useOnly(desired, old, made.id);
    throw error;
  }
  return async () => {
    await useOnly(changed, made.id, old);
  };
}

/**
 * Tries the new secret in the credential that is there. A release that can change credentials publishes workflows in the
 * background, too: after pointing at another credential nobody could tell which of the two a read has used.
 *
 * @returns false where credentials cannot be changed; nothing has happened then
 */
async function isTriedInPlace(
  api: N8nPublicApi,
  workflow: N8nWorkflow,
  desired: DesiredSurface,
  changed: DesiredSurface,
  id: string,
  prove: () => Promise<void>,
): Promise<boolean> {
  const { name } = desired.upstream;
  if ((await api.updateCredential(id, { name })) === 'unsupported') return false;
  try {
    // The ledger first: after an interruption apply sees a difference, and leads back to the old secret.
    await pointAt(api, workflow, changed, id);
    await api.updateCredential(id, { name, data: changed.upstream.data });
    await prove();
  } catch (error) {
    await api.updateCredential(id, { name, data: desired.upstream.data });
    await pointAt(api, workflow, desired, id);
    throw error;
  }
  return true;
}

function refused(applicationId: string, code: string): RotationError {
  return new RotationError(
    'new_secret_refused',
    `With the new secret ${applicationId} answers ${code}; the surface uses the old one again.`,
  );
}

function wantedSurface({ surfaces }: Operator, applicationId: string): WantedSurface {
  const wanted = surfaces.find(({ surface }) => surface.application_id === applicationId);
  if (wanted?.surface.enabled) return wanted;
  throw new RotationError(
    'surface_disabled',
    `${applicationId} is not an enabled surface of the operator file.`,
  );
}

function upstreamFile({ folder }: Operator, { surface }: WantedSurface): SecretFile {
  const found = secretFile(surface.upstream.secret ?? '', surface.application_id, folder);
  if (found) return found;
  throw new RotationError(
    'rotation_needs_file',
    `The upstream secret of ${surface.application_id} is not in a file; refer to it as file:PATH.`,
  );
}

async function nextSecret({ next }: SecretFile): Promise<string> {
  const secret = (await isThere(next)) ? (await readFile(next, 'utf8')).trim() : '';
  if (secret !== '') return secret;
  throw new RotationError(
    'next_secret_missing',
    `Issue the new secret in the application and write it to ${next} (mode 600), then run it again.`,
  );
}

/** Whose bearer and which tool prove that upstream takes the secret. */
async function proofOf(
  { file, folder }: Operator,
  { surface, contract }: WantedSurface,
): Promise<{ tool: string; bearer: string }> {
  const applicationId = surface.application_id;
  const consumer = file.consumers.find(
    ({ id, token }) => token !== undefined && surface.consumers.includes(id),
  );
  const tools = consumer && surface.consumer_tools?.[consumer.id];
  const operations = contract.operations.filter(({ name }) => tools?.includes(name) ?? true);
  const tool = harmlessTool({ ...contract, operations });
  if (consumer?.token === undefined || tool === undefined) {
    throw new RotationError(
      'nothing_to_prove_with',
      `${applicationId} has no consumer whose bearer is known here and that may call a tool without arguments.`,
    );
  }
  return { tool, bearer: await resolveSecret(consumer.token, applicationId, folder) };
}

/** Credentials of that name which an interrupted rotation made and which no workflow uses. */
async function removeUnused(
  api: N8nPublicApi,
  { name, type }: DesiredSurface['upstream'],
  workflow: N8nWorkflow,
): Promise<void> {
  const used = new Set(credentialIdsIn(workflow, type));
  const listed = await api.listCredentials();
  const candidates = listed === 'unsupported' ? await api.unusedCredentials() : listed;
  const ours = candidates.filter((credential) => credential.name === name && !used.has(credential.id));
  await removeCredentials(
    api,
    ours.map(({ id }) => id),
  );
}

async function pointAt(
  api: N8nPublicApi,
  workflow: N8nWorkflow,
  desired: DesiredSurface,
  upstreamId: string,
  goes: readonly string[] = [],
): Promise<void> {
  const before = ledgerOf(workflow);
  if (!before?.served)
    throw new RotationError('apply_failed', `${desired.applicationId} has no ledger; run apply.`);
  const upstream = {
    ...before.served.upstream,
    id: upstreamId,
    fingerprint: await fingerprintOf(desired.upstream.data),
  };
  const { replaced: _replaced, ...rest } = before;
  const replaced = goes.length > 0 ? { replaced: { credentials: [...goes], workflows: [] } } : {};
  const ledger: Ledger = { ...rest, ...replaced, served: { ...before.served, upstream } };
  const credentials = {
    consumers: { id: before.served.consumers.id, name: desired.consumers.name },
    upstream: { id: upstreamId, name: desired.upstream.name },
  };
  const wanted = managedWorkflow(desired, credentials, ledger);
  const write = async () =>
    await api.updateWorkflow(workflow.id, mergedInto(workflow, wanted), workflow.settings);
  const written = await write().catch(async (error: unknown) => {
    // n8n 2.x may still be publishing what apply has just written.
    if (!failedWith(error, 'conflict')) throw error;
    return await write();
  });
  if (!written.active) await api.activateWorkflow(workflow.id);
}
