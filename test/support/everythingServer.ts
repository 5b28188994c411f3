import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { freePort } from '../hosts/process';

const PROGRAM = join(__dirname, '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const READY_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 5_000;

/** The reference server that exercises every part of the protocol, as a process of its own on loopback. */
export interface EverythingServer {
  /** `http://127.0.0.1:<port>`: the origin that is pinned. */
  readonly origin: string;
  readonly endpoint: string;
  stop(): Promise<void>;
}

export const EVERYTHING_NAME = 'mcp-servers/everything';

/** Starts it over one of its transports and waits until it listens. */
export async function startEverything(
  transport: 'streamableHttp' | 'sse' = 'streamableHttp',
): Promise<EverythingServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [PROGRAM, transport], {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    await listening(child);
  } catch (error) {
    await stopped(child);
    throw error;
  }
  const origin = `http://127.0.0.1:${String(port)}`;
  return {
    origin,
    endpoint: `${origin}${transport === 'sse' ? '/sse' : '/mcp'}`,
    stop: async () => {
      await stopped(child);
    },
  };
}

/** It says so on stderr; later lines are read too, or the pipe would fill up. */
async function listening(child: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => {
      reject(new Error(`server-everything ${why}: ${said.slice(-500)}`));
    };
    const timer = setTimeout(() => {
      fail('was not ready in time');
    }, READY_LIMIT_MS);
    const hear = (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-2_000);
      if (!/(?:listening|running) on port/.test(said)) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', () => {
      clearTimeout(timer);
      fail('ended');
    });
  });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await gone;
  clearTimeout(timer);
}
