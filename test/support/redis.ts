import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { HostError } from '../hosts/errors';
import { freePort, keepNoLonger, removeOnExit, startServer, waitUntilReady } from '../hosts/process';
import { findBinary, type Service } from './services';

export const REDIS: Service = { binary: 'redis-server', aptPackage: 'redis-server' };

export interface RunningRedis {
  port: number;
  stop: () => Promise<void>;
}

/**
 * Starts a Redis on loopback that keeps nothing on disk. Debian's system service is not used and need not run.
 *
 * @throws HostError `service_missing`, `start_failed`, `start_timeout`
 */
export async function startRedis(): Promise<RunningRedis> {
  const label = 'redis';
  const command = findBinary(REDIS);
  if (command === null) {
    throw new HostError('service_missing', 'redis-server is not installed (apt-get install redis-server)');
  }
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-redis-'));
  removeOnExit(folder);
  const port = await freePort();
  const logFile = join(folder, 'redis.log');
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = startServer({ label, command, args, cwd: folder, env: { HOME: folder }, logFile });
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    keepNoLonger(folder);
  };
  try {
    await waitUntilReady(server, { label, logFile, limitMs: 30_000 }, () => ping(port));
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

function ping(port: number): Promise<true | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().startsWith('+PONG') ? true : null);
    });
    socket.once('error', reject);
  });
}
