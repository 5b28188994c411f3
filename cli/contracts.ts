import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { lintContract, type Finding, type LintResult } from '../core/contract/lint';
import type { Contract } from '../core/contract/schema';
import { readSource } from '../core/contract/source';

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
 * @param only application ids to return; all when empty
 * @throws Error when the folder cannot be read or an id in `only` does not exist
 */
export async function readContracts(folder: string, only: readonly string[] = []): Promise<ContractFile[]> {
  const ids = await foldersIn(folder);
  const missing = only.filter((id) => !ids.includes(id));
  if (missing.length > 0) throw new Error(`There is no contract for ${missing.join(', ')} in ${folder}.`);
  return withPathsOfTheirOwn(await readThese(folder, ids)).filter(
    ({ applicationId }) => only.length === 0 || only.includes(applicationId),
  );
}

/** The contracts of these applications, each by itself: what they have in common with others is not looked at. */
export async function readThese(folder: string, ids: readonly string[]): Promise<ContractFile[]> {
  return await Promise.all(ids.map(async (id) => await readContract(path.join(folder, id), id)));
}

/** The ids of all applications in a folder of contracts, in alphabetical order. */
export async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    throw new Error(
      `The folder ${folder} cannot be read (${codeOf(error)}); name another with --workflows.`,
      {
        cause: error,
      },
    );
  }
}

async function readContract(folder: string, applicationId: string): Promise<ContractFile> {
  const absolute = path.join(folder, 'contract.yml');
  const file = path.relative(process.cwd(), absolute);
  try {
    const text = await readFile(absolute, 'utf8');
    const result = withMatchingFolder(lintContract(text, file), file, applicationId);
    return { applicationId, file, folder, text, result };
  } catch (error) {
    const reason = `cannot be read (${codeOf(error)}); every folder needs a contract`;
    const findings = [{ file, path: '', line: 1, reason }];
    return { applicationId, file, folder, text: '', result: { ok: false, findings } };
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}

/** n8n serves a path once: of two contracts with the same one, the second is at fault. */
function withPathsOfTheirOwn(files: readonly ContractFile[]): ContractFile[] {
  const owners = new Map<string, string>();
  return files.map((file) => {
    if (!isSurface(file)) return file;
    const { path: served } = file.result.contract.endpoint;
    const owner = owners.get(served);
    if (owner === undefined) {
      owners.set(served, file.file);
      return file;
    }
    const at = ['endpoint', 'path'];
    const source = readSource(file.text);
    const line = Array.isArray(source) ? 1 : source.lineOf(at);
    const reason = `is the path of ${owner} already`;
    const findings = [{ file: file.file, path: at.join('.'), line, reason }];
    return { ...file, result: { ok: false, findings } };
  });
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

/** A finding as a person reads it. */
export function findingLine({ file, line, path: at, reason }: Finding): string {
  return `${file}:${String(line)} ${at === '' ? '' : `${at}: `}${reason}`;
}
