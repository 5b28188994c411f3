import type { Contract } from '../../core/contract/schema';
import { OperatorError } from '../operator/error';
import type { OperatorSurface } from '../operator/schema';

/** An upstream credential without its secret, as the ledger shows it. */
export interface DescribedUpstream {
  readonly base_url: string;
  readonly authentication: OperatorSurface['upstream']['authentication'];
  readonly name: string;
  /** Lines of `name = value`, in the order of their names. */
  readonly settings: string;
  readonly test_path: string;
}

/** Kinds whose secret is used as the contract says; no other kind could stand in for them. */
const MADE_BY_CONTRACT: readonly string[] = ['body', 'session', 'bigbluebutton', 'yourls'];

/**
 * What the operator file says of an upstream, completed and checked by what its contract says.
 *
 * @throws OperatorError `operator_file_invalid`
 */
export function describedUpstream(
  upstream: OperatorSurface['upstream'],
  { application_id: id, adapter }: Contract,
): DescribedUpstream {
  const { base_url, authentication, name, settings, test_path } = upstream;
  const { kind, name: usual, optional } = adapter.authentication;
  const fits = authentication === kind || (optional && authentication === 'none');
  if (!fits && (MADE_BY_CONTRACT.includes(kind) || MADE_BY_CONTRACT.includes(authentication))) {
    throw invalid(`${id} takes the authentication ${kind}, not ${authentication}.`);
  }
  const wanted = Object.keys(adapter.settings ?? {});
  const missing = wanted.filter((setting) => settings[setting] === undefined);
  if (missing.length > 0) throw invalid(`${id} needs the settings ${missing.join(', ')} under upstream.`);
  const unknown = Object.keys(settings).filter((setting) => !wanted.includes(setting));
  if (unknown.length > 0) throw invalid(`${id} has no settings ${unknown.join(', ')}.`);
  const named = authentication === 'header' || authentication === 'query';
  return {
    base_url,
    authentication,
    name: name ?? (named && authentication === kind ? (usual ?? '') : ''),
    settings: wanted
      .sort()
      .map((setting) => `${setting} = ${[settings[setting] ?? []].flat().join(', ')}`)
      .join('\n'),
    test_path: test_path ?? adapter.test_path,
  };
}

function invalid(message: string): OperatorError {
  return new OperatorError('operator_file_invalid', message);
}
