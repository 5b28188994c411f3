import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

import type { InstalledTool } from '../hosts/install';
import { keepNoLonger, readLog, removeOnExit, type ServerProcess, startServer } from '../hosts/process';

export interface ClientScenario {
  /** `await ensureTool('conformance')`. */
  tool: InstalledTool;
  /** Such as `initialize` or `auth/client-credentials-basic`: `conformance list --client`. */
  scenario: string;
  /**
   * A command line for /bin/sh that runs the client. It gets the server's address as its last argument, the
   * scenario in `MCP_CONFORMANCE_SCENARIO` and, where there is one, JSON in `MCP_CONFORMANCE_CONTEXT`.
   */
  command: string;
  /** Where the command runs. */
  cwd: string;
  /** What the client's environment holds beside PATH and a HOME of its own. */
  env?: Record<string, string>;
  /** How long the client may take (milliseconds). */
  timeoutMs?: number;
}

export interface ClientScenarioResult {
  /** The suite says so, and at least one of its checks succeeded. */
  passed: boolean;
  /** The ids of the checks that succeeded, as often as they did. */
  succeeded: string[];
  /** What the suite and the client wrote, without colours: for the message of a failing assertion. */
  output: string;
}

export interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** The suite itself only starts and stops a server on loopback (milliseconds). */
const SUITE_OVERHEAD_MS = 10_000;

/**
 * Runs one client scenario of the MCP conformance suite: the suite starts a server, runs the command against
 * it and judges what the server saw. Nothing is left: neither a process, which matters because the suite ends
 * only the shell of a client that takes too long, nor the folder with its results. A failing scenario is a
 * result, not an exception.
 */
export async function runClientScenario(options: ClientScenario): Promise<ClientScenarioResult> {
  const { tool, scenario, command, cwd, env, timeoutMs = 30_000 } = options;
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-conformance-'));
  removeOnExit(folder);
  try {
    const results = join(folder, 'results');
    const logFile = join(folder, 'suite.log');
    const chosen = ['--command', command, '--scenario', scenario, '--timeout', String(timeoutMs)];
    const suite = startServer({
      label: `conformance ${scenario}`,
      command: tool.nodeBinary,
      // It runs the command with `shell: true`, which Node warns of each time.
      args: ['--no-deprecation', tool.bin, 'client', ...chosen, '--output-dir', results],
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, NO_COLOR: '1', ...env },
      logFile,
    });
    const end = await endOf(suite, timeoutMs + SUITE_OVERHEAD_MS);
    const log = stripVTControlCharacters(readLog(logFile));
    const { checks, client } = await readResults(results);
    const succeeded = checks.filter((check) => check.status === 'SUCCESS').map((check) => check.id);
    return {
      // A client that does nothing at all passes `initialize` as far as the suite is concerned.
      passed: end === 'ended with exit code 0' && succeeded.length > 0,
      succeeded,
      // The suite repeats what the client wrote, but only if the client failed.
      output: [log, ...client.filter((text) => !log.includes(text)), `The suite ${end}.`].join('\n'),
    };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    keepNoLonger(folder);
  }
}

export interface ServerSuite {
  /** `await ensureTool('conformance')` or `conformance-next`. */
  tool: InstalledTool;
  /** Where the suite finds the server. It knows no bearer: see `bearerProxy`. */
  url: string;
  /** Which scenarios: `['--suite', 'active']`, `['--requirements', '2026-07-28']`, `['--scenario', …]`. */
  chosen: readonly string[];
  timeoutMs?: number;
}

/** The checks of one scenario; it failed when one of them did. */
export interface ScenarioOutcome {
  scenario: string;
  checks: Check[];
  failed: Check[];
}

/** Runs server scenarios of the suite, one after the other, and reads what it noted. Nothing is left. */
export async function runServerSuite(options: ServerSuite): Promise<ScenarioOutcome[]> {
  const { tool, url, chosen, timeoutMs = 240_000 } = options;
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-conformance-'));
  removeOnExit(folder);
  try {
    const results = join(folder, 'results');
    const logFile = join(folder, 'suite.log');
    const suite = startServer({
      label: 'conformance server',
      command: tool.nodeBinary,
      args: ['--no-deprecation', tool.bin, 'server', '--url', url, ...chosen, '--output-dir', results],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, NO_COLOR: '1' },
      logFile,
    });
    const end = await endOf(suite, timeoutMs);
    const files = await readdir(results, { recursive: true }).catch((): string[] => []);
    const outcomes = await Promise.all(
      files
        .filter((file) => file.endsWith('checks.json'))
        .map(async (file): Promise<ScenarioOutcome> => {
          const checks = parseChecks(await readFile(join(results, file), 'utf8'));
          // `server-<scenario>-<time>/checks.json`
          const scenario = dirname(file)
            .replace(/^server-/, '')
            .replace(/-\d{4}-\d\d-\d\dT[\dZ-]+$/, '');
          return { scenario, checks, failed: checks.filter(({ status }) => status === 'FAILURE') };
        }),
    );
    if (!end.startsWith('ended') || outcomes.length === 0) {
      throw new Error(`The suite ${end}.\n${stripVTControlCharacters(readLog(logFile))}`);
    }
    return outcomes.sort((one, other) => one.scenario.localeCompare(other.scenario));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    keepNoLonger(folder);
  }
}

/** Waits for the end and says how it came; at the limit, and in any case for what is left, brings it about. */
async function endOf(suite: ServerProcess, limitMs: number): Promise<string> {
  const deadline = Date.now() + limitMs;
  try {
    while (suite.ended() === null && Date.now() < deadline) await sleep(100);
    return suite.ended() ?? `had not ended after ${limitMs} ms`;
  } finally {
    await suite.stop(0);
  }
}

/** The suite writes below `<scenario>-<time>`, where a scenario's slash makes a folder; nothing if it was ended. */
async function readResults(folder: string): Promise<{ checks: Check[]; client: string[] }> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const checksFile = files.find((file) => file.endsWith('checks.json'));
  if (checksFile === undefined) return { checks: [], client: [] };
  const read = (name: string) => readFile(join(folder, dirname(checksFile), name), 'utf8').catch(() => '');
  const [checks, ...client] = await Promise.all([
    read('checks.json'),
    read('stdout.txt'),
    read('stderr.txt'),
  ]);
  return { checks: parseChecks(checks), client: client.map(stripVTControlCharacters) };
}

function parseChecks(text: string): Check[] {
  try {
    return JSON.parse(text) as Check[];
  } catch {
    // Cut short or empty: the suite was ended while it wrote.
    return [];
  }
}
