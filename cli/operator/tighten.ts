import { expectedHashes } from '../../core/contract/lint';
import type { Contract } from '../../core/contract/schema';
import type { Limits } from '../../core/policy/limits';
import { OperatorError } from './error';
import type { OperatorSurface } from './schema';

/**
 * A contract as one operator deploys it: fewer tools, lower limits, fewer consumers. An operator file can take away
 * and never add; what was reviewed stays the upper bound.
 *
 * @throws OperatorError `override_widens` that names the override
 */
export function tighten(contract: Contract, surface: OperatorSurface): Contract {
  const tools = surface.tools ?? contract.tools.allowlist;
  const names = new Set(tools);
  const operations = contract.operations.filter(({ name }) => names.has(name));
  for (const name of [...tools, ...Object.values(surface.consumer_tools ?? {}).flat()]) {
    if (!operations.some((operation) => operation.name === name)) {
      throw widens(
        surface,
        `the tool ${name}, which ${surface.tools ? 'the surface' : 'the contract'} does not have`,
      );
    }
  }
  for (const id of surface.consumers) {
    if (!contract.allowed_consumers.includes(id))
      throw widens(surface, `${id}, which the contract does not admit`);
  }
  const tightened: Contract = {
    ...contract,
    operations,
    allowed_consumers: contract.allowed_consumers.filter((id) => surface.consumers.includes(id)),
    limits: lowered(contract.limits, surface),
    tools: { ...contract.tools, allowlist: contract.tools.allowlist.filter((name) => names.has(name)) },
  };
  // Who may call is in no hash; those of the contract were checked when it was read.
  if (surface.tools === undefined && surface.limits === undefined) return tightened;
  const { schema_sha256, specification_sha256 } = expectedHashes(tightened);
  return {
    ...tightened,
    tools: { ...tightened.tools, schema_sha256 },
    adapter: { ...tightened.adapter, specification_sha256 },
  };
}

function lowered(limits: Limits, surface: OperatorSurface): Limits {
  const wanted = { ...limits };
  for (const [name, value] of Object.entries(surface.limits ?? {}) as [keyof Limits, number][]) {
    if (value > limits[name]) {
      throw widens(surface, `${name} ${String(value)}, and the contract allows ${String(limits[name])}`);
    }
    wanted[name] = value;
  }
  // A page cannot be larger than everything that may be returned.
  return { ...wanted, page_size: Math.min(wanted.page_size, wanted.result_items) };
}

function widens({ application_id }: OperatorSurface, what: string): OperatorError {
  return new OperatorError(
    'override_widens',
    `${application_id} asks for ${what}; an override can only tighten.`,
  );
}
