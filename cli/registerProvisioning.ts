import { Option, type Command } from 'commander';
import { initCommand } from './commands/init';
import { applyCommand, planCommand, type ProvisionFlags } from './commands/provision';
import { destroyCommand, pruneCommand, type RemoveFlags } from './commands/remove';
import { rotateCommand, type RotateFlags } from './commands/rotate';
import { tokenCommand } from './commands/token';
import { interruptible } from './interrupt';
import { example, outputOf, type Exit } from './registered';
import { registerReports } from './registerReports';

const file = () => new Option('--file <file>', 'the operator file').default('mcp-curated.yml');
const only = () =>
  new Option('--only <application_id...>', 'just these surfaces').default([] as string[], 'all surfaces');

/** Commands for those who operate an n8n. */
export function registerProvisioning(program: Command, exit: Exit): void {
  program
    .command('init')
    .description('write an operator file to start from')
    .addOption(file())
    .argument('[application_id...]', 'surfaces to begin with', [] as string[])
    .addHelpText('after', example('mcp-curated init web-app-gitea web-app-prometheus'))
    .action(async (ids: string[], flags: { file: string }, command: Command) => {
      exit(await initCommand(flags.file, ids, outputOf(command)));
    });

  program
    .command('plan')
    .description(
      'show what apply would change, field by field; changes nothing, exit 2 when there is something',
    )
    .addOption(file())
    .addOption(only())
    .addHelpText('after', example('mcp-curated plan --only web-app-prometheus'))
    .action(async (flags: ProvisionFlags, command: Command) => {
      exit(await interruptible(async (signal) => await planCommand(flags, outputOf(command), signal)));
    });

  program
    .command('apply')
    .description('make n8n as the operator file says; can be interrupted and run again')
    .addOption(file())
    .addOption(only())
    .addHelpText('after', example('mcp-curated --json apply'))
    .action(async (flags: ProvisionFlags, command: Command) => {
      exit(await interruptible(async (signal) => await applyCommand(flags, outputOf(command), signal)));
    });

  program
    .command('prune')
    .description('remove managed workflows that the operator file does not name any more')
    .addOption(file())
    .addHelpText('after', example('mcp-curated prune'))
    .action(async (flags: RemoveFlags, command: Command) => {
      exit(await interruptible(async (signal) => await pruneCommand(flags, outputOf(command), signal)));
    });

  program
    .command('destroy')
    .description('remove everything that the owner of the operator file manages, and nothing else')
    .addOption(file())
    .option('--confirm <owner>', 'the owner once more')
    .addHelpText('after', example('mcp-curated destroy --confirm my-company'))
    .action(async (flags: RemoveFlags, command: Command) => {
      exit(await interruptible(async (signal) => await destroyCommand(flags, outputOf(command), signal)));
    });

  program
    .command('rotate')
    .description('replace one secret of a surface: issue, let both in, prove the new one, revoke the old one')
    .argument('<application_id>', 'the surface')
    .addOption(file())
    .option('--consumer <id>', "that consumer's bearer, kept in a file")
    .option('--upstream', 'the secret for the application; the new one is in <file>.next')
    .addHelpText('after', example('mcp-curated rotate web-app-prometheus --consumer client-claude'))
    .action(async (applicationId: string, flags: RotateFlags, command: Command) => {
      const run = async (signal: AbortSignal) =>
        await rotateCommand(applicationId, flags, outputOf(command), signal);
      exit(await interruptible(run));
    });

  registerReports(program, exit);

  program
    .command('token')
    .description('make a bearer and its SHA-256')
    .addHelpText('after', example('mcp-curated --json token'))
    .action((_options: object, command: Command) => {
      exit(tokenCommand(outputOf(command)));
    });
}
