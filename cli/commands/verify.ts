import { instanceAddress } from '../n8n/publicApi';
import { loadOperator } from '../operator/load';
import { verify } from '../provision/verify';
import type { Check } from '../provision/verifyReport';
import type { Output } from '../output';

export interface VerifyFlags {
  readonly file: string;
  /** Application ids; all when empty. */
  readonly only: readonly string[];
}

/**
 * `mcp-curated verify`: whether every surface lets in whom it should, shows what it should, and nothing else. Needs no
 * API key.
 *
 * @returns exit code: 0 nothing failed, 1 something did
 */
export async function verifyCommand(
  { file, only }: VerifyFlags,
  output: Output,
  signal: AbortSignal,
): Promise<number> {
  const operator = await loadOperator(file);
  const checks = await verify(operator, only, {
    address: instanceAddress(operator.file.n8n.address),
    signal,
    onProgress: output.progress,
    now: Date.now(),
  });
  output.result({ summary: countsOf(checks), checks }, () => lines(checks));
  return checks.some(({ status }) => status === 'failed') ? 1 : 0;
}

function countsOf(checks: readonly Check[]): Record<Check['status'], number> {
  const count = (status: Check['status']) => checks.filter((check) => check.status === status).length;
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

function lines(checks: readonly Check[]): string[] {
  const ids = [...new Set(checks.map((check) => check.application_id))];
  const { passed, failed, skipped } = countsOf(checks);
  return [
    ...ids.flatMap((id) => [id, ...checks.filter((check) => check.application_id === id).map(line)]),
    `${String(passed)} passed, ${String(failed)} failed, ${String(skipped)} skipped.`,
  ];
}

function line({ consumer, check, status, code, message }: Check): string {
  const who = consumer === null ? '' : ` ${consumer}`;
  return `  ${status} ${check}${who}: ${code === null ? '' : `${code}: `}${message}`;
}
