import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { HostError, lastLines } from './errors';

export interface ServerOptions {
  /** What errors call it: "n8n 2.41.1". */
  label: string;
  command: string;
  args: readonly string[];
  cwd: string;
  /** The whole environment of the process; nothing of ours is added. */
  env: Record<string, string>;
  /** Gets stdout and stderr, appended. A file and not a pipe, so that a dead reader never blocks the server. */
  logFile: string;
}

export interface ServerProcess {
  readonly pid: number;
  /** A sentence about how it ended, or null while it runs. */
  ended(): string | null;
  /** SIGTERM (none with 0), after `graceMs` (default 10 000) SIGKILL; in the end nothing of the process group is left. */
  stop(graceMs?: number): Promise<void>;
}

/** Process groups that must not outlive us, and folders that go with them. */
const liveGroups = new Set<number>();
const doomedFolders = new Set<string>();
let exitHandlersSet = false;

/** Removes `folder` at the latest when this process ends. {@link keepNoLonger} when it is gone before. */
export function removeOnExit(folder: string): void {
  doomedFolders.add(folder);
  setExitHandlers();
}

export function keepNoLonger(folder: string): void {
  doomedFolders.delete(folder);
}

/**
 * Starts a server in its own process group, which dies with us whatever happens: on exit and on signals
 * through handlers, on our SIGKILL through a guard process that waits for its standard input to close. It
 * does not keep us alive: a script that has nothing left to do ends, and the server with it.
 */
export function startServer(options: ServerOptions): ServerProcess {
  const log = openSync(options.logFile, 'a', 0o600);
  let child: ChildProcess;
  try {
    child = spawn(options.command, [...options.args], {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
  let end: string | null = null;
  child.once('error', (error) => (end ??= `could not be started: ${error.message}`));
  child.once('exit', (code, signal) => (end ??= `ended with ${signal ?? `exit code ${code}`}`));
  child.unref();
  const pid = child.pid;
  if (pid === undefined) {
    throw new HostError('start_failed', `${options.label}: ${options.command} could not be started`);
  }
  liveGroups.add(pid);
  setExitHandlers();
  const guard = startGuard(pid);

  return {
    pid,
    ended: () => end,
    async stop(graceMs = 10_000) {
      guard.kill('SIGKILL');
      // Only the leader is asked: n8n ends its task runners itself, and reports an error if they go first.
      if (end === null && graceMs > 0) {
        signal(pid, 'SIGTERM');
        await endWithin(graceMs);
      }
      // The rest of the group, and a leader that did not listen.
      for (let tries = 0; tries < 60 && signal(pid, 'SIGKILL'); tries += 1) await sleep(50);
      liveGroups.delete(pid);
    },
  };

  /** Resolves when the leader has ended, or after `ms`. Its timer keeps us alive; the child does not. */
  async function endWithin(ms: number): Promise<void> {
    const timer = new AbortController();
    const timeUp = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([once(child, 'exit'), timeUp]);
    timer.abort();
  }

  function signal(group: number, name: 'SIGTERM' | 'SIGKILL'): boolean {
    return sendSignal(name === 'SIGTERM' ? group : -group, name);
  }
}

/**
 * Waits until `probe` answers something other than null, asking every `everyMs` milliseconds.
 *
 * @throws HostError `start_failed` if the server ends meanwhile, `start_timeout` after `limitMs`; both with
 *   the last 40 lines of its log
 */
export async function waitUntilReady<T>(
  server: ServerProcess,
  options: { label: string; logFile: string; limitMs: number; everyMs?: number },
  probe: () => Promise<T | null>,
): Promise<T> {
  const deadline = Date.now() + options.limitMs;
  const tail = () => `Last lines of ${options.logFile}:\n${lastLines(readLog(options.logFile), 40)}`;
  for (;;) {
    const ended = server.ended();
    if (ended !== null) {
      throw new HostError('start_failed', `${options.label} ${ended} before it was ready. ${tail()}`);
    }
    // A refused connection is the normal answer of a server that is still starting.
    const answer = await probe().catch(() => null);
    if (answer !== null) return answer;
    if (Date.now() > deadline) {
      const limit = `${Math.round(options.limitMs / 1000)} s`;
      throw new HostError('start_timeout', `${options.label} was not ready after ${limit}. ${tail()}`);
    }
    await sleep(options.everyMs ?? 250);
  }
}

/** Everything a server has written to its log file so far; empty if there is none yet. */
export function readLog(logFile: string): string {
  return existsSync(logFile) ? readFileSync(logFile, 'utf8') : '';
}

const givenPorts = new Set<number>();

/** A TCP port on 127.0.0.1 that nobody listens on, never the same one twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const probe = createServer();
    probe.listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const address = probe.address();
    probe.close();
    await once(probe, 'close');
    if (typeof address !== 'object' || address === null) throw new Error('no port in the probe address');
    if (!givenPorts.has(address.port)) {
      givenPorts.add(address.port);
      return address.port;
    }
  }
}

/** Kills the group when our end of its standard input closes, which even SIGKILL of us brings about. */
function startGuard(group: number): ChildProcess {
  const script = 'read -r _; kill -s KILL -- "-$0"';
  const guard = spawn('/bin/sh', ['-c', script, String(group)], {
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const input = guard.stdin as Socket | null;
  guard.on('error', () => undefined);
  input?.on('error', () => undefined);
  guard.unref();
  // A pipe is a socket in Node: without this it would keep our event loop alive.
  input?.unref();
  return guard;
}

function setExitHandlers(): void {
  if (exitHandlersSet) return;
  exitHandlersSet = true;
  const cleanUp = () => {
    for (const group of liveGroups) sendSignal(-group, 'SIGKILL');
    for (const folder of doomedFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    liveGroups.clear();
    doomedFolders.clear();
  };
  process.on('exit', cleanUp);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const onSignal = () => {
      cleanUp();
      process.off(name, onSignal);
      // Having a listener suppressed the default; somebody else's listener decides for itself.
      if (process.listenerCount(name) === 0) process.kill(process.pid, name);
    };
    process.on(name, onSignal);
  }
}

/** True if there was somebody to signal. A negative pid means a whole process group. */
function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
