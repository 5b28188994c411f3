import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { http } from '../hosts/api';
import { HostError, lastLines } from '../hosts/errors';
import { freePort, startServer, waitUntilReady } from '../hosts/process';
import { findBinary, type Service } from './services';

const run = promisify(execFile);

export const PHP: Service = { binary: 'php', aptPackage: 'php-cli' };

/** Requests that one server answers side by side. */
const WORKERS = '4';

export interface PhpProgram {
  /** What errors call it. */
  label: string;
  /** A folder of its own, for HOME and logs. */
  folder: string;
  /** Added to the little that PHP gets to see of the environment; secrets go here and not into arguments. */
  env: Record<string, string>;
}

/**
 * Runs a PHP script to its end.
 *
 * @returns its standard output
 * @throws HostError `service_missing`, `setup_failed` with the last lines that it wrote
 */
export async function runPhp({ label, folder, env }: PhpProgram, ...args: string[]): Promise<string> {
  const options = { cwd: folder, env: environment(folder, env), maxBuffer: 16_777_216, timeout: 60_000 };
  try {
    return (await run(binary(), args, options)).stdout;
  } catch (error) {
    if (error instanceof HostError) throw error;
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const said = lastLines(`${stdout}\n${stderr}`, 15);
    throw new HostError('setup_failed', `${label} could not be set up: ${said}`, { cause: error });
  }
}

export interface PhpServer {
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts PHP's own web server and waits until `path` answers with status 200.
 *
 * @param root a document root, or a script that answers everything
 * @param port one that is free, if the application has to know it before
 * @throws HostError `service_missing`, `start_failed`, `start_timeout`
 */
export async function startPhpServer(
  { label, folder, env }: PhpProgram,
  root: { documents: string } | { script: string },
  path: string,
  port?: number,
): Promise<PhpServer> {
  const address = `127.0.0.1:${String(port ?? (await freePort()))}`;
  const url = `http://${address}`;
  const logFile = `${folder}/php.log`;
  const args = ['-S', address, ...('documents' in root ? ['-t', root.documents] : [root.script])];
  const server = startServer({
    label,
    command: binary(),
    args,
    cwd: folder,
    env: { ...environment(folder, env), PHP_CLI_SERVER_WORKERS: WORKERS },
    logFile,
  });
  try {
    await waitUntilReady(server, { label, logFile, limitMs: 60_000 }, async () => {
      const { status } = await http({ method: 'GET', url: `${url}${path}`, timeoutMs: 20_000 });
      return status === 200 ? true : null;
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    url,
    stop: async () => {
      await server.stop();
    },
  };
}

export async function stopAll(servers: readonly PhpServer[]): Promise<void> {
  for (const server of servers) await server.stop();
}

function binary(): string {
  const found = findBinary(PHP);
  if (found === null)
    throw new HostError('service_missing', 'php is not installed (apt-get install php-cli)');
  return found;
}

function environment(folder: string, env: Record<string, string>): Record<string, string> {
  return { HOME: folder, TMPDIR: folder, LC_ALL: 'C.UTF-8', PATH: '/usr/bin:/bin', ...env };
}
