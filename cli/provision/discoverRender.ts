import { parsePin } from '../../core/client/allowlist';
import type { Contract } from '../../core/contract/schema';
import type { Operator } from '../operator/load';
import type { Discovered, Pair } from './discover';
import { surfaceName } from './desired';
import { neutralReference, type ClientFormat, type Connection } from './clientFormats/connection';

export interface Rendered {
  readonly configuration: object;
  readonly text: string;
  /** References that the client does not resolve by itself. */
  readonly unresolved: readonly string[];
}

/**
 * The configuration of one client from the accepted pairs of a snapshot. Secrets are references unless they are to be
 * revealed; what only the client has is a reference always.
 */
export function renderClient(
  operator: Operator,
  { tokenOf }: Pick<Discovered, 'tokenOf'>,
  pairs: readonly Pair[],
  format: ClientFormat,
  reveal: boolean,
): Rendered {
  const unresolved = new Set<string>();
  const secretOf = ({ token, secret }: Connection): string => {
    if (token !== undefined) return token;
    const own = format.reference(secret);
    if (own !== undefined) return own;
    const neutral = neutralReference(secret);
    unresolved.add(neutral);
    return neutral;
  };
  const connections = pairs
    .filter(({ status }) => status === 'accepted')
    .map((pair) => connectionOf(operator, pair, reveal ? tokenOf(pair) : undefined));
  const configuration = format.render(connections, secretOf);
  const text = format.text?.(configuration) ?? JSON.stringify(configuration, null, 2);
  return { configuration, text: text.trimEnd(), unresolved: [...unresolved] };
}

function connectionOf(operator: Operator, pair: Pair, token: string | undefined): Connection {
  const { name, instructions } = contractOf(operator, pair.application_id);
  return {
    ...pair,
    title: name,
    instructions: instructions.trim(),
    managedName: surfaceName(operator.file.owner, pair.application_id),
    toolNames: pair.tools.map((text) => parsePin(text).name),
    token,
  };
}

function contractOf({ surfaces }: Operator, applicationId: string): Contract {
  const found = surfaces.find(({ surface }) => surface.application_id === applicationId);
  if (!found) throw new TypeError('A pair is made of a surface of the operator file.');
  return found.contract;
}
