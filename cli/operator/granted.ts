import type { Contract } from '../../core/contract/schema';
import type { OperatorSurface } from './schema';

/** The tools of a surface that one of its consumers may call. The contract is already tightened. */
export function grantedTools(
  surface: OperatorSurface,
  contract: Contract,
  consumerId: string,
): readonly string[] {
  return surface.consumer_tools?.[consumerId] ?? contract.tools.allowlist;
}
