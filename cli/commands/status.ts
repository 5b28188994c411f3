import { foreignText } from '../../core/policy/redaction';
import { instanceAddress } from '../n8n/publicApi';
import { observe } from '../provision/observe';
import { statusOf, type StatusRow } from '../provision/status';
import type { Output } from '../output';
import { openInstance } from './provision';

export interface StatusFlags {
  readonly file: string;
}

/**
 * `mcp-curated status`: what is managed in an n8n, a line each. Reads only.
 *
 * @returns exit code: 0, or 1 when of something it cannot be told whether it drifts
 */
export async function statusCommand(
  { file }: StatusFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const { operator, api, address } = await openInstance(file, signal);
  const publicAddress = instanceAddress(operator.file.n8n.public_address ?? address);
  const rows = await statusOf(operator, await observe(api), publicAddress);
  output.result({ owner: operator.file.owner, managed: rows }, () =>
    rows.length === 0 ? ['Nothing is managed here.'] : rows.map(line),
  );
  return rows.some(({ error }) => error !== null) ? 1 : 0;
}

function line(row: StatusRow): string {
  const { application_id: id, kind, workflow, active, endpoint, drift, error } = row;
  const parts = [
    workflow === null ? 'no workflow' : `${active ? 'active' : 'inactive'}, workflow ${workflow}`,
    endpoint === null ? '' : foreignText(endpoint, 300),
    contractText(row),
    consumersText(row),
    drift === null
      ? `drift unknown: ${error?.code ?? ''}: ${error?.message ?? ''}`
      : `drift ${drift ? 'yes' : 'no'}`,
  ];
  const what = kind === 'surface' ? '' : kind === 'client' ? ' (client)' : ' (not in the operator file)';
  return `${foreignText(id, 80)}${what}: ${parts.filter((part) => part !== '').join('; ')}`;
}

function contractText({ kind, workflow, contract: { deployed, current } }: StatusRow): string {
  if (kind !== 'surface' || workflow === null) return '';
  if (deployed === null) return 'contract unknown';
  return deployed === current
    ? `contract ${short(deployed)}`
    : `contract ${short(deployed)}, now ${short(current)}`;
}

/** Enough of a hash for a person to tell two apart; JSON has all of it. */
function short(hash: string | null): string {
  return hash === null ? 'none' : hash.slice(0, 'sha256:'.length + 12);
}

function consumersText({ consumers }: StatusRow): string {
  if (consumers.length === 0) return '';
  const shown = consumers.map(({ id, expires_at }) =>
    expires_at === null ? id : `${id} until ${foreignText(expires_at, 40)}`,
  );
  return `consumers ${shown.map((text) => foreignText(text, 160)).join(', ')}`;
}
