import { instanceAddress, N8nPublicApi } from '../n8n/publicApi';
import { loadOperator, type Operator } from '../operator/load';
import { resolveSecret } from '../provision/desired';
import { applyPlan, type Applied } from '../provision/apply';
import { observe } from '../provision/observe';
import { hasChanges, makePlan, type Plan, type SurfacePlan } from '../provision/plan';
import type { Output } from '../output';

export interface ProvisionFlags {
  readonly file: string;
  /** Application ids; all when empty. */
  readonly only: readonly string[];
}

export interface Instance {
  readonly operator: Operator;
  readonly api: N8nPublicApi;
  /** Address of n8n without a final slash. */
  readonly address: string;
}

/** The operator file and the instance that it is about. @throws OperatorError, N8nApiError */
export async function openInstance(file: string, signal: AbortSignal): Promise<Instance> {
  const operator = await loadOperator(file);
  const address = instanceAddress(operator.file.n8n.address);
  const key = await resolveSecret(operator.file.n8n.api_key, '', operator.folder);
  return { operator, address, api: new N8nPublicApi(address, key, { signal }) };
}

/** `mcp-curated plan`: what apply would change. @returns exit code: 0 nothing, 2 something */
export async function planCommand(
  { file, only }: ProvisionFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const { operator, api } = await openInstance(file, signal);
  const plan = await makePlan(operator, await observe(api), only);
  output.result(planJson(plan), () => [...plan.surfaces.flatMap(surfaceLines), summary(plan)]);
  return hasChanges(plan) ? 2 : 0;
}

/** `mcp-curated apply`: makes the instance as the operator file says. @returns exit code: 0 done, 1 something failed */
export async function applyCommand(
  { file, only }: ProvisionFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const { operator, api, address } = await openInstance(file, signal);
  const plan = await makePlan(operator, await observe(api), only);
  const applied = await applyPlan(api, plan, { address, signal, onProgress: output.progress });
  output.result({ surfaces: applied.map(appliedJson) }, () => [
    ...plan.surfaces.flatMap((surface, index) => [...surfaceLines(surface), ...outcomeLines(applied[index])]),
    summary(plan),
  ]);
  return applied.some(({ error }) => error !== null) ? 1 : 0;
}

function planJson({ surfaces }: Plan): object {
  return {
    surfaces: surfaces.map(({ applicationId, action, changes, observed }) => ({
      application_id: applicationId,
      action,
      workflow: observed?.id ?? null,
      changes,
    })),
  };
}

function appliedJson({ applicationId, action, workflowId, notes, error }: Applied): object {
  return { application_id: applicationId, action, workflow: workflowId, notes, error };
}

function surfaceLines({ applicationId, action, changes }: SurfacePlan): string[] {
  return [
    `${applicationId}: ${action}`,
    ...changes.map(({ field, from, to }) => `  ${field}: ${from === to ? from : `${from} -> ${to}`}`),
  ];
}

function outcomeLines(applied: Applied | undefined): string[] {
  if (!applied) return [];
  const { notes, error } = applied;
  return [
    ...notes.map((note) => `  note: ${note}`),
    ...(error ? [`  failed: ${error.code}: ${error.message}`] : []),
  ];
}

function summary({ surfaces }: Plan): string {
  const count = (...actions: SurfacePlan['action'][]) =>
    String(surfaces.filter(({ action }) => actions.includes(action)).length);
  return `${count('create')} to create, ${count('update')} to update, ${count('retire')} to take out of service, ${count('unchanged', 'retired')} unchanged.`;
}
