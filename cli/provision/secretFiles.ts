import { constants } from 'node:fs';
import { access, copyFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeBearer } from '../../core/server/bearer';

/**
 * A secret in a file, and the two files beside it that a rotation needs: `<file>.next` while the new secret is brought
 * into use, `<file>.old` until the old one is proven dead. They are the whole memory of a rotation: whoever is
 * interrupted finds them, and the next run goes on.
 */
export interface SecretFile {
  readonly current: string;
  readonly next: string;
  readonly old: string;
}

/** @returns undefined for a secret that is not in a file */
export function secretFile(reference: string, applicationId: string, folder: string): SecretFile | undefined {
  if (!reference.startsWith('file:')) return undefined;
  const named = reference.slice('file:'.length).replaceAll('{application_id}', applicationId);
  const current = path.resolve(folder, named);
  return { current, next: `${current}.next`, old: `${current}.old` };
}

/** The reference of the secret that is to replace one, where a rotation is under way. */
export async function nextReference(
  reference: string,
  applicationId: string,
  folder: string,
): Promise<string | undefined> {
  const file = secretFile(reference, applicationId, folder);
  return file && (await isThere(file.next)) ? `file:${file.next}` : undefined;
}

/** Makes the new bearer unless an interrupted run has. */
export async function issueNext({ next, old }: SecretFile): Promise<'issued' | 'found'> {
  if ((await isThere(next)) || (await isThere(old))) return 'found';
  await writeFile(next, `${makeBearer().token}\n`, { mode: 0o600, flag: 'wx' });
  return 'issued';
}

/** The new secret takes the place of the old one. At every moment each of them stands in some file. */
export async function promote({ current, next, old }: SecretFile): Promise<void> {
  if (!(await isThere(next))) return;
  if (!(await isThere(old))) {
    // Whole or not at all, like the rename below.
    const copy = `${old}.tmp`;
    await copyFile(current, copy);
    await rename(copy, old);
  }
  await rename(next, current);
}

export async function forgetOld({ old }: SecretFile): Promise<void> {
  await rm(old, { force: true });
}

export async function isThere(file: string): Promise<boolean> {
  try {
    await access(file, constants.F_OK);
    return true;
  } catch {
    return false;
  }
}
