import { isFitting, type Contract } from '../../core/contract/schema';
import { OperatorError } from '../operator/error';
import type { OperatorSurface } from '../operator/schema';

/** An upstream credential without its secret, as the ledger shows it. */
export interface DescribedUpstream {
  readonly base_url: string;
  readonly authentication: string;
  readonly name: string;
  /** Lines of `name = value`, in the order of their names. */
  readonly settings: string;
  readonly test_path: string;
  /** Whose secrets are there, where every consumer has its own. */
  readonly secret_consumers?: string | undefined;
}

export type WebUpstream = Extract<OperatorSurface['upstream'], { base_url: string }>;

/**
 * What the operator file says of an upstream, completed and checked by what its contract says.
 *
 * @throws OperatorError `operator_file_invalid`
 */
export function describedUpstream(upstream: WebUpstream, contract: Contract): DescribedUpstream {
  const { application_id: id, adapter } = contract;
  const { base_url, authentication, name, settings, test_path, consumer_secrets: secrets } = upstream;
  const { kind, name: usual } = adapter.authentication;
  if (!isFitting(adapter.authentication, authentication)) {
    throw invalid(`${id} takes the authentication ${kind}, not ${authentication}.`);
  }
  const named = authentication === 'header' || authentication === 'query';
  return {
    base_url,
    authentication,
    name: name ?? (named && authentication === kind ? (usual ?? '') : ''),
    settings: settingLines(settings, contract),
    test_path: test_path ?? ('test_path' in adapter ? adapter.test_path : '/'),
    ...(secrets === undefined ? {} : { secret_consumers: Object.keys(secrets).sort().join(', ') }),
  };
}

/**
 * The settings that a contract needs, as lines of `name = value` in the order of their names.
 *
 * @throws OperatorError `operator_file_invalid` for one that is missing or that the contract does not know
 */
export function settingLines(
  settings: WebUpstream['settings'],
  { application_id: id, adapter }: Contract,
): string {
  const wanted = Object.keys(adapter.settings ?? {});
  const missing = wanted.filter((setting) => settings[setting] === undefined);
  if (missing.length > 0) throw invalid(`${id} needs the settings ${missing.join(', ')} under upstream.`);
  const unknown = Object.keys(settings).filter((setting) => !wanted.includes(setting));
  if (unknown.length > 0) throw invalid(`${id} has no settings ${unknown.join(', ')}.`);
  return wanted
    .sort()
    .map((setting) => `${setting} = ${[settings[setting] ?? []].flat().join(', ')}`)
    .join('\n');
}

function invalid(message: string): OperatorError {
  return new OperatorError('operator_file_invalid', message);
}
