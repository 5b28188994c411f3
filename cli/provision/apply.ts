import { failedWith, type N8nPublicApi } from '../n8n/publicApi';
import type { Leftovers } from './credentials';
import type { Failure, Plan, SurfacePlan } from './plan';
import { preflight } from './preflight';
import { retire } from './retire';
import { serve } from './serve';

export interface ApplyOptions {
  /** Address of n8n, without `/mcp`. */
  readonly address: string;
  readonly signal: AbortSignal;
  /** A line for a person that waits. */
  readonly onProgress: (line: string) => void;
}

/** What became of one surface. */
export interface Applied {
  readonly applicationId: string;
  readonly action: SurfacePlan['action'];
  readonly workflowId: string | null;
  /** Things that a person should know, such as settings that this release does not take. */
  readonly notes: readonly string[];
  readonly error: Failure | null;
}

/**
 * Carries a plan out, surface by surface. Each step can be repeated, and the order is such that an interrupted run
 * leaves either what was there before or something that the next run finishes: a new credential is used before the one
 * that it replaces is deleted, and nothing is served before its credentials are bound. What goes out of service goes
 * first, so that its path is free. One surface that fails does not keep the others from being processed, unless n8n
 * does not answer or does not take the key.
 *
 * @returns what became of each surface, in the order of the plan
 * @throws PlanError `pack_missing`, N8nApiError `api_key_scope_missing`, before anything is written
 */
export async function applyPlan(api: N8nPublicApi, made: Plan, options: ApplyOptions): Promise<Applied[]> {
  const plan = await preflight(api, made);
  const leftovers: Leftovers = { unused: undefined };
  const applied = new Map<SurfacePlan, Applied>();
  let stop: Failure | undefined;
  const isLeaving = ({ action }: SurfacePlan) => action === 'retire';
  for (const surface of [
    ...plan.surfaces.filter(isLeaving),
    ...plan.surfaces.filter((one) => !isLeaving(one)),
  ]) {
    options.signal.throwIfAborted();
    const notes: string[] = [];
    const { applicationId, action, observed } = surface;
    const outcome = { applicationId, action, notes };
    try {
      const error = surface.error ?? (action === 'unchanged' || action === 'retired' ? undefined : stop);
      const id = error
        ? observed?.id
        : await applySurface(api, plan.owner, surface, options, leftovers, notes);
      applied.set(surface, { ...outcome, workflowId: id ?? null, error: error ?? null });
    } catch (thrown) {
      options.signal.throwIfAborted();
      const error = failureOf(thrown);
      if (failedWith(thrown, 'api_key_refused', 'unreachable', 'rate_limited')) stop = error;
      applied.set(surface, { ...outcome, workflowId: observed?.id ?? null, error });
    }
  }
  return plan.surfaces.flatMap((surface) => applied.get(surface) ?? []);
}

function failureOf(thrown: unknown): Failure {
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  return {
    code: typeof code === 'string' ? code : 'failed',
    message: typeof message === 'string' ? message : 'The surface could not be applied.',
  };
}

async function applySurface(
  api: N8nPublicApi,
  owner: string,
  surface: SurfacePlan,
  options: ApplyOptions,
  leftovers: Leftovers,
  notes: string[],
): Promise<string | null> {
  const { applicationId, action, observed } = surface;
  switch (action) {
    case 'unchanged':
    case 'retired':
    case 'failed':
      return observed?.id ?? null;
    case 'retire':
      options.onProgress(`${applicationId}: taking it out of service`);
      return await retire(api, surface, options);
    case 'create':
    case 'update':
      options.onProgress(`${applicationId}: ${action === 'create' ? 'creating' : 'updating'}`);
      return await serve(api, owner, surface, options, leftovers, notes);
  }
}
