import path from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { contractJsonSchemaFile } from '../core/contract/schema';
import { lintCommand } from './commands/lint';
import { pinCommand, type PinFlags } from './commands/pin';
import { renderCommand } from './commands/render';
import { tokenCommand } from './commands/token';
import { createOutput, type Output, type OutputFormat } from './output';
import { packVersion } from '../core/version';

interface CommonOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const only = () =>
  new Option('--only <application_id...>', 'just these contracts').default([] as string[], 'all contracts');
const folder = () => new Option('--workflows <folder>', 'where the contracts are').default('workflows');

function outputOf(command: Command): Output {
  const { json, quiet } = command.optsWithGlobals<CommonOptions>();
  const format: OutputFormat = json ? 'json' : quiet ? 'quiet' : 'human';
  return createOutput(format);
}

function seconds(text: string): number {
  const value = Number(text);
  if (value >= 1 && value <= 3_600) return value;
  throw new InvalidArgumentError('It must be between 1 and 3600.');
}

/** The command line. Exit codes: 0 done, 1 error or findings, 2 something has changed. */
export function createProgram(exit: (code: number) => void): Command {
  const program = new Command('mcp-curated')
    .description('Curated MCP surfaces for n8n: check and render contracts.')
    .exitOverride()
    .version(packVersion)
    .option('--json', 'print results as JSON')
    .option('--quiet', 'print nothing but errors');

  program
    .command('lint')
    .description('check every contract; prints file, line, path and reason of each fault')
    .addOption(folder())
    .addOption(only())
    .addHelpText('after', '\nExample:\n  mcp-curated lint --only web-app-prometheus')
    .action(async (options: { workflows: string; only: string[] }, command: Command) => {
      exit(await lintCommand(path.resolve(options.workflows), options.only, outputOf(command)));
    });

  program
    .command('render')
    .description('write workflow.json of every contract')
    .addOption(folder())
    .addOption(only())
    .option('--check', 'write nothing; exit 1 when a file differs', false)
    .addOption(
      new Option('--pin', 'write the hashes of a reviewed change into the contract first')
        .default(false)
        .conflicts('check'),
    )
    .addHelpText('after', '\nExample:\n  mcp-curated render --pin --only web-app-prometheus')
    .action(
      async (
        options: { workflows: string; only: string[]; check: boolean; pin: boolean },
        command: Command,
      ) => {
        exit(await renderCommand(path.resolve(options.workflows), options.only, options, outputOf(command)));
      },
    );

  program
    .command('schema')
    .description('print the JSON Schema of contract.yml for editors')
    .addHelpText('after', '\nExample:\n  mcp-curated schema > contract.schema.json')
    .action(() => {
      process.stdout.write(contractJsonSchemaFile());
    });

  program
    .command('pin')
    .description('print the tools of a foreign MCP server with their pins, and what has changed since')
    .argument('<endpoint>', 'address of the server')
    .addOption(
      new Option('--transport <kind>', 'how to speak to it')
        .choices(['auto', 'httpStreamable', 'sse'])
        .default('auto'),
    )
    .option('--bearer <reference>', 'its bearer, as env:NAME or file:PATH')
    .addOption(
      new Option('--header <name=reference>', 'a header, as Name=env:NAME or Name=file:PATH').conflicts(
        'bearer',
      ),
    )
    .option('--allow-networks <list>', 'internal networks it may be in: loopback, private, 10.1.0.0/16')
    .addOption(new Option('--only <tool...>', 'just these tools').default([] as string[], 'all tools'))
    .option('--compare <file>', 'a file that --json wrote earlier; exit 2 when something has changed')
    .addOption(
      new Option('--timeout <seconds>', 'until a request is ended')
        .default(20)
        .argParser((text) => seconds(text)),
    )
    .addHelpText(
      'after',
      '\nExample:\n  mcp-curated --json pin https://mcp.example.com/mcp --bearer env:EXAMPLE_TOKEN > example.pins.json',
    )
    .action(async (endpoint: string, flags: PinFlags, command: Command) => {
      exit(await pinCommand(endpoint, flags, outputOf(command)));
    });

  program
    .command('token')
    .description('make a bearer and its SHA-256')
    .addHelpText('after', '\nExample:\n  mcp-curated --json token')
    .action((_options: object, command: Command) => {
      exit(tokenCommand(outputOf(command)));
    });

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
      process.stderr.write(`${error instanceof Error ? error.message : 'The command failed.'}\n`);
      process.exitCode = 1;
    }
  });
}
