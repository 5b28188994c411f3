import { observe } from '../provision/observe';
import { removals, removeSurface, type Removal } from '../provision/remove';
import type { Output } from '../output';
import { openInstance } from './provision';

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
  const { owner, surfaces, clients } = instance.operator.file;
  const keep = new Set([
    ...surfaces.map((surface) => surface.application_id),
    ...clients.map(({ id }) => id),
  ]);
  const found = removals(await observe(instance.api), owner, keep);
  return await removeAll(instance, found, output, signal);
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
  const code = await removeAll(
    instance,
    removals(await observe(instance.api), owner, new Set()),
    output,
    signal,
  );
  if (code !== 0) return code;
  const others = (await instance.api.listWorkflows()).some(({ tags }) =>
    tags?.some(({ name }) => name === owner),
  );
  const tag = others ? undefined : (await instance.api.listTags()).find(({ name }) => name === owner);
  if (tag) await instance.api.deleteTag(tag.id);
  return 0;
}

async function removeAll(
  { api, address }: Awaited<ReturnType<typeof openInstance>>,
  found: readonly Removal[],
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const results: {
    application_id: string;
    workflow: string;
    error: { code: string; message: string } | null;
  }[] = [];
  for (const removal of found) {
    signal.throwIfAborted();
    output.progress(`${removal.applicationId}: removing`);
    const result = { application_id: removal.applicationId, workflow: removal.workflow.id };
    try {
      await removeSurface(api, removal, address, signal);
      results.push({ ...result, error: null });
    } catch (thrown) {
      signal.throwIfAborted();
      const { code = 'failed', message = 'It could not be removed.' } = thrown as {
        code?: string;
        message?: string;
      };
      results.push({ ...result, error: { code, message } });
    }
  }
  output.result({ removed: results }, () =>
    results.length === 0
      ? ['There is nothing to remove.']
      : results.map(({ application_id: id, error }) =>
          error ? `${id}: failed: ${error.code}: ${error.message}` : `${id}: removed`,
        ),
  );
  return results.some(({ error }) => error !== null) ? 1 : 0;
}
