import { sha256Of } from '../../core/contract/canonical';
import type { N8nWorkflow } from '../n8n/publicApi';
import type { Operator } from '../operator/load';
import { planClients } from './clients';
import { applicationIdOf, isOwned, type Observed } from './observe';
import { makePlan, type Failure } from './plan';
import { ledgerOf, servedPath } from './workflow';

/** One managed workflow, or one that should be there. Fields are those of JSON output, hence their spelling. */
export interface StatusRow {
  readonly application_id: string;
  /** `unnamed`: managed, but not in the operator file any more. */
  readonly kind: 'surface' | 'client' | 'unnamed';
  /** Id of the workflow; `null` where there is none. */
  readonly workflow: string | null;
  readonly active: boolean;
  /** As clients reach it; `null` for what has none. */
  readonly endpoint: string | null;
  /** Hash of the contract that is deployed and of the one that would be. */
  readonly contract: { readonly deployed: string | null; readonly current: string | null };
  /** Whom n8n lets in, as the last run wrote it. */
  readonly consumers: readonly { readonly id: string; readonly expires_at: string | null }[];
  /** Whether apply would change something; `null` where that cannot be told. */
  readonly drift: boolean | null;
  /** Why it cannot be told. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/**
 * What is managed in an instance: what the operator file names in its order, then what it does not name any more. One
 * of which nothing can be told, such as a surface whose secret cannot be read, hides no other.
 *
 * @param publicAddress address of n8n as clients reach it
 */
export async function statusOf(
  operator: Operator,
  observed: Observed,
  publicAddress: string,
): Promise<StatusRow[]> {
  const { owner, surfaces, clients } = operator.file;
  const surfaceIds = surfaces.map((surface) => surface.application_id);
  const clientIds = clients.map(({ id }) => id);
  const named = new Set([...surfaceIds, ...clientIds]);
  const currentOf = new Map(
    operator.surfaces.map(({ surface, contract }) => [surface.application_id, sha256Of(contract)]),
  );
  const comparisons = [
    ...(await makePlan(operator, observed)).surfaces.map(compared),
    ...(await planClients(operator, observed)).map((plan) =>
      compared({ applicationId: plan.client.id, action: plan.action, error: plan.error }),
    ),
  ];
  return comparisons.map(({ id, drift, error }) => {
    const kind = surfaceIds.includes(id) ? 'surface' : clientIds.includes(id) ? 'client' : 'unnamed';
    const found = observed.workflows.find(
      (workflow) => isOwned(workflow, owner) && applicationIdOf(workflow, owner, named) === id,
    );
    const part = observedPart(found, publicAddress);
    const contract = { deployed: part.deployed, current: currentOf.get(id) ?? null };
    const { workflow, active, endpoint, consumers } = part;
    return { application_id: id, kind, workflow, active, endpoint, contract, consumers, drift, error };
  });
}

interface Comparison {
  readonly id: string;
  readonly drift: boolean | null;
  readonly error: Failure | null;
}

function compared(plan: {
  readonly applicationId: string;
  readonly action: string;
  readonly error: Failure | null;
}): Comparison {
  const { applicationId: id, action, error } = plan;
  return { id, drift: error ? null : action !== 'unchanged' && action !== 'retired', error };
}

type ObservedPart = Pick<StatusRow, 'workflow' | 'active' | 'endpoint' | 'consumers'> & {
  readonly deployed: string | null;
};

function observedPart(found: N8nWorkflow | undefined, publicAddress: string): ObservedPart {
  const ledger = found && ledgerOf(found);
  const path = found && servedPath(found);
  return {
    workflow: found?.id ?? null,
    active: found?.active ?? false,
    endpoint: path === undefined ? null : `${publicAddress}/mcp/${path}`,
    deployed: ledger?.contract ?? null,
    consumers: (ledger?.served?.consumers.rows ?? []).map(({ id, expires_at }) => ({ id, expires_at })),
  };
}
