import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { HostError, isSystemError, type Progress } from './errors';

/** A lock whose owner has not touched it for this long (milliseconds) belongs to a dead process. */
const LOCK_STALE_MS = 120_000;
const LOCK_TOUCH_MS = 15_000;
/** How long to wait for somebody else's installation (milliseconds). */
const LOCK_WAIT_MS = 30 * 60_000;

/**
 * The folder that holds everything installed, outside the checkout because it is gigabytes:
 * `MCP_CURATED_HOSTS`, else `${XDG_CACHE_HOME:-~/.cache}/n8n-mcp-curated/hosts`.
 */
export function cacheRoot(): string {
  const explicit = process.env['MCP_CURATED_HOSTS'];
  if (explicit) return explicit;
  const cacheHome = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cacheHome, 'n8n-mcp-curated', 'hosts');
}

/** What a finished installation says of itself. A mismatch in any field means: install again. */
interface Stamp {
  /** SHA-256 over the files that say what to install, hexadecimal. */
  sha256: string;
  /** Native parts fit one platform only; a cache may be carried to another machine. */
  platform: string;
}

const stampFile = (dir: string) => join(dir, '.complete.json');

/** The {@link Stamp} that an installation made from these files of a folder on this machine would carry. */
export async function expectedStamp(manifestDir: string, files: readonly string[]): Promise<Stamp> {
  const hash = createHash('sha256');
  for (const name of files) {
    hash.update(await readFile(join(manifestDir, name)));
    hash.update('\0');
  }
  return { sha256: hash.digest('hex'), platform: `${process.platform}-${process.arch}` };
}

/** True if `dir` holds a finished installation of exactly `expected`. */
export async function isComplete(dir: string, expected: Stamp): Promise<boolean> {
  try {
    const found = JSON.parse(await readFile(stampFile(dir), 'utf8')) as Partial<Stamp>;
    return found.sha256 === expected.sha256 && found.platform === expected.platform;
  } catch {
    // Absent or cut short: both mean that the installation did not finish.
    return false;
  }
}

/** Marks an installation as finished. The very last step of installing. */
export async function markComplete(dir: string, stamp: Stamp): Promise<void> {
  await writeFile(stampFile(dir), `${JSON.stringify(stamp, null, 2)}\n`);
}

/** Takes the mark away before anything is changed, so that an interrupted installation is done again. */
export async function markIncomplete(dir: string): Promise<void> {
  await rm(stampFile(dir), { force: true });
}

interface LockOwner {
  token: string;
  pid: number;
  hostname: string;
}

/**
 * Runs `work` while holding the lock of `name` (`label` in progress lines), so that two processes never install the same thing at the
 * same time. The lock is a folder (creating one is atomic everywhere) that its owner touches now and then;
 * one that is not touched, or whose owner is dead, is taken over.
 *
 * @throws HostError `install_locked` after half an hour of waiting
 */
export async function withLock<T>(
  root: string,
  name: string,
  label: string,
  onProgress: Progress,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(root, { recursive: true });
  const lock = join(root, `.lock-${name}`);
  const owner: LockOwner = { token: randomUUID(), pid: process.pid, hostname: hostname() };
  const deadline = Date.now() + LOCK_WAIT_MS;
  let told = false;
  while (!(await tryLock(lock, owner))) {
    if (await breakStaleLock(lock)) continue;
    if (!told) onProgress(`${label}: another process is installing it, waiting for it to finish`);
    told = true;
    if (Date.now() > deadline) {
      throw new HostError('install_locked', `waited 30 minutes. If nothing is installing, remove ${lock}`);
    }
    await sleep(1_000);
  }
  const touch = setInterval(() => {
    const now = new Date();
    utimes(lock, now, now).catch(() => undefined);
  }, LOCK_TOUCH_MS);
  touch.unref();
  try {
    return await work();
  } finally {
    clearInterval(touch);
    await rm(lock, { recursive: true, force: true });
  }
}

async function tryLock(lock: string, owner: LockOwner): Promise<boolean> {
  try {
    await mkdir(lock);
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
  await writeFile(join(lock, 'owner.json'), JSON.stringify(owner));
  return true;
}

async function readOwner(lock: string): Promise<LockOwner | null> {
  try {
    return JSON.parse(await readFile(join(lock, 'owner.json'), 'utf8')) as LockOwner;
  } catch {
    return null;
  }
}

/** Removes a lock whose owner is gone. Answers true if it is worth trying to lock again at once. */
async function breakStaleLock(lock: string): Promise<boolean> {
  let touchedAt: number;
  try {
    touchedAt = (await stat(lock)).mtimeMs;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return true;
    throw error;
  }
  const owner = await readOwner(lock);
  const dead = owner !== null && owner.hostname === hostname() && !isAlive(owner.pid);
  if (!dead && Date.now() - touchedAt < LOCK_STALE_MS) return false;
  // Renaming is what one of several waiters can do only once. Who finds that it moved somebody's fresh lock
  // (taken between our look and our rename) puts it back.
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
  } catch {
    return true;
  }
  const moved = await readOwner(aside);
  if (moved?.token !== owner?.token) {
    await rename(aside, lock).catch(() => undefined);
    return false;
  }
  await rm(aside, { recursive: true, force: true });
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isSystemError(error, 'EPERM');
  }
}
