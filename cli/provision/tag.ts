import { failedWith, type N8nPublicApi, type N8nWorkflow } from '../n8n/publicApi';

/** Gives a workflow the owner's tag; tags that a person gave it stay. */
export async function tagWorkflow(
  api: N8nPublicApi,
  workflowId: string,
  owner: string,
  observed: N8nWorkflow | undefined,
): Promise<void> {
  const find = async () => (await api.listTags()).find(({ name }) => name === owner);
  const existing =
    (await find()) ??
    (await api.createTag(owner).catch(async (error: unknown) => {
      // Somebody else, or our own interrupted request, has made it.
      const made = failedWith(error, 'conflict', 'outcome_unknown') ? await find() : undefined;
      if (!made) throw error;
      return made;
    }));
  const ids = new Set([...(observed?.tags ?? []).map(({ id }) => id), existing.id]);
  await api.setWorkflowTags(workflowId, [...ids]);
}
