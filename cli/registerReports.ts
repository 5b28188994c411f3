import { Option, type Command } from 'commander';
import { discoverCommand, type DiscoverFlags } from './commands/discover';
import { statusCommand, type StatusFlags } from './commands/status';
import { verifyCommand, type VerifyFlags } from './commands/verify';
import { interruptible } from './interrupt';
import { CLIENT_FORMATS } from './provision/clientFormats';
import { example, outputOf, type Exit } from './registered';

const file = () => new Option('--file <file>', 'the operator file').default('mcp-curated.yml');

/** Commands that look at what is provisioned and change nothing. */
export function registerReports(program: Command, exit: Exit): void {
  program
    .command('verify')
    .description(
      'try every surface as its consumers and as strangers; exit 1 when something is not as it should be',
    )
    .addOption(file())
    .addOption(
      new Option('--only <application_id...>', 'just these surfaces').default([] as string[], 'all surfaces'),
    )
    .addHelpText('after', example('mcp-curated --json verify --only web-app-prometheus'))
    .action(async (flags: VerifyFlags, command: Command) => {
      exit(await interruptible(async (signal) => await verifyCommand(flags, outputOf(command), signal)));
    });

  program
    .command('discover')
    .description('print which consumer reaches which surface, or the configuration of a client')
    .addOption(file())
    .addOption(
      new Option('--format <client>', 'print the configuration of this client').choices(
        Object.keys(CLIENT_FORMATS),
      ),
    )
    .addOption(
      new Option('--consumer <id...>', 'just these consumers').default(
        [] as string[],
        'that of the format, or all',
      ),
    )
    .option('--strict', 'exit 1 when a pair that the operator file asks for is rejected', false)
    .option('--reveal', 'print bearers instead of references to them', false)
    .addHelpText('after', example('mcp-curated discover --strict --format cursor'))
    .action(async (flags: DiscoverFlags, command: Command) => {
      exit(await interruptible(async (signal) => await discoverCommand(flags, outputOf(command), signal)));
    });

  program
    .command('status')
    .description('print what is managed in n8n, a line each')
    .addOption(file())
    .addHelpText('after', example('mcp-curated status'))
    .action(async (flags: StatusFlags, command: Command) => {
      exit(await interruptible(async (signal) => await statusCommand(flags, outputOf(command), signal)));
    });
}
