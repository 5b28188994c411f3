import { InvalidArgumentError, Option, type Command } from 'commander';
import { pinCommand, type PinFlags } from './commands/pin';
import { example, outputOf, type Exit } from './registered';

/** Commands about foreign MCP servers. */
export function registerServers(program: Command, exit: Exit): void {
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
    .addOption(new Option('--timeout <seconds>', 'until a request is ended').default(20).argParser(seconds))
    .addHelpText(
      'after',
      example(
        'mcp-curated --json pin https://mcp.example.com/mcp --bearer env:EXAMPLE_TOKEN > example.pins.json',
      ),
    )
    .action(async (endpoint: string, flags: PinFlags, command: Command) => {
      exit(await pinCommand(endpoint, flags, outputOf(command)));
    });
}

function seconds(text: string): number {
  const value = Number(text);
  if (value >= 1 && value <= 3_600) return value;
  throw new InvalidArgumentError('It must be between 1 and 3600.');
}
