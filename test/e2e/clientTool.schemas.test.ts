import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ISupplyDataFunctions } from 'n8n-workflow';
import { modelSchema } from '../../core/client/modelSchema';
import type { JsonSchema } from '../../core/contract/pin';
import { unfitFor } from '../../nodes/shared/consumer';
import { ensureHost } from '../hosts/install';
import { hosts } from '../support/hostsFixture';
import { SCHEMA_CORPUS } from '../support/schemaCorpus';

/** n8n 2.x makes a zod schema of the schema of every tool of an agent, with its own code; an error there ends the agent. */

const LISTS = join(__dirname, '../fixtures/toolLists');

/** Run by the Node of the host, in its folder: reads schemas, and answers which of them its converter takes. */
const CONVERT = `
  const { createRequire } = require('node:module');
  const { jsonSchemaToZod } = createRequire(process.argv[1])('@n8n/json-schema-to-zod');
  const taken = (schema) => { try { jsonSchemaToZod(schema); return true; } catch { return false; } };
  let given = '';
  process.stdin.on('data', (chunk) => { given += chunk; });
  process.stdin.on('end', () => { process.stdout.write(JSON.stringify(JSON.parse(given).map(taken))); });
`;

async function takenBy(version: string, schemas: readonly unknown[]): Promise<boolean[]> {
  const { nodeBinary, n8nBin } = await ensureHost(version);
  return await new Promise((resolve, reject) => {
    const child = execFile(nodeBinary, ['-e', CONVERT, n8nBin], { maxBuffer: 1_048_576 }, (error, stdout) => {
      if (error) reject(new Error(error.message.slice(0, 500)));
      else resolve(JSON.parse(stdout) as boolean[]);
    });
    child.stdin?.end(JSON.stringify(schemas));
  });
}

const agent = {
  parentNode: { type: '@n8n/n8n-nodes-langchain.agent', typeVersion: 2.2 },
} as unknown as ISupplyDataFunctions;
const withArgument = (argument: unknown): JsonSchema => ({ type: 'object', properties: { a: argument } });
const nested = (levels: number): unknown =>
  levels === 0 ? {} : { type: 'array', items: nested(levels - 1) };

describe.each(hosts().filter(({ version }) => !version.startsWith('1.')))(
  'the converter of n8n $version',
  ({ version }) => {
    it('takes every schema of every recorded server and of the corpus, as it is handed over', async () => {
      const recorded = readdirSync(LISTS).flatMap((file) =>
        (
          JSON.parse(readFileSync(join(LISTS, file), 'utf8')) as {
            tools: { name: string; inputSchema: JsonSchema }[];
          }
        ).tools.map(({ name, inputSchema }) => ({ name: `${file} ${name}`, schema: inputSchema })),
      );
      const all = [...recorded, ...Object.entries(SCHEMA_CORPUS).map(([name, schema]) => ({ name, schema }))];
      const taken = await takenBy(
        version,
        all.map(({ schema }) => modelSchema(schema)),
      );
      expect(all.length).toBeGreaterThan(1_000);
      expect(all.filter((_one, index) => !taken[index]).map(({ name }) => name)).toEqual([]);
      expect(
        all.filter(({ schema }) => unfitFor(agent, schema) !== undefined).map(({ name }) => name),
      ).toEqual([]);
    });

    it('takes nothing that we withhold for its sake, and everything else', async () => {
      const odd = [
        withArgument(null),
        withArgument({ type: 'string', pattern: '[\\u{1F600}-\\u{1F64F}]' }),
        withArgument({
          type: 'array',
          items: { anyOf: [{ type: 'string', pattern: '[\\u{1F600}-\\u{1F64F}]' }] },
        }),
        { type: 'object', properties: {}, additionalProperties: null },
        withArgument(nested(3_000)),
        withArgument({ anyOf: [true, false] }),
        withArgument({ enum: [] }),
        withArgument({ type: 'array', items: [{}, { type: 'string' }] }),
        withArgument({ type: 'string', pattern: '^[\\p{L}]+$', default: null }),
        withArgument({ const: null, examples: [{ pattern: '(' }] }),
        withArgument(nested(200)),
      ];
      expect(await takenBy(version, odd)).toEqual(odd.map((schema) => unfitFor(agent, schema) === undefined));
    });
  },
);
