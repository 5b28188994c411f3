import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { McpServerDouble, redirect, tool } from '../../support/mcpServerDouble';
import { newBearer } from '../../support/publish';
import { runCli } from '../../support/runCli';

const LOOPBACK = ['--allow-networks', 'loopback'];
const VARIABLE = 'PIN_TEST_TOKEN';
let server: McpServerDouble;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-pin-'));
  server = await McpServerDouble.start({
    serverInfo: { name: 'orders', version: '1.0.0' },
    tools: [
      tool('find_order', { title: 'Find order', annotations: { readOnlyHint: true } }),
      tool('delete_order', { description: 'Deletes\u0007 it\u200b now.' }),
    ],
  });
});
afterEach(async () => {
  Reflect.deleteProperty(process.env, VARIABLE);
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

const pin = (...args: string[]) => runCli('pin', server.endpoint, ...LOOPBACK, ...args);
const pinJson = async (...args: string[]) => {
  const { stdout, code } = await runCli('--json', 'pin', server.endpoint, ...LOOPBACK, ...args);
  return {
    code,
    report: JSON.parse(stdout) as { tools: Record<string, unknown>[] } & Record<string, unknown>,
  };
};
const save = async () => {
  const { report } = await pinJson();
  const file = path.join(folder, 'orders.pins.json');
  writeFileSync(file, JSON.stringify(report));
  return file;
};

describe('pin', () => {
  test('prints server, effect as a claim and the value that is pinned, fit for a terminal', async () => {
    const { code, stdout, stderr } = await pin();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Server:    orders@${server.origin}`);
    expect(stdout).toMatch(/^find_order - Find order$/m);
    expect(stdout).toContain('Server claims: reads only');
    expect(stdout).toContain('Server does not say what it does to data');
    expect(stdout).toMatch(/^ {2}find_order@sha256:[0-9a-f]{64}$/m);
    expect(stdout).toContain('Deletes  it  now.');
    expect(stdout).not.toMatch(/[\u0007\u200b]/);
  });

  test('gives the full descriptors as JSON, for files and for the node', async () => {
    const { code, report } = await pinJson('--only', 'find_order');
    expect(code).toBe(0);
    expect(report).toMatchObject({ server: `orders@${server.origin}`, unreadable: 0 });
    expect(report.tools).toHaveLength(1);
    expect(report['descriptors']).toEqual([
      {
        name: 'find_order',
        title: 'Find order',
        description: 'Does find_order.',
        inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
        annotations: { readOnlyHint: true },
      },
    ]);
  });

  test('compared with an earlier print exits 0 when nothing has changed', async () => {
    const { code, stdout } = await pin('--compare', await save());
    expect(code).toBe(0);
    expect(stdout).toContain('find_order - Find order   [unchanged]');
  });

  test('compared with an earlier print exits 2 and names place and both values of a change', async () => {
    const file = await save();
    server.tools = [
      tool('find_order', {
        title: 'Find order',
        annotations: { readOnlyHint: true },
        description: 'Now it sends mail.',
      }),
      tool('added'),
    ];
    const { code, stdout } = await pin('--compare', file);
    expect(code).toBe(2);
    expect(stdout).toContain('[changed]');
    expect(stdout).toContain('Changed: /description "Does find_order." -> "Now it sends mail."');
    expect(stdout).toContain('added   [not_pinned]');
    expect(stdout).toContain('delete_order   [missing]');
  });

  test('compared with an earlier print tells another server with the same tools', async () => {
    const file = await save();
    server.serverInfo = { name: 'orders-eu', version: '1.0.0' };
    const { code, stdout } = await pin('--compare', file);
    expect(code).toBe(2);
    expect(stdout).toContain(`(was orders@${server.origin})`);
  });

  test('sends the bearer that an environment variable holds, and prints it nowhere', async () => {
    const bearer = newBearer();
    process.env[VARIABLE] = bearer;
    const { stdout, stderr } = await pin('--bearer', `env:${VARIABLE}`);
    expect(server.asked('tools/list')[0]?.headers.authorization).toBe(`Bearer ${bearer}`);
    expect(stdout + stderr).not.toContain(bearer);
  });

  test('sends a header whose value a private file holds', async () => {
    const file = path.join(folder, 'key');
    const key = newBearer();
    writeFileSync(file, `${key}\n`, { mode: 0o600 });
    expect((await pin('--header', `X-API-Key=file:${file}`)).code).toBe(0);
    expect(server.asked('initialize')[0]?.headers['x-api-key']).toBe(key);
  });
});

describe('pin refuses', () => {
  const failure = async (...args: string[]) => {
    const error: unknown = await pin(...args).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(server.requests).toHaveLength(0);
    return error instanceof Error ? error.message : undefined;
  };

  test('a secret on the command line', async () => {
    expect(await failure('--bearer', newBearer())).toMatch(/env:NAME or file:PATH/);
    expect(await failure('--header', `X-API-Key=${newBearer()}`)).toMatch(/env:NAME or file:PATH/);
  });

  test('a variable that is not set and a file that is empty or absent', async () => {
    expect(await failure('--bearer', `env:${VARIABLE}`)).toContain(`${VARIABLE} is not set`);
    expect(await failure('--bearer', `file:${path.join(folder, 'none')}`)).toContain(
      'cannot be read (ENOENT)',
    );
    const empty = path.join(folder, 'empty');
    writeFileSync(empty, '\n', { mode: 0o600 });
    expect(await failure('--bearer', `file:${empty}`)).toContain('is empty');
  });

  test('a secret file that others can read', async () => {
    const file = path.join(folder, 'key');
    writeFileSync(file, newBearer());
    chmodSync(file, 0o644);
    expect(await failure('--bearer', `file:${file}`)).toContain('chmod 600');
  });

  test('an earlier print that is none', async () => {
    const file = path.join(folder, 'other.json');
    writeFileSync(file, '{"tools":[]}');
    expect(await failure('--compare', file)).toContain('is no output of mcp-curated --json pin');
  });

  test('a server in a network that was not allowed', async () => {
    await expect(runCli('pin', server.endpoint)).rejects.toThrow(/^upstream_address_refused: /);
    expect(server.requests).toHaveLength(0);
  });

  test('a tool that is not listed, by name', async () => {
    await expect(pin('--only', 'find_orders')).rejects.toThrow('The server lists no tool find_orders.');
  });

  test('to follow a redirect, and says where it leads', async () => {
    server.before = () => redirect('https://other.example.net/mcp');
    await expect(pin()).rejects.toThrow(/^upstream_redirect_refused: .*other\.example\.net/);
  });
});
