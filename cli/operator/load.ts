import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Contract } from '../../core/contract/schema';
import { readSource } from '../../core/contract/source';
import { findingLine, findingsOf, foldersIn, isSurface, readThese } from '../contracts';
import { OperatorError } from './error';
import { operatorSchema, type OperatorFile, type OperatorSurface } from './schema';
import { tighten } from './tighten';

/** One surface of an operator file with the contract that it deploys. */
export interface WantedSurface {
  readonly surface: OperatorSurface;
  /** Already tightened. */
  readonly contract: Contract;
}

export interface Operator {
  readonly file: OperatorFile;
  /** Where relative paths of the file start. */
  readonly folder: string;
  readonly surfaces: readonly WantedSurface[];
}

/** The contracts that the pack ships, beside the bundle and beside the sources. */
export function shippedWorkflows(): string {
  return path.resolve(__dirname, '..', '..', 'workflows');
}

/**
 * Reads an operator file and the contracts that it names. No secret is read yet.
 *
 * @throws OperatorError with file, line, path and reason
 */
export async function loadOperator(file: string): Promise<Operator> {
  const folder = path.dirname(path.resolve(file));
  const operator = parseOperator(await textOf(file), file);
  const contracts = await contractsOf(operator, folder);
  const surfaces = operator.surfaces.map((surface) => {
    const contract = contracts.get(surface.application_id);
    if (!contract) {
      throw new OperatorError(
        'application_unknown',
        `${surface.application_id} has no surface: its contract says why.`,
      );
    }
    return { surface, contract: tighten(contract, surface) };
  });
  return { file: operator, folder, surfaces };
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new OperatorError(
      'operator_file_unreadable',
      `${file} cannot be read (${code}); mcp-curated init writes one, --file names another.`,
      { cause: error },
    );
  }
}

/** @throws OperatorError `operator_file_invalid` with every fault on a line of its own */
export function parseOperator(text: string, file: string): OperatorFile {
  const source = readSource(text);
  if (Array.isArray(source)) {
    throw invalid(source.map(({ line, reason }) => `${file}:${String(line)} ${reason}`));
  }
  const parsed = operatorSchema.safeParse(source.data);
  if (parsed.success) return parsed.data;
  throw invalid(
    parsed.error.issues.map((issue) => {
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : undefined;
      const at = keys ? [...issue.path, keys[0] ?? ''] : issue.path;
      const reason = keys ? 'is not a known key' : issue.message.replace(/, received undefined$/, '');
      return `${file}:${String(source.lineOf(at))} ${at.map(String).join('.')}: ${reason}`;
    }),
  );
}

function invalid(lines: readonly string[]): OperatorError {
  return new OperatorError('operator_file_invalid', lines.join('\n'));
}

async function contractsOf(operator: OperatorFile, folder: string): Promise<Map<string, Contract>> {
  if (operator.surfaces.length === 0) return new Map();
  const at = operator.workflows === undefined ? shippedWorkflows() : path.resolve(folder, operator.workflows);
  const known = await foldersIn(at).catch((error: unknown) => {
    throw new OperatorError(
      'contract_invalid',
      `The folder of the contracts ${at} cannot be read; name another as workflows in the operator file.`,
      { cause: error },
    );
  });
  const wanted = operator.surfaces.map((surface) => surface.application_id);
  const unknown = wanted.filter((id) => !known.includes(id));
  if (unknown.length > 0) {
    throw new OperatorError(
      'application_unknown',
      `There is no contract for ${unknown.join(', ')}. Applications: ${known.join(', ')}.`,
    );
  }
  const files = await readThese(at, [...new Set(wanted)]);
  const findings = findingsOf(files);
  if (findings.length > 0) throw new OperatorError('contract_invalid', findings.map(findingLine).join('\n'));
  return new Map(files.filter(isSurface).map((file) => [file.applicationId, file.result.contract]));
}
