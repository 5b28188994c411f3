import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expectedHashes, lintContract, type Finding } from '../../core/contract/lint';
import { renderWorkflowFile } from '../../core/contract/render';
import { contractJsonSchemaFile, contractSchema } from '../../core/contract/schema';
import { readSource } from '../../core/contract/source';
import { findingLine, findingsOf, isSurface, readContracts, type ContractFile } from '../contracts';
import type { Output } from '../output';

export interface RenderFlags {
  /** Write nothing; exit 1 when a file differs. */
  readonly check: boolean;
  /** Write the two hashes into the contract first, after a person has reviewed the change. */
  readonly pin: boolean;
}

/** `mcp-curated render`: `workflow.json` of every contract and the JSON Schema for editors. @returns exit code */
export async function renderCommand(
  folder: string,
  only: readonly string[],
  { check, pin }: RenderFlags,
  output: Output,
): Promise<number> {
  const pinned: string[] = [];
  const faults = new Map<string, readonly Finding[]>();
  for (const file of pin ? await readContracts(folder, only) : []) {
    const outcome = await pinContract(file);
    if (outcome === 'pinned') pinned.push(path.join(file.folder, 'contract.yml'));
    else if (outcome !== 'unchanged') faults.set(file.applicationId, outcome);
  }
  const files = await readContracts(folder, only);
  const findings = files.flatMap((file) => faults.get(file.applicationId) ?? findingsOf([file]));
  if (findings.length > 0) {
    for (const finding of findings) output.error(findingLine(finding));
    return 1;
  }
  const outputs: [file: string, text: string][] = files
    .filter(isSurface)
    .map(({ folder: at, result }) => [path.join(at, 'workflow.json'), renderWorkflowFile(result.contract)]);
  outputs.push([path.join(folder, 'contract.schema.json'), contractJsonSchemaFile()]);

  const changed: string[] = [...pinned];
  for (const [file, text] of outputs) {
    if ((await textOf(file)) === text) continue;
    changed.push(file);
    if (!check) await replaceFile(file, text);
  }
  const shown = changed.map((file) => path.relative(process.cwd(), file));
  output.result({ changed: shown }, () =>
    shown.length === 0
      ? ['Everything is rendered.']
      : shown.map((file) => `${check ? 'differs' : 'written'}: ${file}`),
  );
  return check && changed.length > 0 ? 1 : 0;
}

const UNPINNED = `sha256:${'0'.repeat(64)}`;

/**
 * Writes the two hashes whatever stood in their place, keeping comments and layout.
 *
 * @returns what is wrong besides the hashes: a contract with other faults is not signed off
 */
async function pinContract({
  folder,
  file,
  text,
}: ContractFile): Promise<'pinned' | 'unchanged' | readonly Finding[]> {
  const blank = withHashes(text, { schema_sha256: UNPINNED, specification_sha256: UNPINNED });
  const source = readSource(blank ?? '');
  if (blank === undefined || Array.isArray(source)) return 'unchanged';
  const parsed = contractSchema.safeParse(source.data);
  const pinned = parsed.success ? (withHashes(text, expectedHashes(parsed.data)) ?? text) : blank;
  const linted = lintContract(pinned, file);
  if (!linted.ok) return linted.findings;
  if (pinned === text) return 'unchanged';
  await replaceFile(path.join(folder, 'contract.yml'), pinned);
  return 'pinned';
}

function withHashes(text: string, hashes: ReturnType<typeof expectedHashes>): string | undefined {
  const places: [path: string[], hash: string][] = [
    [['tools', 'schema_sha256'], hashes.schema_sha256],
    [['adapter', 'specification_sha256'], hashes.specification_sha256],
  ];
  let written: string | undefined = text;
  for (const [at, hash] of places) {
    const source = readSource(written);
    written = Array.isArray(source) ? undefined : source.withValue(at, hash);
    if (written === undefined) return undefined;
  }
  return written;
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whole or not at all: an interrupted run leaves no half-written file. */
async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${String(process.pid)}.tmp`;
  await writeFile(temporary, text);
  await rename(temporary, file);
}
