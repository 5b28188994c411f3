import { NODE_TYPES } from '../../core/contract/render';
import type { JsonObject, N8nWorkflow } from '../n8n/publicApi';
import { PlanError, type Observed } from './observe';

/**
 * n8n registers a path once for each method, whatever kind of node asks for it. 2.x refuses the second one when it is
 * activated; 1.x lets it take the path over without a word.
 *
 * @param isOurs whether a workflow is that of the surface, or leaves the path in the same run
 * @throws PlanError `path_taken`
 */
export function refuseTakenPath(
  path: string,
  { workflows }: Observed,
  isOurs: (workflow: N8nWorkflow) => boolean,
): void {
  const foreign = workflows.find(
    (workflow) => workflow.active && runningNodes(workflow).some(takes(path)) && !isOurs(workflow),
  );
  if (!foreign) return;
  throw new PlanError(
    'path_taken',
    `The workflow ${foreign.id} serves /mcp/${path} already; deactivate it, and run it again.`,
  );
}

/** What is published may differ from the draft that is listed beside it. */
function runningNodes(workflow: N8nWorkflow): readonly JsonObject[] {
  const { activeVersion } = workflow as { activeVersion?: { nodes?: unknown } | null };
  const published = activeVersion?.nodes;
  return Array.isArray(published) ? [...workflow.nodes, ...(published as JsonObject[])] : workflow.nodes;
}

const takes =
  (path: string) =>
  ({ type, disabled, parameters }: JsonObject): boolean => {
    if (typeof type !== 'string' || disabled === true) return false;
    const given = (parameters ?? {}) as JsonObject;
    if (typeof given['path'] !== 'string' || given['path'].replace(/^\/+|\/+$/g, '') !== path) return false;
    if (type === NODE_TYPES.trigger) return true;
    // A Webhook node listens to GET unless it says otherwise; all other triggers with a path listen to POST.
    if (!/\.webhook$/i.test(type)) return /Trigger$/i.test(type);
    return [given['httpMethod'] ?? 'GET'].flat().includes('POST');
  };
