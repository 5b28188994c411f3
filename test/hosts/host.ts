import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createApi, http, type HostApi, type HttpResponse, type Method } from './api';
import { installPack } from './communityPack';
import { hostEnvironment } from './environment';
import { HostError, type Progress, progressToStderr } from './errors';
import { ensureHost } from './install';
import { readNodeTypes, setUpOwner } from './owner';
import {
  freePort,
  keepNoLonger,
  readLog,
  removeOnExit,
  type ServerProcess,
  startServer,
  waitUntilReady,
} from './process';

const READY_LIMIT_MS = 180_000;

/** What it takes to use a running host from another process. Holds secrets: mode 0600 wherever it is kept. */
export interface HostState {
  version: string;
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  url: string;
  userFolder: string;
  ownerEmail: string;
  ownerPassword: string;
  apiKey: string;
  ownerCookie: string;
  logFile: string;
}

/** A running n8n, whoever started it. */
export interface AttachedHost {
  readonly version: string;
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  readonly url: string;
  readonly userFolder: string;
  readonly ownerEmail: string;
  /** For a browser that signs in. */
  readonly ownerPassword: string;
  /** A key for the public API with every scope. */
  readonly apiKey: string;
  readonly logFile: string;
  readonly api: HostApi;
  /** The production URL of an MCP surface: `mcpUrl('wiki')` is `<url>/mcp/wiki`. */
  mcpUrl(path: string): string;
  /** Everything that n8n has written so far, over all its restarts. */
  logs(): string;
  /** A request to one of the editor's internal routes, as the owner: `/rest/…`. They may change with any release. */
  rest(method: Method, path: string, body?: unknown): Promise<HttpResponse>;
  /** All node types that the host knows: `n8n-nodes-mcp-curated.mcpReadTool` and a few hundred more. */
  nodeTypes(): Promise<string[]>;
}

/** A running n8n that this process started. */
export interface Host extends AttachedHost {
  readonly state: HostState;
  /** Stops n8n and starts it again: same address, same data, same key. */
  restart(): Promise<void>;
  /** Stops n8n and removes its data (kept if MCP_CURATED_KEEP=1). Safe to call twice. */
  stop(): Promise<void>;
}

export interface StartOptions {
  version: string;
  /** A packed pack (`npm pack`), installed before the start the way n8n installs community nodes. */
  tarball?: string;
  /** Environment variables for n8n, over the defaults of environment.ts. */
  env?: Record<string, string>;
  /** Where progress lines go; stderr if absent. */
  onProgress?: Progress;
  /** NODE_ENV of n8n; `production` if absent. */
  nodeEnv?: string;
  /** Arguments for Node itself, such as `--inspect`. */
  nodeArgs?: readonly string[];
}

/**
 * Starts a real n8n on a free loopback port, with a database of its own in a fresh folder, an owner and an
 * API key. Installs that n8n version first if need be, which takes minutes.
 *
 * @throws HostError any code of errors.ts; nothing is left running or on disk then
 */
export async function startHost(options: StartOptions): Promise<Host> {
  const { version } = options;
  const onProgress = options.onProgress ?? progressToStderr;
  const installed = await ensureHost(version, { onProgress });
  const label = `n8n ${version}`;
  const userFolder = await mkdtemp(join(tmpdir(), `mcp-curated-n8n-${version}-`));
  const keep = process.env['MCP_CURATED_KEEP'] === '1';
  if (!keep) removeOnExit(userFolder);
  const logFile = join(userFolder, 'n8n.log');
  const startedAt = Date.now();
  let server: ServerProcess | null = null;
  let stopping: Promise<void> | null = null;

  const stop = () => (stopping ??= cleanUp());
  async function cleanUp(): Promise<void> {
    await server?.stop();
    if (keep) return;
    // A runner that was just killed may still be writing.
    await rm(userFolder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    keepNoLonger(userFolder);
  }

  try {
    if (options.tarball) {
      const pack = await installPack(userFolder, options.tarball, installed.nodeBinary);
      onProgress(`${label}: ${pack.name} ${pack.version} installed`);
    }
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = hostEnvironment({
      version,
      nodeBinary: installed.nodeBinary,
      userFolder,
      port,
      brokerPort: await freePort(),
      encryptionKey: randomBytes(24).toString('base64url'),
      nodeEnv: options.nodeEnv ?? 'production',
      extra: options.env ?? {},
    });
    const launch = async () => {
      if (stopping) throw new HostError('start_failed', `${label} has been stopped`);
      const args = [...(options.nodeArgs ?? []), installed.n8nBin, 'start'];
      const logStart = readLog(logFile).length;
      server = startServer({ label, command: installed.nodeBinary, args, cwd: userFolder, env, logFile });
      const probe = readinessProbe(url, () => readLog(logFile).slice(logStart));
      await waitUntilReady(server, { label, logFile, limitMs: READY_LIMIT_MS }, probe);
    };

    onProgress(`${label}: starting on ${url}`);
    await launch();
    const owner = await setUpOwner(url, version);
    const state: HostState = { version, url, userFolder, logFile, ...owner };
    onProgress(`${label}: ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
    return {
      ...attachHost(state),
      state,
      stop,
      async restart() {
        await server?.stop();
        await launch();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes an {@link AttachedHost} of what another process wrote down. */
export function attachHost(state: HostState): AttachedHost {
  const { version, url, userFolder, ownerEmail, ownerPassword, apiKey, logFile } = state;
  return {
    version,
    url,
    userFolder,
    ownerEmail,
    ownerPassword,
    apiKey,
    logFile,
    api: createApi(url, apiKey),
    mcpUrl: (path) => `${url}/mcp/${path}`,
    logs: () => readLog(logFile),
    rest: (method, path, body) =>
      http({ method, url: `${url}${path}`, headers: { cookie: state.ownerCookie }, body }),
    nodeTypes: () => readNodeTypes(url, state.ownerCookie),
  };
}

/**
 * `/healthz` and even some pages answer before the routes exist; settings as JSON mean that they do. Active
 * workflows are registered after that, and only the log tells when. A test may have set a log level at which
 * it does not: then a few seconds have to do.
 */
function readinessProbe(url: string, logSinceLaunch: () => string): () => Promise<true | null> {
  const patienceMs = 15_000;
  let routesSince: number | null = null;
  return async () => {
    if (routesSince === null) {
      const answer = await http({ method: 'GET', url: `${url}/rest/settings`, timeoutMs: 5_000 });
      if (answer.status !== 200 || typeof answer.body !== 'object') return null;
      routesSince = Date.now();
    }
    const active = logSinceLaunch().includes('Editor is now accessible');
    return active || Date.now() - routesSince > patienceMs ? true : null;
  };
}
