import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection, type Connection } from 'mysql2/promise';

import { HostError } from '../hosts/errors';
import {
  freePort,
  keepNoLonger,
  removeOnExit,
  startServer,
  waitUntilReady,
  type ServerProcess,
} from '../hosts/process';
import { findBinary, type Service } from './services';

const run = promisify(execFile);

export const MARIADB: Service = { binary: 'mariadbd', aptPackage: 'mariadb-server' };

export interface RunningMariadb {
  port: number;
  /** The administrator; a principal of a contract is made by the test. */
  user: string;
  password: string;
  stop(): Promise<void>;
}

/**
 * Starts a MariaDB on loopback with a data folder of its own, which does not survive a power failure. Debian's system
 * service is not used and need not run. As root it runs as the user that the Debian package made.
 *
 * @throws HostError `service_missing`, `start_failed`, `start_timeout`
 */
export async function startMariadb(): Promise<RunningMariadb> {
  const label = 'mariadbd';
  const command = findBinary(MARIADB);
  const install = findBinary({ binary: 'mariadb-install-db', aptPackage: 'mariadb-server' });
  if (command === null || install === null) {
    throw new HostError('service_missing', 'mariadbd is not installed (apt-get install mariadb-server)');
  }
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-mariadb-'));
  removeOnExit(folder);
  const port = await freePort();
  const user = 'seed';
  const password = randomBytes(24).toString('base64url');
  const logFile = join(folder, 'mariadb.log');
  const data = join(folder, 'data');
  const setup = join(folder, 'setup.sql');
  await writeFile(
    setup,
    `CREATE USER ${user}@'127.0.0.1' IDENTIFIED BY '${password}';
GRANT ALL ON *.* TO ${user}@'127.0.0.1' WITH GRANT OPTION;\n`,
    { mode: 0o600 },
  );
  const env = { HOME: folder, LC_ALL: 'C.UTF-8', PATH: `/usr/bin:/bin:/usr/sbin:/sbin:${dirname(command)}` };
  const become = await becoming(folder, setup);
  const stop = async (server?: ServerProcess) => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
    keepNoLonger(folder);
  };
  try {
    const common = ['--no-defaults', `--datadir=${data}`, ...become];
    const made = ['--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve'];
    await run(install, [...common, ...made], { cwd: folder, env });
    const settings = [
      ...[`--port=${String(port)}`, '--bind-address=127.0.0.1', `--socket=${join(folder, 'socket')}`],
      ...[`--pid-file=${join(folder, 'pid')}`, `--init-file=${setup}`, '--skip-name-resolve'],
      ...['--innodb-flush-log-at-trx-commit=0', '--innodb-buffer-pool-size=32M', '--skip-log-bin'],
    ];
    const args = [...common, ...settings];
    const server = startServer({ label, command, args, cwd: folder, env, logFile });
    const running = {
      port,
      user,
      password,
      stop: async () => {
        await stop(server);
      },
    };
    try {
      await waitUntilReady(server, { label, logFile, limitMs: 60_000 }, async () => {
        await (await connectAsAdministrator(running)).end();
        return true;
      });
    } catch (error) {
      await server.stop();
      throw error;
    }
    return running;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A connection that may do everything, for what a test prepares. */
export async function connectAsAdministrator({
  port,
  user,
  password,
}: Omit<RunningMariadb, 'stop'>): Promise<Connection> {
  return await createConnection({ host: '127.0.0.1', port, user, password, multipleStatements: true });
}

/** MariaDB does not run as root: then it becomes the user of the Debian package, who gets `paths`. */
async function becoming(...paths: string[]): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const idOf = async (flag: string) => Number((await run('id', [flag, 'mysql'])).stdout);
  const [uid, gid] = [await idOf('-u'), await idOf('-g')];
  for (const path of paths) await chown(path, uid, gid);
  return ['--user=mysql'];
}
