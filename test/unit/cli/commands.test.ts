import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { runCli } from '../../support/runCli';

const CHECKED_IN = path.resolve(__dirname, '../../../workflows');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-cli-'));
  for (const part of ['web-app-n8n', 'web-app-prometheus', 'contract.schema.json']) {
    cpSync(path.join(CHECKED_IN, part), path.join(folder, part), { recursive: true });
  }
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const contract = () => path.join(folder, 'web-app-n8n', 'contract.yml');
const workflow = () => path.join(folder, 'web-app-n8n', 'workflow.json');

function edit(from: string, to: string): void {
  const text = readFileSync(contract(), 'utf8');
  expect(text).toContain(from);
  writeFileSync(contract(), text.replace(from, to));
}

describe('lint', () => {
  test('says that all is well on stdout and exits 0', async () => {
    expect(await runCli('lint', '--workflows', folder)).toEqual({
      code: 0,
      stdout: '2 contracts are valid.\n',
      stderr: '',
    });
  });

  test('names file, line, path and reason of a fault and exits 1', async () => {
    edit('page_size: 25', 'page_size: 0');
    const { code, stdout } = await runCli('lint', '--workflows', folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/contract\.yml:\d+ limits\.page_size: /);
  });

  test('gives the same as JSON, and nothing but the exit code when quiet', async () => {
    edit('application_id: web-app-n8n', 'application_id: web-app-other');
    const json = await runCli('--json', 'lint', '--workflows', folder, '--only', 'web-app-n8n');
    expect(JSON.parse(json.stdout)).toMatchObject({
      contracts: 1,
      findings: [{ path: 'application_id', line: 1 }],
    });
    expect(await runCli('--quiet', 'lint', '--workflows', folder)).toMatchObject({ code: 1, stdout: '' });
  });

  test('counts one contract as one', async () => {
    const { stdout } = await runCli('lint', '--workflows', folder, '--only', 'web-app-n8n');
    expect(stdout).toBe('1 contract is valid.\n');
  });

  test('finds a folder that holds no contract', async () => {
    rmSync(contract());
    const { code, stdout } = await runCli('lint', '--workflows', folder);
    expect(code).toBe(1);
    expect(stdout).toMatch(/web-app-n8n\/contract\.yml:1 cannot be read \(ENOENT\)/);
  });

  test('says in one sentence that there is no folder of contracts', async () => {
    await expect(runCli('lint', '--workflows', path.join(folder, 'missing'))).rejects.toThrow(
      /missing cannot be read \(ENOENT\); name another with --workflows/,
    );
  });

  test.each([[[]], [['--only', 'web-app-prometheus']]])(
    'finds two contracts with the same endpoint path, called with %j',
    async (only) => {
      const other = path.join(folder, 'web-app-prometheus', 'contract.yml');
      const text = readFileSync(other, 'utf8');
      writeFileSync(other, text.replace('  path: web-app-prometheus\n', '  path: web-app-n8n\n'));
      const { code, stdout } = await runCli('lint', '--workflows', folder, ...only);
      expect(code).toBe(1);
      expect(stdout).toMatch(
        /web-app-prometheus\/contract\.yml:\d+ endpoint\.path: is the path of .*web-app-n8n/,
      );
      expect(stdout.split('\n')).toHaveLength(2);
    },
  );

  test('refuses an application that has no contract instead of checking nothing', async () => {
    await expect(runCli('lint', '--workflows', folder, '--only', 'web-app-missing')).rejects.toThrow(
      'web-app-missing',
    );
  });
});

