import path from 'node:path';
import { Option, type Command } from 'commander';
import { contractJsonSchemaFile } from '../core/contract/schema';
import { lintCommand } from './commands/lint';
import { newAdapterCommand } from './commands/newAdapter';
import { renderCommand } from './commands/render';
import { operatorJsonSchemaFile } from './operator/schema';
import { example, outputOf, type Exit } from './registered';

interface NewAdapterOptions {
  readonly workflows: string;
  readonly name: string;
  readonly appVersion: string;
  readonly source: string;
  readonly operation: string[];
}

const only = () =>
  new Option('--only <application_id...>', 'just these contracts').default([] as string[], 'all contracts');
const folder = () => new Option('--workflows <folder>', 'where the contracts are').default('workflows');

/** Commands for those who write contracts. */
export function registerContracts(program: Command, exit: Exit): void {
  program
    .command('lint')
    .description('check every contract; prints file, line, path and reason of each fault')
    .addOption(folder())
    .addOption(only())
    .addHelpText('after', example('mcp-curated lint --only web-app-prometheus'))
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
    .addHelpText('after', example('mcp-curated render --pin --only web-app-prometheus'))
    .action(
      async (
        options: { workflows: string; only: string[]; check: boolean; pin: boolean },
        command: Command,
      ) => {
        exit(await renderCommand(path.resolve(options.workflows), options.only, options, outputOf(command)));
      },
    );

  program
    .command('new-adapter')
    .description('write a contract to start from; what has to be decided says TODO')
    .argument('<application_id>')
    .addOption(folder())
    .requiredOption('--name <name>', 'the application as people call it')
    .requiredOption('--app-version <version>', 'exact version that is read')
    .requiredOption('--source <address>', 'https address of the sources at that version')
    .requiredOption('--operation <line...>', 'tool=GET /path/{slot}?parameter&parameter')
    .addHelpText(
      'after',
      example(
        'mcp-curated new-adapter web-app-shop --name Shop --app-version 2.1.0 \\\n' +
          '    --source https://github.com/acme/shop/tree/v2.1.0 \\\n' +
          '    --operation "shop_list_orders=GET /api/orders?limit&page&status" "shop_get_order=GET /api/orders/{id}"',
      ),
    )
    .action(async (applicationId: string, options: NewAdapterOptions, command: Command) => {
      const { name, appVersion: version, source, operation } = options;
      const draft = { name, version, source };
      const at = path.resolve(options.workflows);
      exit(await newAdapterCommand(at, applicationId, draft, operation, outputOf(command)));
    });

  program
    .command('schema')
    .description('print the JSON Schema of contract.yml, or of mcp-curated.yml, for editors')
    .option('--operator', 'that of mcp-curated.yml', false)
    .addHelpText('after', example('mcp-curated schema --operator > mcp-curated.schema.json'))
    .action(({ operator }: { operator: boolean }) => {
      const text = operator ? operatorJsonSchemaFile() : contractJsonSchemaFile();
      process.stdout.write(text);
    });
}
