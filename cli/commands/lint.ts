import { findingsOf, readContracts } from '../contracts';
import type { Output } from '../output';

/** `mcp-curated lint`: every fault with file, line, path and reason. @returns exit code */
export async function lintCommand(folder: string, only: readonly string[], output: Output): Promise<number> {
  const files = await readContracts(folder, only);
  const findings = findingsOf(files);
  output.result({ contracts: files.length, findings }, () =>
    findings.length === 0
      ? [`${String(files.length)} contracts are valid.`]
      : findings.map(({ file, line, path, reason }) => `${file}:${String(line)} ${path}: ${reason}`),
  );
  return findings.length === 0 ? 0 : 1;
}
