import { observe } from '../provision/observe';
import { removeCredentials } from '../provision/credentials';
import { removals, removeSurface, strays } from '../provision/remove';
import type { Output } from '../output';
import { openInstance, type Instance } from './provision';

export interface RemoveFlags {
  readonly file: string;
  /** The owner's name once more, so that nobody destroys by a slip of the hand. */
  readonly confirm?: string;
}

/** `mcp-curated prune`: removes managed workflows that the file does not name any more. @returns exit code */
export async function pruneCommand(
  { file }: RemoveFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const instance = await openInstance(file, signal);
  const { surfaces, clients } = instance.operator.file;
  const keep = new Set([
    ...surfaces.map((surface) => surface.application_id),
    ...clients.map(({ id }) => id),
  ]);
  return await removeAll(instance, keep, output, signal);
}

/** `mcp-curated destroy`: removes everything of the owner, and the tag when nothing else carries it. @returns exit code */
export async function destroyCommand(
  { file, confirm }: RemoveFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const instance = await openInstance(file, signal);
  const { owner } = instance.operator.file;
  if (confirm !== owner) {
    throw new Error(
      `destroy removes everything that ${owner} manages; repeat the owner with --confirm ${owner}.`,
    );
  }
  const code = await removeAll(instance, new Set(), output, signal);
  if (code !== 0) return code;
  const others = (await instance.api.listWorkflows()).some(({ tags }) =>
    tags?.some(({ name }) => name === owner),
  );
  const tag = others ? undefined : (await instance.api.listTags()).find(({ name }) => name === owner);
  if (tag) await instance.api.deleteTag(tag.id);
  return 0;
}

interface Removed {
  readonly application_id: string;
  readonly workflow?: string;
  readonly credential?: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** First the workflows with their credentials, then credentials that an interrupted run has left without one. */
async function removeAll(
  { api, address, operator }: Instance,
  keep: ReadonlySet<string>,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const { owner } = operator.file;
  const results: Removed[] = [];
  const attempt = async (removed: Omit<Removed, 'error'>, work: () => Promise<void>) => {
    signal.throwIfAborted();
    output.progress(`${removed.application_id}: removing`);
    try {
      await work();
      results.push({ ...removed, error: null });
    } catch (thrown) {
      signal.throwIfAborted();
      const { code = 'failed', message = 'It could not be removed.' } = thrown as {
        code?: string;
        message?: string;
      };
      results.push({ ...removed, error: { code, message } });
    }
  };
  for (const removal of removals(await observe(api), owner, keep)) {
    await attempt({ application_id: removal.applicationId, workflow: removal.workflow.id }, async () => {
      await removeSurface(api, removal, address, signal);
    });
  }
  // What could not be removed may still use its credentials.
  const failed = new Set(results.filter(({ error }) => error).map((one) => one.application_id));
  for (const { applicationId, id } of await strays(api, owner, new Set([...keep, ...failed]))) {
    await attempt({ application_id: applicationId, credential: id }, async () => {
      await removeCredentials(api, [id]);
    });
  }
  output.result({ removed: results }, () =>
    results.length === 0
      ? ['There is nothing to remove.']
      : results.map(({ application_id: id, credential, error }) => {
          const what = credential === undefined ? id : `${id}: credential ${credential}`;
          return error ? `${what}: failed: ${error.code}: ${error.message}` : `${what}: removed`;
        }),
  );
  return results.some(({ error }) => error !== null) ? 1 : 0;
}