describe('render', () => {
  test('changes nothing where everything is rendered', async () => {
    expect(await runCli('render', '--workflows', folder)).toMatchObject({
      code: 0,
      stdout: 'Everything is rendered.\n',
    });
  });

  test('--check writes nothing and exits 1 when a file differs', async () => {
    writeFileSync(workflow(), '{}');
    const { code, stdout } = await runCli('render', '--workflows', folder, '--check');
    expect([code, readFileSync(workflow(), 'utf8')]).toEqual([1, '{}']);
    expect(stdout).toContain('differs: ');
  });

  test('writes a missing workflow, byte for byte as it was checked in', async () => {
    rmSync(workflow());
    expect(await runCli('render', '--workflows', folder)).toMatchObject({ code: 0 });
    expect(readFileSync(workflow(), 'utf8')).toBe(
      readFileSync(path.join(CHECKED_IN, 'web-app-n8n/workflow.json'), 'utf8'),
    );
  });

  test('renders nothing from a contract whose hashes were not reviewed, and --pin writes them', async () => {
    edit('title: List n8n workflows', 'title: List workflows');
    const before = readFileSync(workflow(), 'utf8');
    const refused = await runCli('render', '--workflows', folder);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('what a model sees has changed');
    expect(readFileSync(workflow(), 'utf8')).toBe(before);

    expect(await runCli('render', '--workflows', folder, '--pin')).toMatchObject({ code: 0 });
    expect(readFileSync(workflow(), 'utf8')).toContain('List workflows');
    expect(readFileSync(contract(), 'utf8')).toContain('# A list of workflows comes with all their nodes');
    expect(await runCli('lint', '--workflows', folder)).toMatchObject({ code: 0 });
  });

  test.each([
    ['quoted', (hash: string) => `"${hash}"`],
    ['a word', () => 'TODO # the reviewer fills this in'],
    ['zeros', () => `sha256:${'0'.repeat(64)}`],
    ['a number', () => '0'],
    ['nothing', () => ''],
    ['nothing but a comment', () => '# later'],
  ])('--pin accepts as the old value of a hash: %s', async (_what, old) => {
    const reviewed = readFileSync(contract(), 'utf8');
    const unpinned = reviewed.replaceAll(/sha256:[0-9a-f]{64}/g, old);
    writeFileSync(contract(), unpinned);
    expect(await runCli('render', '--workflows', folder, '--pin')).toMatchObject({ code: 0 });
    const pinned = readFileSync(contract(), 'utf8');
    expect(pinned.replaceAll(/ # (?:the reviewer fills this in|later)$/gm, '')).toBe(reviewed);
    expect(pinned.match(/ # (?:the reviewer|later)/g)).toEqual(unpinned.match(/ # (?:the reviewer|later)/g));
  });

  test('--pin names what else is wrong with a contract that has no hashes yet', async () => {
    const text = readFileSync(contract(), 'utf8').replaceAll(/sha256:[0-9a-f]{64}/g, 'TODO');
    writeFileSync(contract(), text.replace('roots: false', 'roots: true'));
    const { code, stderr } = await runCli('render', '--workflows', folder, '--pin');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^\S+contract\.yml:\d+ capabilities\.roots: .*\n$/);
  });

  test('--pin together with --check is refused', async () => {
    await expect(runCli('render', '--workflows', folder, '--check', '--pin')).rejects.toThrow(
      "option '--pin' cannot be used with option '--check'",
    );
  });

  test('--pin does not sign off a contract that has other faults', async () => {
    edit('title: List n8n workflows', 'title: List workflows');
    edit('page_size: 25', 'page_size: 0');
    const before = readFileSync(contract(), 'utf8');
    expect(await runCli('render', '--workflows', folder, '--pin')).toMatchObject({ code: 1 });
    expect(readFileSync(contract(), 'utf8')).toBe(before);
  });

  test('makes no workflow of a reviewed refusal', async () => {
    const refusal = path.join(folder, 'web-app-penpot');
    cpSync(path.join(folder, 'web-app-n8n'), refusal, { recursive: true });
    rmSync(path.join(refusal, 'workflow.json'));
    writeFileSync(
      path.join(refusal, 'contract.yml'),
      'application_id: web-app-penpot\nclassification: blocked\nreason: interactive_browser_session\nnotes: It needs an active browser tab.\n',
    );
    expect(await runCli('render', '--workflows', folder)).toMatchObject({ code: 0 });
    expect(existsSync(path.join(refusal, 'workflow.json'))).toBe(false);
  });
});

describe('token', () => {
  test('makes another bearer each time, with its SHA-256', async () => {
    const [first, second] = await Promise.all([runCli('--json', 'token')]).then(async ([one]) => [
      one,
      await runCli('--json', 'token'),
    ]);
    const made = JSON.parse(first?.stdout ?? '') as { token: string; sha256: string };
    expect(made.token).toMatch(/^[\w-]{43}$/);
    expect(made.sha256).toBe(createHash('sha256').update(made.token).digest('hex'));
    expect(second?.stdout).not.toContain(made.token);
  });
});

test('the lines of token are aligned', async () => {
  const [bearer = '', hash = ''] = (await runCli('token')).stdout.split('\n');
  expect(bearer.lastIndexOf(' ')).toBe(hash.lastIndexOf(' '));
});

test('--version is that of the pack', async () => {
  await expect(runCli('--version')).rejects.toMatchObject({ exitCode: 0, message: '0.0.0-source' });
});

describe('schema', () => {
  test('ends quietly when nobody reads on', async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'cli/main.ts', 'schema'], {
      cwd: path.resolve(__dirname, '../../..'),
    });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect([code, stderr]).toEqual([0, '']);
  });

  test('prints the JSON Schema that editors complete contracts with', async () => {
    const { stdout } = await runCli('schema');
    expect(stdout).toBe(readFileSync(path.join(CHECKED_IN, 'contract.schema.json'), 'utf8'));
  });
});
