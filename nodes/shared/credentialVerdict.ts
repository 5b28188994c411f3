import type { INodeCredentialTestResult } from 'n8n-workflow';
import { PolicyError } from '../../core/policy/errors';

/**
 * What the credential dialog shows of a connection test; never more of a failure than a caller may know.
 *
 * @param unexplained for a failure that says nothing that may be shown
 */
export async function credentialVerdict(
  check: () => string | Promise<string>,
  unexplained = 'The test failed.',
): Promise<INodeCredentialTestResult> {
  try {
    return { status: 'OK', message: await check() };
  } catch (error) {
    return { status: 'Error', message: error instanceof PolicyError ? error.message : unexplained };
  }
}
