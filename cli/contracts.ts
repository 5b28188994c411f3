import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { lintContract, type Finding, type LintResult } from '../core/contract/lint';
import type { Contract } from '../core/contract/schema';

export interface ContractFile {
  readonly applicationId: string;
  /** Path as shown to a person, relative to the working directory. */
  readonly file: string;
  readonly folder: string;
  readonly text: string;
  readonly result: LintResult;
}

/**
 * Reads every `<folder>/<application_id>/contract.yml`, in alphabetical order.
 *
 * @param only application ids to read; all when empty
 * @throws Error when the folder cannot be read or an id in `only` does not exist
 */
export async function readContracts(folder: string, only: readonly string[] = []): Promise<ContractFile[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const ids = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const missing = only.filter((id) => !ids.includes(id));
  if (missing.length > 0) throw new Error(`There is no contract for ${missing.join(', ')} in ${folder}.`);
  const wanted = only.length === 0 ? ids : ids.filter((id) => only.includes(id));
  return await Promise.all(wanted.map(async (id) => await readContract(path.join(folder, id), id)));
}

async function readContract(folder: string, applicationId: string): Promise<ContractFile> {
  const absolute = path.join(folder, 'contract.yml');
  const file = path.relative(process.cwd(), absolute);
  const text = await readFile(absolute, 'utf8');
  return {
    applicationId,
    file,
    folder,
    text,
    result: withMatchingFolder(lintContract(text, file), file, applicationId),
  };
}

function withMatchingFolder(result: LintResult, file: string, folder: string): LintResult {
  if (!result.ok || (result.contract ?? result.disposition).application_id === folder) return result;
  const reason = `must be ${folder}, the name of its folder`;
  return { ok: false, findings: [{ file, path: 'application_id', line: 1, reason }] };
}

/** Whether the contract is that of a surface, not of a reviewed refusal. */
export function isSurface(
  file: ContractFile,
): file is ContractFile & { result: { ok: true; contract: Contract } } {
  return file.result.ok && file.result.contract !== undefined;
}

export function findingsOf(files: readonly ContractFile[]): Finding[] {
  return files.flatMap(({ result }) => (result.ok ? [] : result.findings));
}
