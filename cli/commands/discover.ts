import { instanceAddress } from '../n8n/publicApi';
import { OperatorError } from '../operator/error';
import { loadOperator, type Operator } from '../operator/load';
import { CLIENT_FORMATS, type FormatName } from '../provision/clientFormats';
import type { ClientFormat } from '../provision/clientFormats/connection';
import { discover, type Pair } from '../provision/discover';
import { renderClient } from '../provision/discoverRender';
import type { Output } from '../output';

export interface DiscoverFlags {
  readonly file: string;
  /** Consumers to look at; if none, that of the format, or all. */
  readonly consumer: readonly string[];
  readonly format?: FormatName;
  readonly strict: boolean;
  readonly reveal: boolean;
}

/**
 * `mcp-curated discover`: which consumer reaches which surface, or the configuration of a client made of it.
 *
 * @returns exit code: 1 when `--strict` and a pair that the operator file asks for was rejected
 */
export async function discoverCommand(
  flags: DiscoverFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const operator = await loadOperator(flags.file);
  const format = flags.format && CLIENT_FORMATS[flags.format];
  if (flags.reveal && !format) {
    throw new OperatorError('reveal_without_format', '--reveal shows secrets in a --format, so name one.');
  }
  const chosen = consumersOf(operator, flags.consumer, format);
  const { n8n } = operator.file;
  const discovered = await discover(operator, {
    address: instanceAddress(n8n.address),
    publicAddress: instanceAddress(n8n.public_address ?? n8n.address),
    signal,
    now: Date.now(),
  });
  const { sha256, pairs } = discovered.snapshot;
  const shown = pairs.filter(({ consumer }) => chosen.includes(consumer));
  const missed = shown.filter(({ requested, status }) => requested && status === 'rejected');
  if (format) {
    const { configuration, text, unresolved } = renderClient(
      operator,
      discovered,
      shown,
      format,
      flags.reveal,
    );
    for (const pair of missed) output.error(pairLine(pair));
    for (const reference of unresolved) {
      output.note(`note: the client does not resolve ${reference}; put the secret there when you deploy.`);
    }
    output.result({ snapshot: sha256, pairs: shown, configuration }, () => [text]);
  } else {
    output.result({ snapshot: sha256, pairs: shown }, () => [...shown.map(pairLine), summary(shown)]);
  }
  return flags.strict && missed.length > 0 ? 1 : 0;
}

/** A client has one bearer, so a configuration is made for one consumer, except where the format shows all of them. */
function consumersOf(
  { file: { consumers } }: Operator,
  named: readonly string[],
  format: ClientFormat | undefined,
): readonly string[] {
  const known = consumers.map(({ id }) => id);
  const usual = format?.consumer;
  const wanted = named.length > 0 ? named : usual === undefined ? known : [usual];
  const missing = wanted.filter((id) => !known.includes(id));
  if (missing.length > 0) {
    throw new OperatorError(
      'consumer_unknown',
      `The operator file has no consumer ${missing.join(', ')}; name another with --consumer. Consumers: ${known.join(', ') || 'none'}.`,
    );
  }
  if (usual !== undefined && wanted.length > 1) {
    throw new OperatorError(
      'consumer_ambiguous',
      'A client is configured with the bearer of one consumer; name one with --consumer, or use --format json.',
    );
  }
  return wanted;
}

function pairLine({ application_id: id, consumer, status, code, message }: Pair): string {
  return `${id} -> ${consumer}: ${status}${code === null ? '' : `: ${code}: ${message ?? ''}`}`;
}

function summary(pairs: readonly Pair[]): string {
  const accepted = pairs.filter(({ status }) => status === 'accepted').length;
  return `${String(accepted)} accepted, ${String(pairs.length - accepted)} rejected.`;
}
