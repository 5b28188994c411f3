import { instanceAddress, N8nPublicApi } from '../n8n/publicApi';
import { loadOperator, type Operator } from '../operator/load';
import { resolveSecret } from '../provision/desired';
import { applyPlan, type Applied } from '../provision/apply';
import { observe } from '../provision/observe';
import { applyClients, planClients, type ClientPlan } from '../provision/clients';
import type { Change } from '../provision/compare';
import { makePlan, type Failure, type Plan, type SurfacePlan } from '../provision/plan';
import { preflight } from '../provision/preflight';
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

/** `mcp-curated plan`: what apply would change. @returns exit code: 0 nothing, 2 something, 1 a fault that stops some of it */
export async function planCommand(
  { file, only }: ProvisionFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const instance = await openInstance(file, signal);
  const { surfaces: made, clients } = await planned(instance, only);
  const surfaces = await preflight(instance.api, made);
  const rows = [...surfaces.surfaces.map(surfaceRow), ...clients.map(clientRow)];
  output.result(
    {
      surfaces: surfaces.surfaces.map(surfaceRow).map(rowJson),
      clients: clients.map(clientRow).map(rowJson),
    },
    () => [...rows.flatMap((row) => [...rowLines(row), ...failureLines(row.error)]), summary(rows)],
  );
  if (rows.some(({ error }) => error !== null)) return 1;
  return rows.some(isChange) ? 2 : 0;
}

/** `mcp-curated apply`: makes the instance as the operator file says. @returns exit code: 0 done, 1 something failed */
export async function applyCommand(
  { file, only }: ProvisionFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const instance = await openInstance(file, signal);
  const { surfaces, clients } = await planned(instance, only);
  const options = { address: instance.address, signal, onProgress: output.progress };
  const served = await applyPlan(instance.api, surfaces, options);
  const used = await applyClients(instance.api, surfaces.owner, clients, options);
  const rows = [...surfaces.surfaces.map(surfaceRow), ...clients.map(clientRow)];
  const outcomes = [...served, ...used];
  output.result({ surfaces: served.map(appliedJson), clients: used.map(appliedJson) }, () => [
    ...rows.flatMap((row, index) => [...rowLines(row), ...outcomeLines(outcomes[index])]),
    summary(rows),
  ]);
  return outcomes.some(({ error }) => error !== null) ? 1 : 0;
}

/** Both plans, from one look at the instance. */
async function planned(
  { operator, api }: Instance,
  only: readonly string[],
): Promise<{ surfaces: Plan; clients: ClientPlan[] }> {
  const observed = await observe(api);
  return {
    surfaces: await makePlan(operator, observed, only),
    clients: await planClients(operator, observed, only),
  };
}

/** One line of a plan with what is below it. */
interface Row {
  readonly id: string;
  readonly action: SurfacePlan['action'];
  readonly workflowId: string | null;
  readonly changes: readonly Change[];
  readonly error: Failure | null;
}

function surfaceRow({ applicationId, action, changes, observed, error }: SurfacePlan): Row {
  return { id: applicationId, action, changes, workflowId: observed?.id ?? null, error };
}

function clientRow({ client, action, changes, observed, error }: ClientPlan): Row {
  return { id: client.id, action, changes, workflowId: observed?.id ?? null, error };
}

const isChange = ({ action }: Row) => action !== 'unchanged' && action !== 'retired';

function rowJson({ id, action, workflowId, changes, error }: Row): object {
  return { application_id: id, action, workflow: workflowId, changes, ...(error ? { error } : {}) };
}

function appliedJson({ applicationId, action, workflowId, notes, error }: Applied): object {
  return { application_id: applicationId, action, workflow: workflowId, notes, error };
}

function rowLines({ id, action, changes }: Row): string[] {
  return [
    `${id}: ${action}`,
    ...changes.map(({ field, from, to }) => `  ${field}: ${from === to ? from : `${from} -> ${to}`}`),
  ];
}

function outcomeLines(applied: Applied | undefined): string[] {
  if (!applied) return [];
  const { notes, error } = applied;
  return [...notes.map((note) => `  note: ${note}`), ...failureLines(error)];
}

function failureLines(error: Failure | null): string[] {
  return error ? [`  failed: ${error.code}: ${error.message}`] : [];
}

function summary(rows: readonly Row[]): string {
  const count = (...actions: Row['action'][]) =>
    String(rows.filter(({ action }) => actions.includes(action)).length);
  const failed = count('failed') === '0' ? '' : `, ${count('failed')} failed`;
  return `${count('create')} to create, ${count('update')} to update, ${count('retire')} to take out of service, ${count('unchanged', 'retired')} unchanged${failed}.`;
}
