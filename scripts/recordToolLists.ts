/**
 * Records what real MCP servers answer to `tools/list`, for tests that must cope with schemas as they are.
 *
 *     npx tsx scripts/recordToolLists.ts [package…]
 *
 * Each server is an npm package of an exact version. It is installed without its install scripts into a temporary
 * folder, started over stdio, asked for every page of its list, and stopped. On Linux it runs in a network
 * namespace of its own, so that it reaches nothing but itself; a token it wants is the word `test`. A list that
 * names the temporary folder or the registry, that is too large or that is empty is refused. The fixture holds the
 * tools as the server sent them; Prettier lays out white space only.
 */
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { format, resolveConfig } from 'prettier';
import { SERVERS, type Server } from './toolListServers';

type Json = Record<string, unknown>;

const FIXTURES = path.join(__dirname, '..', 'test', 'fixtures', 'toolLists');
/** The servers' home and working folder: a path that says nothing about the machine. */
const NEUTRAL_FOLDER = '/tmp/mcp';
const LARGEST_FIXTURE_BYTES = 300_000;
const INSTALL_MS = 240_000;
const ANSWER_MS = 45_000;
/** Some servers register tools only after they have been told that the client is ready. */
const SETTLE_MS = 1_500;
const MOST_PAGES = 100;

const PROTOCOL_VERSION = '2025-11-25';
const CLIENT = {
  protocolVersion: PROTOCOL_VERSION,
  capabilities: { roots: {}, sampling: {}, elicitation: {} },
  clientInfo: { name: 'tool-list-recorder', version: '1.0.0' },
};

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Installs the package, without running a script of it or of what it depends on. */
function install(server: Server, folder: string): void {
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev', '--loglevel=error'];
  const packageSpec = `${server.package}@${server.version}`;
  execFileSync('nice', ['npm', 'install', ...options, packageSpec], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_MS,
  });
}

/** The file that the package's command runs. */
function commandFile(server: Server, folder: string): string {
  const root = path.join(folder, 'node_modules', server.package);
  const { bin } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    bin?: string | Record<string, string>;
  };
  const commands = typeof bin === 'string' ? { '': bin } : (bin ?? {});
  const ownName = server.package.replace(/^.*\//, '');
  const file = commands[ownName] ?? Object.values(commands)[0];
  if (file === undefined) throw new Error('the package has no command');
  return path.join(root, file);
}

function start(server: Server, folder: string): ChildProcessWithoutNullStreams {
  const command = ['node', commandFile(server, folder), ...(server.args ?? [])];
  const alone = ['unshare', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up; exec "$@"', 'sh'];
  const [file, ...args] = ['nice', ...(process.platform === 'linux' ? alone : []), ...command];
  return spawn(file, args, {
    cwd: NEUTRAL_FOLDER,
    env: { PATH: process.env['PATH'], HOME: NEUTRAL_FOLDER, ...server.env },
    stdio: 'pipe',
    detached: true,
  });
}

/** Ends the server and all that it started. */
function stop(child: ChildProcessWithoutNullStreams): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It had ended by itself.
  }
}

/** JSON-RPC over the standard streams of a server, one message a line. */
class Connection {
  private lastId = 0;
  private readonly waiting = new Map<number, (message: Json) => void>();
  private errors = '';

