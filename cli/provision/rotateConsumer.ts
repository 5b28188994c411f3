import type { N8nPublicApi } from '../n8n/publicApi';
import type { Operator, WantedSurface } from '../operator/load';
import type { ApplyOptions } from './apply';
import { resolveSecret } from './desired';
import { isAccepted } from './mcpProbe';
import { reconcile } from './reconcile';
import { RotationError } from './rotationError';
import { forgetOld, isThere, issueNext, promote, secretFile, type SecretFile } from './secretFiles';

export interface Rotated {
  readonly consumer: string;
  /** Every surface where the bearer was replaced: those that refer to the same file. */
  readonly surfaces: readonly string[];
}

/**
 * Replaces the bearer of a consumer without a moment in which it has none: issue a new one, let both in, prove that the
 * new one works with a real MCP call, revoke the old one, prove that it is dead. The files beside the secret say how far
 * an interrupted rotation got, and a plain `apply` in between keeps both bearers working.
 *
 * @throws RotationError, and what apply throws
 */
export async function rotateConsumer(
  api: N8nPublicApi,
  operator: Operator,
  applicationId: string,
  consumerId: string,
  options: ApplyOptions,
): Promise<Rotated> {
  const file = fileOf(operator, applicationId, consumerId);
  const surfaces = sharing(operator, consumerId, file);
  const { signal, onProgress } = options;
  const ids = surfaces.map(({ surface }) => surface.application_id);
  const bearerIn = async (at: string) => await resolveSecret(`file:${at}`, applicationId, operator.folder);

  if ((await issueNext(file)) === 'issued') onProgress(`${consumerId}: a new bearer is in ${file.next}`);
  if (await isThere(file.next)) {
    signal.throwIfAborted();
    onProgress(`${consumerId}: letting both bearers in`);
    await reconcile(api, operator, ids, options);
    const next = await bearerIn(file.next);
    for (const one of surfaces) await prove(one, next, options, 'new_bearer_refused');
    signal.throwIfAborted();
    onProgress(`${consumerId}: the new bearer works; revoking the old one`);
    await promote(file);
  }
  await reconcile(api, operator, ids, options);
  const current = await bearerIn(file.current);
  for (const one of surfaces) await prove(one, current, options, 'new_bearer_refused');
  if (await isThere(file.old)) {
    const old = await bearerIn(file.old);
    for (const { contract } of surfaces) {
      if (!(await isAccepted(endpointOf(options, contract.endpoint.path), old, signal))) continue;
      throw new RotationError(
        'old_bearer_alive',
        `The old bearer of ${consumerId} still works at ${contract.application_id}; run rotate again.`,
      );
    }
    await forgetOld(file);
  }
  onProgress(`${consumerId}: the old bearer is dead`);
  return { consumer: consumerId, surfaces: ids };
}

const endpointOf = ({ address }: ApplyOptions, path: string) => `${address}/mcp/${path}`;

function fileOf({ file, folder, surfaces }: Operator, applicationId: string, consumerId: string): SecretFile {
  const wanted = surfaces.find(({ surface }) => surface.application_id === applicationId);
  if (!wanted?.surface.enabled) {
    throw new RotationError(
      'surface_disabled',
      `${applicationId} is not an enabled surface of the operator file.`,
    );
  }
  if (!wanted.surface.consumers.includes(consumerId)) {
    throw new RotationError('consumer_unknown', `${consumerId} is not a consumer of ${applicationId}.`);
  }
  const token = file.consumers.find(({ id }) => id === consumerId)?.token;
  const found = token === undefined ? undefined : secretFile(token, applicationId, folder);
  if (found) return found;
  throw new RotationError(
    'rotation_needs_file',
    `The bearer of ${consumerId} is not in a file, so the new one could be kept nowhere; refer to it as file:PATH.`,
  );
}

/** A file without {application_id} in its name holds one bearer for several surfaces: all of them change together. */
function sharing(
  { file, folder, surfaces }: Operator,
  consumerId: string,
  { current }: SecretFile,
): WantedSurface[] {
  const token = file.consumers.find(({ id }) => id === consumerId)?.token ?? '';
  return surfaces.filter(
    ({ surface }) =>
      surface.enabled &&
      surface.consumers.includes(consumerId) &&
      secretFile(token, surface.application_id, folder)?.current === current,
  );
}

async function prove(
  { contract }: WantedSurface,
  bearer: string,
  options: ApplyOptions,
  code: 'new_bearer_refused',
): Promise<void> {
  if (await isAccepted(endpointOf(options, contract.endpoint.path), bearer, options.signal)) return;
  throw new RotationError(
    code,
    `The new bearer is refused at ${contract.application_id}; nothing was revoked. Look at n8n's log, and run rotate again.`,
  );
}
