import { Command, CommanderError } from 'commander';
import { packVersion } from '../core/version';
import type { Exit } from './registered';
import { registerContracts } from './registerContracts';
import { registerProvisioning } from './registerProvisioning';
import { registerServers } from './registerServers';

/** The command line. Exit codes: 0 nothing to do or done, 1 error or findings, 2 something would or did change. */
export function createProgram(exit: Exit): Command {
  const program = new Command('mcp-curated')
    .description('Curated MCP surfaces for n8n: check, render, provision, pin.')
    .exitOverride()
    .version(packVersion)
    .option('--json', 'print results as JSON')
    .option('--quiet', 'print nothing but errors');
  registerContracts(program, exit);
  registerProvisioning(program, exit);
  registerServers(program, exit);
  return program;
}

if (require.main === module) {
  // Whoever reads may have seen enough: mcp-curated schema | head
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
  const program = createProgram((code) => {
    process.exitCode = code;
  });
  program.parseAsync().catch((error: unknown) => {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      process.stderr.write(`${sentenceOf(error)}\n`);
      process.exitCode = 1;
    }
  });
}

/** `code: sentence` where an error has a code of ours. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The command failed.';
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[a-z][a-z_]+$/.test(code)
    ? `${code}: ${error.message}`
    : error.message;
}
