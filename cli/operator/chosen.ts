import { OperatorError } from './error';
import type { Operator, WantedSurface } from './load';

/**
 * The surfaces that `--only` names; all when it names none.
 *
 * @throws OperatorError `application_unknown` for one that the operator file does not have
 */
export function chosenSurfaces({ surfaces }: Operator, only: readonly string[]): readonly WantedSurface[] {
  const known = surfaces.map(({ surface }) => surface.application_id);
  const missing = only.filter((id) => !known.includes(id));
  if (missing.length > 0) {
    throw new OperatorError(
      'application_unknown',
      `The operator file has no surface ${missing.join(', ')}. Surfaces: ${known.join(', ') || 'none'}.`,
    );
  }
  return surfaces.filter(({ surface }) => only.length === 0 || only.includes(surface.application_id));
}
