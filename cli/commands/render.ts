import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDocument } from 'yaml';
import { expectedHashes, lintContract } from '../../core/contract/lint';
import { renderWorkflowFile } from '../../core/contract/render';
import { contractJsonSchema, contractSchema } from '../../core/contract/schema';
import { findingsOf, isSurface, readContracts } from '../contracts';
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
  const pinned = pin && !check ? await pinContracts(folder, only) : [];
  const files = await readContracts(folder, only);
  const findings = findingsOf(files);
  if (findings.length > 0) {
    for (const { file, line, path: at, reason } of findings)
      output.error(`${file}:${String(line)} ${at}: ${reason}`);
    return 1;
  }
  const outputs: [file: string, text: string][] = files
    .filter(isSurface)
    .map(({ folder: at, result }) => [path.join(at, 'workflow.json'), renderWorkflowFile(result.contract)]);
  outputs.push([
    path.join(folder, 'contract.schema.json'),
    `${JSON.stringify(contractJsonSchema(), null, 2)}\n`,
  ]);

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

/** Stamps `tools.schema_sha256` and `adapter.specification_sha256`, keeping comments and layout. */
async function pinContracts(folder: string, only: readonly string[]): Promise<string[]> {
  const changed: string[] = [];
  for (const { folder: at, text } of await readContracts(folder, only)) {
    const document = parseDocument(text);
    const parsed = contractSchema.safeParse(document.toJS());
    if (!parsed.success) continue;
    const { tools, adapter } = parsed.data;
    const { schema_sha256: schema, specification_sha256: specification } = expectedHashes(parsed.data);
    const pinned = text
      .replace(`schema_sha256: ${tools.schema_sha256}`, `schema_sha256: ${schema}`)
      .replace(
        `specification_sha256: ${adapter.specification_sha256}`,
        `specification_sha256: ${specification}`,
      );
    if (pinned === text || !lintContract(pinned, at).ok) continue;
    const file = path.join(at, 'contract.yml');
    await replaceFile(file, pinned);
    changed.push(file);
  }
  return changed;
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
