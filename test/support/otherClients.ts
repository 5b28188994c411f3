import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { ensureTool, type InstalledTool } from '../hosts/install';
import type { ToolResult } from './mcpRequest';

export interface WantedCall {
  readonly name: string;
  readonly args: Record<string, string>;
}

/** What a client made of one server, in its own words. */
export interface Experience {
  /** Names as the client lists them. */
  readonly tools: readonly string[];
  /** In the order of the calls that were wanted. */
  readonly calls: readonly { readonly result?: string; readonly refusal?: string }[];
  /** What it says where it could not even list. */
  readonly error: string | null;
}

/** Connects, lists and calls with one client of somebody else's making. The bearer is never a process argument. */
export type OtherClient = (url: string, bearer: string, calls: readonly WantedCall[]) => Promise<Experience>;

const NOTHING: Experience = { tools: [], calls: [], error: null };
const LIMIT_MS = 60_000;

/** A program of `test/support/clients`, which uses a library. */
const program =
  (file: string): OtherClient =>
  async (url, bearer, calls) => {
    const tool = await ensureTool('clients');
    return await inFolder(async (home) => {
      const input = JSON.stringify({ url, bearer, calls });
      const { stdout, stderr } = await run(tool, [join(__dirname, 'clients', file)], { home, input });
      try {
        return JSON.parse(stdout) as Experience;
      } catch {
        throw new Error(`${file} wrote no JSON: ${stdout.slice(0, 300)} ${stderr.slice(0, 1_000)}`);
      }
    });
  };

const mcporter: OtherClient = async (url, bearer, calls) => {
  const tool = await ensureTool('clients');
  return await inFolder(async (home) => {
    const config = join(home, 'mcporter.json');
    const server = { baseUrl: url, headers: { Authorization: `Bearer ${bearer}` } };
    await writeFile(config, JSON.stringify({ mcpServers: { trigger: server } }), { mode: 0o600 });
    const cli = async (...args: string[]) =>
      await run(
        tool,
        [join(tool.dir, 'node_modules', 'mcporter', 'dist', 'cli.js'), '--config', config, ...args],
        {
          home,
        },
      );
    const listed = await cli('list', 'trigger', '--json');
    const {
      status,
      tools = [],
      ...rest
    } = JSON.parse(listed.stdout) as {
      status: string;
      tools?: { name: string }[];
    };
    if (status !== 'ok') return { ...NOTHING, error: JSON.stringify({ status, ...rest }) };
    const done = [];
    for (const { name, args } of calls) {
      const given = Object.entries(args).map(([key, value]) => `${key}=${value}`);
      const { exitCode, stdout, stderr } = await cli('call', `trigger.${name}`, ...given, '--output', 'json');
      done.push(exitCode === 0 ? { result: stdout } : { refusal: stdout + stderr });
    }
    return { tools: tools.map(({ name }) => name), calls: done, error: null };
  });
};

/** A bridge from a client that knows only local programs. */
const mcpRemote: OtherClient = async (url, bearer, calls) => {
  const tool = await ensureTool('clients');
  return await inFolder(async (home) => {
    const client = new Client({ name: 'e2e', version: '1.0.0' });
    const transport = new StdioClientTransport({
      command: tool.nodeBinary,
      args: [
        tool.bin,
        url,
        '--allow-http',
        '--transport',
        'http-only',
        '--header',
        'Authorization:${BEARER_HEADER}',
      ],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        MCP_REMOTE_CONFIG_DIR: home,
        BEARER_HEADER: `Bearer ${bearer}`,
      },
      cwd: home,
      stderr: 'pipe',
    });
    let said = '';
    transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
    try {
      await client.connect(transport, { timeout: 15_000 });
      const { tools } = await client.listTools();
      const done = [];
      for (const { name, args } of calls) {
        const result = (await client.callTool({ name, arguments: args })) as unknown as ToolResult;
        done.push(result.isError ? { refusal: JSON.stringify(result) } : { result: JSON.stringify(result) });
      }
      return { tools: tools.map(({ name }) => name), calls: done, error: null };
    } catch (error) {
      return { ...NOTHING, error: `${error instanceof Error ? error.message : ''} ${said}` };
    } finally {
      await client.close();
    }
  });
};

export const OTHER_CLIENTS: readonly { readonly client: string; readonly use: OtherClient }[] = [
  { client: '@langchain/mcp-adapters', use: program('langchain.mjs') },
  { client: '@ai-sdk/mcp', use: program('aiSdk.mjs') },
  { client: 'mcporter', use: mcporter },
  { client: 'mcp-remote', use: mcpRemote },
];

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-client-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function run(
  { nodeBinary, dir }: InstalledTool,
  args: string[],
  { home, input = '' }: { home: string; input?: string },
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, NO_COLOR: '1' };
  return new Promise((resolve, reject) => {
    const child = execFile(
      nodeBinary,
      args,
      { cwd: dir, env, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error?.killed) reject(new Error(`${String(args[0])} did not end: ${stderr}`));
        else resolve({ exitCode: child.exitCode ?? 1, stdout, stderr });
      },
    );
    child.stdin?.end(input);
  });
}
