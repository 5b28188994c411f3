import { findingLine, findingsOf, readContracts } from '../contracts';
import { readDispositions } from '../dispositions';
import type { Output } from '../output';

/** `mcp-curated lint`: every fault with file, line, path and reason. @returns exit code */
export async function lintCommand(folder: string, only: readonly string[], output: Output): Promise<number> {
  const files = await readContracts(folder, only);
  const read = only.length === 0 ? await readDispositions(folder) : undefined;
  const findings = [...findingsOf(files), ...(read?.ok === false ? read.findings : [])];
  const dispositions = read?.ok ? read.dispositions.length : 0;
  output.result({ contracts: files.length, dispositions, findings }, () =>
    findings.length === 0
      ? [files.length === 1 ? '1 contract is valid.' : `${String(files.length)} contracts are valid.`]
      : findings.map(findingLine),
  );
  return findings.length === 0 ? 0 : 1;
}
