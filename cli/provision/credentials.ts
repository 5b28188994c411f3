import { failedWith, type N8nPublicApi, type UnusedCredential } from '../n8n/publicApi';
import type { CredentialStep } from './plan';

/** What an interrupted run may have left on a release that cannot list credentials; looked up once per run. */
export interface Leftovers {
  unused: Promise<UnusedCredential[]> | undefined;
}

export interface AppliedCredential {
  readonly id: string;
  /** To be deleted once nothing uses them any more. */
  readonly replaced: readonly string[];
}

/**
 * Brings one credential to what it should hold. Where the release cannot change credentials a new one takes its place;
 * the caller binds it and deletes the old one afterwards, so that at no moment there is none.
 */
export async function applyCredential(
  api: N8nPublicApi,
  { action, id, name, type }: CredentialStep,
  data: object,
  leftovers: Leftovers,
): Promise<AppliedCredential> {
  if (action === 'keep' && id !== undefined) return { id, replaced: [] };
  if (action === 'update' && id !== undefined) {
    const { canUpdateCredentials } = await api.capabilities();
    if (canUpdateCredentials !== false) {
      const outcome = await api.updateCredential(id, { name, data }).catch((error: unknown) => {
        // It was deleted between the look and the write, or long ago on a release that does not tell.
        if (failedWith(error, 'not_found')) return 'gone' as const;
        throw error;
      });
      if (outcome === 'done') return { id, replaced: [] };
      if (outcome === 'gone') return { id: await create(api, name, type, data), replaced: [] };
    }
  }
  await removeLeftovers(api, name, id, leftovers);
  const made = await create(api, name, type, data);
  return { id: made, replaced: id === undefined ? [] : [id] };
}

/** What an interrupted run made and nobody uses: of our exact name, so it is ours. */
async function removeLeftovers(
  api: N8nPublicApi,
  name: string,
  current: string | undefined,
  leftovers: Leftovers,
): Promise<void> {
  const { canListCredentials } = await api.capabilities();
  // Where they can be listed the plan has found it by its name.
  if (canListCredentials) return;
  leftovers.unused ??= api.unusedCredentials();
  for (const unused of await leftovers.unused) {
    if (unused.name === name && unused.id !== current) await removeCredentials(api, [unused.id]);
  }
}

async function create(api: N8nPublicApi, name: string, type: string, data: object): Promise<string> {
  try {
    return (await api.createCredential(name, type, data)).id;
  } catch (error) {
    if (!failedWith(error, 'outcome_unknown')) throw error;
    const made = await lookFor(api, name, type);
    if (made === undefined) throw error;
    return made;
  }
}

/** A credential whose making was not confirmed. */
async function lookFor(api: N8nPublicApi, name: string, type: string): Promise<string | undefined> {
  const listed = await api.listCredentials();
  if (listed !== 'unsupported') {
    const found = listed.filter((credential) => credential.name === name && credential.type === type);
    return found.length === 1 ? found[0]?.id : undefined;
  }
  const unused = (await api.unusedCredentials()).filter((credential) => credential.name === name);
  return unused.length === 1 ? unused[0]?.id : undefined;
}

/** One that is gone already is no fault. */
export async function removeCredentials(api: N8nPublicApi, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await api.deleteCredential(id).catch((error: unknown) => {
      if (!failedWith(error, 'not_found')) throw error;
    });
  }
}
