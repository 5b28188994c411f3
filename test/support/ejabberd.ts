import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';

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
import { XmppClient } from './xmppClient';

const run = promisify(execFile);

export const EJABBERD: Service = { binary: 'ejabberdctl', aptPackage: 'ejabberd' };

/** The user of the Debian package. */
const USER = 'ejabberd';
/** Commands that come from here may do everything: that is how the server is filled. */
const SEEDER = '127.0.0.2';

export const XMPP_HOST = 'harbour.test';
export const MUC_SERVICE = 'conference.harbour.test';

export interface XmppRoom {
  name: string;
  /** By their names in mod_muc_admin. */
  options: Record<string, string>;
}

export interface RunningEjabberd {
  /** Where the API is: `http://127.0.0.1:<port>`, no slash at the end. */
  url: string;
  /** Makes an account. @returns its password */
  account(user: string): Promise<string>;
  rooms(rooms: readonly XmppRoom[]): Promise<void>;
  /** Somebody with an account who is online. */
  signIn(user: string, password: string): Promise<XmppClient>;
  /** What an administrator is told by a command. */
  command(name: string, args: object): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Starts Debian's ejabberd on loopback with a database in a fresh folder, as the user of the package. The service of the
 * system is not used and need not run; neither does the daemon that Erlang nodes find each other by.
 *
 * @param reader the account that may run the two commands of the contract, and nothing else
 * @throws HostError `service_missing`, `start_failed`, `start_timeout`
 */
export async function startEjabberd(reader: string): Promise<RunningEjabberd> {
  const label = 'ejabberd';
  const ejabberdctl = findBinary(EJABBERD);
  if (ejabberdctl === null) {
    throw new HostError('service_missing', 'ejabberd is not installed (apt-get install ejabberd)');
  }
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-ejabberd-'));
  removeOnExit(folder);
  const [logs, spool, config] = ['logs', 'spool', 'ejabberd.yml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const port = await freePort();
  const origin = `127.0.0.1:${String(port)}`;
  await Promise.all([mkdir(logs), mkdir(spool), writeFile(config, stringify(configOf(port, reader)))]);
  const become = await becoming(folder, logs, spool, config);
  const [command = ejabberdctl, ...args] = [
    ...[...become, ejabberdctl, '--config-dir', folder, '--config', config, '--ctl-config', '/dev/null'],
    ...['--logs', logs, '--spool', spool, '--node', `mcp-curated-${String(port)}@localhost`, 'foreground'],
  ];
  const logFile = join(folder, 'ejabberd.out');
  const env = {
    ...{ HOME: folder, LC_ALL: 'C.UTF-8', PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    // A fixed port takes the place of epmd, which would outlive the node.
    ERL_DIST_PORT: String(await freePort()),
    ERL_OPTIONS: '-kernel inet_dist_use_interface {127,0,0,1}',
  };
  const seeder = async (name: string, body: object) => await ask(`http://${origin}/api/${name}`, body);
  let server: ServerProcess | undefined;
  const stop = async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
    keepNoLonger(folder);
  };
  try {
    server = startServer({ label, command, args, cwd: folder, env, logFile });
    await waitUntilReady(server, { label, logFile, limitMs: 60_000 }, async () => {
      await seeder('status', {});
      return true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `http://${origin}`,
    account: async (user) => {
      const password = randomBytes(24).toString('base64url');
      await seeder('register', { user, host: XMPP_HOST, password });
      return password;
    },
    rooms: async (rooms) => {
      for (const { name, options } of rooms) {
        const pairs = Object.entries(options).map(([key, value]) => ({ name: key, value }));
        const room = { name, service: MUC_SERVICE, host: XMPP_HOST, options: pairs };
        await seeder('create_room_with_opts', room);
      }
    },
    signIn: async (user, password) =>
      await XmppClient.connect(`ws://${origin}/ws`, user, XMPP_HOST, password),
    command: seeder,
    stop,
  };
}

function configOf(port: number, reader: string): object {
  return {
    hosts: [XMPP_HOST],
    loglevel: 'warning',
    auth_password_format: 'scram',
    listen: [
      {
        ...{ port, ip: '127.0.0.1', module: 'ejabberd_http' },
        request_handlers: { '/api': 'mod_http_api', '/ws': 'ejabberd_http_ws' },
      },
    ],
    api_permissions: {
      seeding: { from: 'mod_http_api', who: { ip: SEEDER }, what: '*' },
      mcp: {
        from: 'mod_http_api',
        who: { user: `${reader}@${XMPP_HOST}` },
        what: ['muc_online_rooms_by_regex', 'get_room_options'],
      },
    },
    modules: {
      mod_http_api: {},
      mod_admin_extra: {},
      mod_disco: {},
      mod_mam: { default: 'always' },
      mod_muc: { host: MUC_SERVICE, default_room_options: { persistent: true, mam: true } },
      mod_muc_admin: {},
    },
  };
}

/** ejabberdctl wants to be root or the user of the Debian package; root becomes that one, who gets `paths`. */
async function becoming(...paths: string[]): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const idOf = async (flag: string) => Number((await run('id', [flag, USER])).stdout);
  const [uid, gid] = [await idOf('-u'), await idOf('-g')];
  for (const path of paths) await chown(path, uid, gid);
  return ['setpriv', '--reuid', USER, '--regid', USER, '--clear-groups'];
}

/** One command from the address that may run all. */
async function ask(url: string, body: object): Promise<unknown> {
  const payload = JSON.stringify(body);
  return await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) };
    const signal = AbortSignal.timeout(20_000);
    const options = { method: 'POST', headers, agent: false, localAddress: SEEDER, signal } as const;
    const request = httpRequest(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`ejabberd answered ${String(response.statusCode)}: ${text.slice(0, 200)}`));
      });
    });
    request.once('error', reject);
    request.end(payload);
  });
}
