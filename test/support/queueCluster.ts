import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { hostEnvironment } from '../hosts/environment';
import { startHost, type AttachedHost } from '../hosts/host';
import { ensureHost } from '../hosts/install';
import { freePort, readLog, startServer, waitUntilReady, type ServerProcess } from '../hosts/process';
import { startPostgres } from './postgres';
import { startRedis } from './redis';
import { RoundRobinProxy } from './roundRobinProxy';

/** One n8n process beside the main one. */
export interface ClusterProcess {
  readonly url: string;
  /** What it has written so far, over all its lives. */
  logs: () => string;
  /** SIGKILL: nothing is finished, nobody is told. Resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts it again and waits until it is ready. */
  start(): Promise<void>;
}

/** n8n in queue mode. What is published through `host` is reached through the proxy. */
export interface QueueCluster {
  /** The main process, which serves the editor and the public API; its MCP addresses are those of the proxy. */
  readonly host: AttachedHost;
  readonly proxy: RoundRobinProxy;
  /** `n8n webhook`, two of them. */
  readonly processors: readonly [ClusterProcess, ClusterProcess];
  /** `n8n worker`, two of them. */
  readonly workers: readonly [ClusterProcess, ClusterProcess];
  stop: () => Promise<void>;
}

const READY_LIMIT_MS = 180_000;

/**
 * Starts n8n's queue mode as its documentation describes it: Redis, PostgreSQL, one main, two webhook processors behind a
 * round-robin proxy without affinity, and two workers.
 *
 * @throws HostError; nothing is left running then
 */
export async function startQueueCluster(version: string, tarball: string): Promise<QueueCluster> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const redis = await startRedis();
    stops.push(redis.stop);
    const postgres = await startPostgres();
    stops.push(postgres.stop);
    const shared = {
      N8N_ENCRYPTION_KEY: randomBytes(24).toString('base64url'),
      EXECUTIONS_MODE: 'queue',
      N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
      QUEUE_BULL_REDIS_HOST: '127.0.0.1',
      QUEUE_BULL_REDIS_PORT: String(redis.port),
      DB_TYPE: 'postgresdb',
      DB_POSTGRESDB_HOST: '127.0.0.1',
      DB_POSTGRESDB_PORT: String(postgres.port),
      DB_POSTGRESDB_DATABASE: postgres.database,
      DB_POSTGRESDB_USER: postgres.user,
      DB_POSTGRESDB_PASSWORD: postgres.password,
    };
    const main = await startHost({ version, tarball, env: shared });
    stops.push(async () => {
      await main.stop();
    });
    const start = async (command: 'webhook' | 'worker', number: number) => {
      const started = await startProcess(main, command, number, shared);
      stops.push(started.stop);
      return started;
    };
    const [first, second, ...workers] = await Promise.all([
      start('webhook', 1),
      start('webhook', 2),
      start('worker', 1),
      start('worker', 2),
    ]);
    const proxy = await RoundRobinProxy.start([first.url, second.url]);
    stops.push(async () => {
      await proxy.stop();
    });
    const host = { ...main, mcpUrl: (path: string) => `${proxy.origin}/mcp/${path}` };
    return { host, proxy, processors: [first, second], workers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What each command writes when it can work. `/healthz` of a processor answers before its routes exist. */
const READY = { webhook: 'waiting for requests', worker: 'n8n worker is now ready' } as const;

async function startProcess(
  main: AttachedHost,
  command: keyof typeof READY,
  number: number,
  shared: Record<string, string>,
): Promise<ClusterProcess & { stop: () => Promise<void> }> {
  const { version, userFolder } = main;
  const installed = await ensureHost(version);
  const label = `n8n ${version} ${command} ${String(number)}`;
  const logFile = join(userFolder, `${command}-${String(number)}.log`);
  const port = await freePort();
  const env = hostEnvironment({
    ...{ version, nodeBinary: installed.nodeBinary, userFolder, port, nodeEnv: 'production' },
    brokerPort: await freePort(),
    encryptionKey: shared['N8N_ENCRYPTION_KEY'] ?? '',
    extra: { ...shared, QUEUE_HEALTH_CHECK_PORT: String(await freePort()) },
  });
  let server: ServerProcess | undefined;
  const start = async () => {
    const before = readLog(logFile).length;
    const args = [installed.n8nBin, command];
    server = startServer({ label, command: installed.nodeBinary, args, cwd: userFolder, env, logFile });
    await waitUntilReady(
      server,
      { label, logFile, limitMs: READY_LIMIT_MS },
      async () =>
        await Promise.resolve(readLog(logFile).slice(before).includes(READY[command]) ? true : null),
    );
  };
  const stop = async () => await server?.stop();
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${String(port)}`,
    logs: () => readLog(logFile),
    start,
    stop,
    kill: async () => await server?.stop(0),
  };
}
