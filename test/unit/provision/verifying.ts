import type { Check } from '../../../cli/provision/verifyReport';
import type { Operator } from './harness';

/** Runs verify and gives its checks. */
export async function verifiedBy(
  operator: Operator,
  ...args: string[]
): Promise<{ code: number; checks: Check[] }> {
  const { code, report } = await operator.json('verify', ...args);
  return { code, checks: report['checks'] as Check[] };
}

/** The checks of one name as `consumer status code`. */
export const told = (checks: readonly Check[], name: Check['check'], id = 'web-app-n8n') =>
  checks
    .filter(({ application_id, check }) => application_id === id && check === name)
    .map(({ consumer, status, code }) => [consumer ?? '-', status, code ?? ''].join(' ').trim());

export const failures = (checks: readonly Check[]) =>
  checks
    .filter(({ status }) => status === 'failed')
    .map(({ application_id, check, code }) => `${application_id} ${check} ${code ?? ''}`);
