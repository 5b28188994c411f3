import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RELEASES, N8nApiDouble, type Release } from '../support/n8nApiDouble';
import { writeManySurfaces } from '../support/manySurfaces';

/**
 * `npm run bench:provision [-- <release>…]`: the command line against an n8n in memory with sixty surfaces: the first
 * apply, then a plan that finds nothing to do. Prints requests, wall time and the CPU time of the command alone, as a
 * table, or as JSON (`--json`).
 */

const SURFACES = 60;
const CLI = path.resolve(__dirname, '../../dist/cli/mcp-curated.js');

interface Measured {
  readonly n8n: Release;
  readonly run: string;
  readonly exit: number;
  readonly requests: number;
  readonly wall_s: number;
  readonly cpu_s: number;
}

async function main(): Promise<void> {
  const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  const releases = RELEASES.filter((release) => asked.length === 0 || asked.includes(release));
  const results: Measured[] = [];
  for (const release of releases) results.push(...(await onRelease(release)));
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else console.table(results);
  if (results.some(({ exit }) => exit !== 0)) process.exitCode = 1;
}

async function onRelease(release: Release): Promise<Measured[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-bench-'));
  const n8n = await N8nApiDouble.start(release);
  try {
    const file = writeManySurfaces(folder, SURFACES, n8n);
    return [
      await measured(n8n, 'first apply', 'apply', file),
      await measured(n8n, 'no-op plan', 'plan', file),
      await measured(n8n, 'no-op apply', 'apply', file),
    ];
  } finally {
    await n8n.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured(n8n: N8nApiDouble, run: string, command: string, file: string): Promise<Measured> {
  n8n.requests.length = 0;
  const begun = performance.now();
  const { exit, cpu } = await commandLine('--quiet', command, '--file', file);
  const wall = (performance.now() - begun) / 1_000;
  const round = (seconds: number) => Math.round(seconds * 100) / 100;
  return {
    ...{ n8n: n8n.release, run, exit, requests: n8n.requests.length },
    ...{ wall_s: round(wall), cpu_s: round(cpu) },
  };
}

/** Runs the built command line; it tells its own CPU time when it ends. */
async function commandLine(...args: string[]): Promise<{ exit: number; cpu: number }> {
  const tell = `process.on('exit', () => { const { user, system } = process.cpuUsage(); process.send?.((user + system) / 1e6); });`;
  const preload = `data:text/javascript,${encodeURIComponent(tell)}`;
  const child = spawn(process.execPath, ['--import', preload, CLI, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let cpu = Number.NaN;
  child.on('message', (message) => {
    cpu = Number(message);
  });
  child.channel?.unref();
  const exit = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve(code ?? 1);
    });
  });
  return { exit, cpu };
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
