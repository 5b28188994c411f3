import { spawn } from 'node:child_process';

import { HostError, lastLines, type Progress } from './errors';

/** A sign of life this often (milliseconds) while npm or pnpm is silent. */
const HEARTBEAT_MS = 15_000;

export interface NpmOptions {
  /** The folder to work in. */
  cwd: string;
  /** What a person reads in progress lines and errors: "n8n 1.100.1: downloading". */
  label: string;
  onProgress: Progress;
  /** What a person should try when this step fails: one sentence. */
  hint: string;
}

/**
 * Runs npm, quiet but for a heartbeat line with the elapsed time, and resolves when it succeeded.
 * npm sees the caller's environment, since registry, proxy and certificate settings live there.
 *
 * @throws HostError `npm_failed` with npm's last lines and `hint`
 */
export async function runNpm(args: readonly string[], options: NpmOptions): Promise<void> {
  await runQuietly({ name: 'npm', file: 'npm', script: [] }, args, options);
}

/**
 * As {@link runNpm}, with the pnpm whose start script is `pnpmScript`.
 *
 * @throws HostError `npm_failed` with pnpm's last lines and `hint`
 */
export async function runPnpm(
  pnpmScript: string,
  args: readonly string[],
  options: NpmOptions,
): Promise<void> {
  await runQuietly({ name: 'pnpm', file: process.execPath, script: [pnpmScript] }, args, options);
}

async function runQuietly(
  { name, file, script }: { name: string; file: string; script: readonly string[] },
  args: readonly string[],
  options: NpmOptions,
): Promise<void> {
  const { cwd, label, onProgress, hint } = options;
  const startedAt = Date.now();
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  onProgress(`${label} …`);
  let output = '';
  const heartbeat = setInterval(() => {
    onProgress(`${label} … ${elapsed()}`);
  }, HEARTBEAT_MS);
  try {
    const status = await new Promise<string>((resolve, reject) => {
      const child = spawn(file, [...script, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
      const keep = (chunk: Buffer) => {
        // A native build prints megabytes; only its end is ever shown.
        output = (output + chunk.toString('utf8')).slice(-64_000);
      };
      child.stdout.on('data', keep);
      child.stderr.on('data', keep);
      child.once('error', reject);
      child.once('close', (code, signal) => {
        resolve(code === 0 ? 'ok' : (signal ?? `exit code ${code}`));
      });
    });
    if (status !== 'ok') throw failure(status);
  } catch (error) {
    throw error instanceof HostError ? error : failure(String(error), error);
  } finally {
    clearInterval(heartbeat);
  }
  onProgress(`${label}: done in ${elapsed()}`);

  function failure(status: string, cause?: unknown): HostError {
    // Engine warnings come first and in dozens: dropped, for they are expected and hide the reason.
    const lines = lastLines(output.replace(/^(?:npm warn| ?WARN) .*$/gm, ''), 20);
    const message = `${name} ${args.join(' ')} in ${cwd} ended with ${status}. ${hint}\n${lines}`;
    return new HostError('npm_failed', message, { cause });
  }
}
