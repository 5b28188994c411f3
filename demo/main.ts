import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { instanceAddress, N8nPublicApi } from '../cli/n8n/publicApi';
import { publishSurface, withdrawSurface } from '../cli/n8n/publishSurface';
import { lintContract } from '../core/contract/lint';
import type { Contract } from '../core/contract/schema';
import { startHost } from '../test/hosts/host';
import { packTarball } from '../test/support/pack';
import { callLive, refusedCall } from './client';
import { connectionHelp, makeConsumers } from './consumers';

const ROOT = path.resolve(__dirname, '..');
const OWNER = 'mcp-curated-demo';

interface Options {
  readonly once: boolean;
  readonly n8n?: string;
  readonly n8nVersion: string;
}

/** An n8n to show the pack in. */
interface Instance {
  readonly url: string;
  readonly apiKey: string;
  readonly login: string | undefined;
  /** Whether it is ours and goes away as a whole, so that nothing has to be removed from it. */
  readonly disposable: boolean;
  stop(): Promise<void>;
}

const say = (line = '') => process.stdout.write(`${line}\n`);
const step = (line: string) => process.stderr.write(`[demo] ${line}\n`);

async function embeddedInstance(version: string): Promise<Instance> {
  step('building and packing the nodes');
  execFileSync(process.execPath, [path.join(ROOT, 'node_modules/gulp/bin/gulp.js'), '--silent', 'bundle'], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-demo-'));
  try {
    const tarball = await packTarball(folder);
    const host = await startHost({ version, tarball });
    return {
      url: host.url,
      apiKey: host.apiKey,
      login: `${host.ownerEmail} / ${host.state.ownerPassword}`,
      disposable: true,
      stop: async () => {
        await host.stop();
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function existingInstance(address: string): Instance {
  const apiKey = process.env['N8N_API_KEY'];
  if (apiKey === undefined || apiKey === '') {
    throw new Error('Set N8N_API_KEY to an API key of that n8n (Settings, n8n API) and run the demo again.');
  }
  return {
    url: instanceAddress(address),
    apiKey,
    login: undefined,
    disposable: false,
    stop: () => Promise.resolve(),
  };
}

function contractOf(applicationId: string): Contract {
  const file = path.join(ROOT, 'workflows', applicationId, 'contract.yml');
  const linted = lintContract(readFileSync(file, 'utf8'), file);
  if (!linted.ok || !linted.contract) throw new Error(`${file} has faults; run npm run lint:contracts.`);
  return linted.contract;
}

/** Publishes the surface, shows it working, and takes it away again, whatever happens in between. */
async function show(instance: Instance, once: boolean): Promise<void> {
  const contract = contractOf('web-app-n8n');
  const consumers = makeConsumers();
  const api = new N8nPublicApi(instance.url, instance.apiKey);
  step(`publishing the surface ${contract.application_id} with ${consumers.length} named consumers`);
  const endpoint = `${instance.url}/mcp/${contract.endpoint.path}`;
  const surface = await publishSurface(api, endpoint, {
    contract,
    owner: OWNER,
    consumers: consumers.map(({ id, tokenSha256 }) => ({ id, tokenSha256, tools: contract.tools.allowlist })),
    upstream: {
      baseUrl: instance.url,
      authentication: 'header',
      name: 'X-N8N-API-KEY',
      secret: instance.apiKey,
    },
  });
  try {
    await showCalls(endpoint, consumers[0]?.token ?? '');
    say();
    say('Connect a client; each has a bearer of its own:');
    say();
    // With --once the bearers are worth nothing by the time that they could be used, and are not shown.
    say(connectionHelp(endpoint, once ? [] : consumers));
    say();
    say(`Editor:   ${instance.url}/workflow/${surface.workflowId}`);
    if (once) return;
    if (instance.login !== undefined) say(`Sign in:  ${instance.login}`);
    say();
    say('Ctrl-C ends the demo and removes everything that it made.');
    await interrupted();
  } finally {
    if (!instance.disposable) {
      step('removing the surface');
      await withdrawSurface(api, surface);
    }
  }
}

async function showCalls(endpoint: string, token: string): Promise<void> {
  const live = await callLive(endpoint, token);
  say();
  say(`Endpoint: ${endpoint}`);
  say();
  say('Tools that the client Claude is offered:');
  for (const { name, title } of live.tools) say(`  ${name.padEnd(26)} ${title}`);
  say();
  say('n8n_list_workflows answers:');
  for (const { name, active } of live.workflows) say(`  ${name} (${active ? 'active' : 'inactive'})`);
  const refused = await refusedCall(endpoint);
  say();
  say(`A wrong bearer answers: ${refused.status}, WWW-Authenticate: ${refused.challenge}`);
  say(`  ${refused.body}`);
  if (refused.status !== 401) throw new Error('A wrong bearer was not refused.');
}

/** Resolves at Ctrl-C or when the process is asked to end. The timer keeps the process alive until then. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => undefined, 60_000);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        clearInterval(alive);
        resolve();
      });
    }
  });
}

async function main(): Promise<void> {
  const program = new Command('npm run demo --')
    .description('Shows one curated surface in a real n8n: published, listed, called, refused.')
    .option('--once', 'exit after that', false)
    .option('--n8n <url>', 'use this n8n, where the pack is installed; needs N8N_API_KEY')
    .option('--n8n-version <version>', 'which n8n to fetch and start', '1.100.1')
    .parse();
  const options = program.opts<Options>();
  const instance =
    options.n8n === undefined ? await embeddedInstance(options.n8nVersion) : existingInstance(options.n8n);
  try {
    await show(instance, options.once);
  } finally {
    await instance.stop();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'The demo failed.'}\n`);
  process.exitCode = 1;
});