  constructor(private readonly child: ChildProcessWithoutNullStreams) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.receive(line);
    });
    child.stderr.on('data', (text: Buffer) => {
      this.errors = `${this.errors}${text.toString()}`.slice(-600);
    });
    // A server that ends early closes its end of the pipe; the request that waits then fails.
    child.stdin.on('error', () => undefined);
  }

  private receive(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return; // Not every server keeps its log off the standard output.
    }
    if (!isObject(message)) return;
    if (typeof message['method'] === 'string') {
      if (message['id'] !== undefined) this.refuse(message['id']);
    } else {
      if (JSON.stringify(message) !== line.trim())
        process.stderr.write('  (written unlike JSON.stringify)\n');
      this.waiting.get(Number(message['id']))?.(message);
    }
  }

  /** Answers a request of the server: this client has nothing to offer. */
  private refuse(id: unknown): void {
    this.send({ id, error: { code: -32601, message: 'Method not found' } });
  }

  send(message: Json): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async request(method: string, params: Json): Promise<Json> {
    const id = ++this.lastId;
    const answer = await new Promise<Json>((resolve, reject) => {
      const fail = (): void => {
        reject(new Error(`no answer to ${method}: ${this.errors}`));
      };
      const timer = setTimeout(fail, ANSWER_MS);
      this.child.once('exit', fail);
      this.waiting.set(id, (message) => {
        clearTimeout(timer);
        this.child.off('exit', fail);
        resolve(message);
      });
      this.send({ id, method, params });
    });
    if (!isObject(answer['result'])) throw new Error(`${method} failed: ${JSON.stringify(answer['error'])}`);
    return answer['result'];
  }
}

async function listTools(connection: Connection): Promise<unknown[]> {
  const tools: unknown[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES; page++) {
    const result = await connection.request('tools/list', cursor === undefined ? {} : { cursor });
    if (!Array.isArray(result['tools'])) throw new Error('the answer has no tools');
    tools.push(...(result['tools'] as unknown[]));
    cursor = result['nextCursor'];
    if (cursor === undefined) return tools;
  }
  throw new Error(`more than ${MOST_PAGES} pages`);
}

/** Starts the installed server and asks it for its tools. */
async function ask(server: Server, folder: string): Promise<Json> {
  const child = start(server, folder);
  try {
    const connection = new Connection(child);
    const { serverInfo, protocolVersion } = await connection.request('initialize', CLIENT);
    connection.send({ method: 'notifications/initialized' });
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const tools = await listTools(connection);
    if (tools.length === 0) throw new Error('the list is empty');
    return { package: server.package, version: server.version, serverInfo, protocolVersion, tools };
  } finally {
    stop(child);
  }
}

/** Refuses what must not stand in a fixture: paths of this machine, the registry's host, a very large list. */
function check(text: string, folder: string): void {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  for (const unwanted of [folder, path.dirname(__dirname), new URL(registry).host]) {
    if (text.includes(unwanted)) throw new Error(`the list names ${unwanted}`);
  }
  if (Buffer.byteLength(text) > LARGEST_FIXTURE_BYTES) throw new Error(`${Buffer.byteLength(text)} bytes`);
}

async function record(server: Server): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-tool-list-'));
  try {
    install(server, folder);
    const recorded = await ask(server, folder);
    const file = path.join(FIXTURES, `${server.package.replace('@', '').replace('/', '-')}.json`);
    const layout = await resolveConfig(file);
    const text = await format(JSON.stringify(recorded, null, 2), { ...layout, parser: 'json' });
    check(text, folder);
    writeFileSync(file, text);
    return `${(recorded['tools'] as unknown[]).length} tools, ${Buffer.byteLength(text)} bytes`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(wanted: string[]): Promise<number> {
  const unknown = wanted.filter((name) => !SERVERS.some((server) => server.package === name));
  if (unknown.length > 0) throw new Error(`Not in the table: ${unknown.join(', ')}`);
  mkdirSync(FIXTURES, { recursive: true });
  mkdirSync(NEUTRAL_FOLDER, { recursive: true });
  let faults = 0;
  for (const server of SERVERS) {
    if (wanted.length > 0 && !wanted.includes(server.package)) continue;
    try {
      process.stdout.write(`${server.package}: ${await record(server)}\n`);
    } catch (error) {
      faults++;
      const reason = error instanceof Error ? error.message : 'unknown';
      process.stdout.write(`${server.package}: NOT RECORDED: ${reason}\n`);
    }
  }
  return faults === 0 ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : 'The recording failed.'}\n`);
    process.exitCode = 1;
  },
);
