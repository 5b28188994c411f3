import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { chown, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { HostError } from '../hosts/errors';
import {
  freePort,
  keepNoLonger,
  readLog,
  removeOnExit,
  startServer,
  waitUntilReady,
  type ServerProcess,
} from '../hosts/process';
import { findBinary, type Service } from './services';

const run = promisify(execFile);

/** Debian keeps the server out of PATH, one folder per major version. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';

export const POSTGRES: Service = {
  binary: 'postgres',
  aptPackage: 'postgresql',
  folders: debianFolders(),
};

export interface RunningPostgres {
  port: number;
  database: string;
  user: string;
  password: string;
  stop: () => Promise<void>;
}

/**
 * Starts a PostgreSQL on loopback with a database cluster in a fresh folder, which does not survive a power failure.
 * Debian's system service is not used and need not run. PostgreSQL refuses to run as root: then it runs as the user that
 * the Debian package made.
 *
 * @throws HostError `service_missing`, `start_failed`, `start_timeout`
 */
export async function startPostgres(): Promise<RunningPostgres> {
  const label = 'postgres';
  const command = findBinary(POSTGRES);
  if (command === null) {
    throw new HostError('service_missing', 'postgres is not installed (apt-get install postgresql)');
  }
  const initdb = join(dirname(await realpath(command)), 'initdb');
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-postgres-'));
  removeOnExit(folder);
  const port = await freePort();
  const user = 'n8n';
  const password = randomBytes(24).toString('base64url');
  const logFile = join(folder, 'postgres.log');
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  const env = { HOME: folder, LC_ALL: 'C.UTF-8' };
  const asUser = await notRoot(folder, passwordFile);
  const stop = async (server?: ServerProcess) => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
    keepNoLonger(folder);
  };
  try {
    const init = asUser(initdb, [
      ...['-D', data, '-U', user, '-E', 'UTF8', '--no-sync', '--auth=scram-sha-256'],
      `--pwfile=${passwordFile}`,
    ]);
    await run(init.command, init.args, { cwd: folder, env });
    const settings = [
      ...[`port=${String(port)}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`],
      ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'],
    ];
    const start = asUser(command, ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]);
    const server = startServer({ label, ...start, cwd: folder, env, logFile });
    try {
      await waitUntilReady(
        server,
        { label, logFile, limitMs: 60_000 },
        async () =>
          await Promise.resolve(readLog(logFile).includes('ready to accept connections') ? true : null),
      );
    } catch (error) {
      await server.stop();
      throw error;
    }
    return {
      port,
      database: 'postgres',
      user,
      password,
      stop: async () => {
        await stop(server);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Command {
  command: string;
  args: string[];
}

/** How to start a program as somebody who is not root and owns `paths`. */
async function notRoot(...paths: string[]): Promise<(command: string, args: string[]) => Command> {
  if (process.getuid?.() !== 0) return (command, args) => ({ command, args });
  const idOf = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
  const [uid, gid] = [await idOf('-u'), await idOf('-g')];
  for (const path of paths) await chown(path, uid, gid);
  const become = [`--reuid=${String(uid)}`, `--regid=${String(gid)}`, '--clear-groups', '--'];
  return (command, args) => ({ command: 'setpriv', args: [...become, command, ...args] });
}

function debianFolders(): string[] {
  try {
    return readdirSync(DEBIAN_FOLDER)
      .sort((one, other) => Number(other) - Number(one))
      .map((version) => join(DEBIAN_FOLDER, version, 'bin'));
  } catch {
    // Not Debian, or not installed.
    return [];
  }
}
