import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ensureTool } from '../hosts/install';

export interface InspectorServer {
  /** The Streamable HTTP endpoint. */
  url: string;
  /** Sent with every request: `{ Authorization: 'Bearer …' }`. */
  headers?: Record<string, string>;
  /** Which protocol era to speak; the Inspector's own default is `legacy` (`initialize`, 2025 revisions). */
  protocolEra?: 'legacy' | 'auto' | 'modern';
}

export interface InspectorResult {
  /** 0 success, 1 usage or protocol error, 3 authorization needed, 4 unreachable, 5 the tool said isError. */
  exitCode: number;
  stdout: string;
  stderr: string;
  /** stdout as JSON, undefined if it is none. `{ result: { tools: […] } }`-like, see the method called. */
  json: unknown;
  /** What the Inspector says went wrong: `{ code: 'auth_required', message: … }`; undefined on success. */
  error: { code: string; message: string; status?: number } | undefined;
}

/**
 * Runs the MCP Inspector's command-line mode against one server: `inspectorCli(['--method', 'tools/list'],
 * { config })`. The address and the headers go through a file that only we can read, never through the
 * process arguments; the Inspector's own state goes to a folder that is removed.
 *
 * @throws HostError if the Inspector cannot be installed. A failing call is a result, not an exception.
 */
export async function inspectorCli(
  args: readonly string[],
  options: { config: InspectorServer; timeoutMs?: number },
): Promise<InspectorResult> {
  const tool = await ensureTool('inspector');
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-inspector-'));
  try {
    const { url, headers, protocolEra } = options.config;
    const server = {
      type: 'streamable-http',
      url,
      ...(headers ? { headers } : {}),
      ...(protocolEra ? { protocolEra } : {}),
    };
    const configFile = join(folder, 'mcp.json');
    await writeFile(configFile, JSON.stringify({ mcpServers: { target: server } }), { mode: 0o600 });
    // stored-auth-only: a 401 is an answer to look at, not a reason to open a browser.
    const fixed = ['--config', configFile, '--server', 'target', '--format', 'json', '--stored-auth-only'];
    return await runNode(tool.nodeBinary, [tool.bin, '--cli', ...fixed, ...args], folder, options.timeoutMs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runNode(command: string, args: string[], home: string, timeout = 60_000): Promise<InspectorResult> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    MCP_STORAGE_DIR: home,
    // Not the keychain of whoever runs the tests.
    MCP_INSPECTOR_SECRET_STORE: 'memory',
    NO_COLOR: '1',
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      command,
      args,
      { cwd: home, env, timeout, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error?.killed) {
          reject(new Error(`the Inspector did not end within ${timeout} ms. ${stderr}`));
          return;
        }
        resolve({
          exitCode: child.exitCode ?? 1,
          stdout,
          stderr,
          json: parseJson(stdout),
          error: lastError(stderr),
        });
      },
    );
    child.stdin?.end();
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error envelope is the last JSON line of stderr, after lines for people. */
function lastError(stderr: string): InspectorResult['error'] {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return (parseJson(line) as { error?: InspectorResult['error'] } | undefined)?.error;
}
