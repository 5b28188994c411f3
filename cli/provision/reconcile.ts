import type { N8nPublicApi } from '../n8n/publicApi';
import type { Operator } from '../operator/load';
import { applyPlan, type ApplyOptions } from './apply';
import { observe } from './observe';
import { makePlan } from './plan';
import { RotationError } from './rotationError';

/**
 * Applies the surfaces that a rotation is about, as their secret files stand now.
 *
 * @throws RotationError `apply_failed` for the first surface that could not be applied; what apply throws
 */
export async function reconcile(
  api: N8nPublicApi,
  operator: Operator,
  only: readonly string[],
  options: ApplyOptions,
): Promise<void> {
  const plan = await makePlan(operator, await observe(api), only);
  const failed = (await applyPlan(api, plan, options)).find(({ error }) => error !== null);
  if (failed?.error)
    throw new RotationError('apply_failed', `${failed.applicationId}: ${failed.error.message}`);
}
