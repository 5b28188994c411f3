import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeBearer } from '../../../core/server/bearer';
import { N8nApiDouble } from '../../support/n8nApiDouble';
import { runCli } from '../../support/runCli';

const GUIDE = readFileSync(path.resolve(__dirname, '../../../docs/operator-guide.md'), 'utf8');

/** The lines that start with `$ mcp-curated` in blocks of the guide, in order. */
const COMMANDS = [...GUIDE.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
  [...block.matchAll(/^\$ mcp-curated (.*)$/gm)].map(([, line = '']) => line),
);
const OPERATOR_FILE = /```yaml\n([\s\S]*?)```/.exec(GUIDE)?.[1] ?? '';

/** Where a command does not end with 0, what the guide says about it. */
const EXPECTED: Record<string, number[]> = { plan: [2, 0] };
const WITHOUT_FILE = new Set(['token']);

test('every command of the operator guide does what the guide says, in its order', async () => {
  const n8n = await N8nApiDouble.start('2.41.1');
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-guide-'));
  const secret = (name: string, value = makeBearer().token) => {
    writeFileSync(path.join(folder, 'secrets', name), value, { mode: 0o600 });
  };
  try {
    mkdirSync(path.join(folder, 'secrets'));
    secret('n8n-api-key', n8n.apiKey);
    for (const name of ['client-claude.token', 'web-app-openwebui.token', 'n8n-read-key', 'prometheus.token'])
      secret(name);
    const file = path.join(folder, 'operator.yml');
    writeFileSync(file, OPERATOR_FILE.replace('address: https://n8n.example.com', `address: ${n8n.origin}`));
    const seen: Record<string, number> = {};
    for (const line of COMMANDS) {
      const [command = '', ...args] = line.split(' ');
      if (line.includes('--upstream')) secret('prometheus.token.next');
      const own = command === 'init' ? path.join(folder, 'mcp-curated.yml') : file;
      const { code } = await runCli(command, ...args, ...(WITHOUT_FILE.has(command) ? [] : ['--file', own]));
      const time = (seen[command] = (seen[command] ?? 0) + 1);
      expect({ line, code }).toEqual({ line, code: EXPECTED[command]?.[time - 1] ?? 0 });
    }
    expect(COMMANDS.length).toBeGreaterThan(10);
    expect(existsSync(path.join(folder, 'mcp-curated.yml'))).toBe(true);
    expect([...n8n.store.workflows.values()]).toEqual([]);
  } finally {
    await n8n.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
