import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { N8nPublicApi } from '../cli/n8n/publicApi';
import { publishSurface, withdrawSurface, type SurfaceWishes } from '../cli/n8n/publishSurface';
import { lintContract } from '../core/contract/lint';
import type { Contract } from '../core/contract/schema';
import { startHost } from '../test/hosts/host';
import { keepNoLonger, removeOnExit } from '../test/hosts/process';
import { packTarball } from '../test/support/pack';
import { callLive, refusedCall } from './client';
import { connectionHelp, makeConsumers } from './consumers';
import { existingInstance, sentenceOf, type Instance } from './instance';
import { INTERRUPTED, interruptSignal } from './interrupt';

const ROOT = path.resolve(__dirname, '..');
const OWNER = 'mcp-curated-demo';

interface Options {
  readonly once: boolean;
  readonly n8n?: string;
  readonly n8nVersion: string;
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
  removeOnExit(folder);
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
    keepNoLonger(folder);
  }
}

function contractOf(applicationId: string): Contract {
  const file = path.join(ROOT, 'workflows', applicationId, 'contract.yml');
  const linted = lintContract(readFileSync(file, 'utf8'), file);
  if (!linted.ok || !linted.contract) throw new Error(`${file} has faults; run npm run lint:contracts.`);
  return linted.contract;
}

/** Publishes the surface, shows it working, and takes it away again, whatever happens in between. */
async function show(instance: Instance, once: boolean, signal: AbortSignal): Promise<void> {
  const contract = contractOf('web-app-n8n');
  const consumers = makeConsumers();
  const api = new N8nPublicApi(instance.url, instance.apiKey);
  step(`publishing the surface ${contract.application_id} with ${consumers.length} named consumers`);
  const endpoint = `${instance.url}/mcp/${contract.endpoint.path}`;
  const wishes: SurfaceWishes = {
    contract,
    owner: OWNER,
    consumers: consumers.map(({ id, tokenSha256 }) => ({ id, tokenSha256, tools: contract.tools.allowlist })),
    upstream: {
      baseUrl: instance.url,
      authentication: 'header',
      name: 'X-N8N-API-KEY',
      secret: instance.apiKey,
    },
  };
  const surface = await publishSurface(api, endpoint, wishes, signal);
  try {
    await showCalls(endpoint, consumers[0]?.token ?? '', signal);
    say();
    say(once ? 'How clients would connect:' : 'Connect a client; each has a bearer of its own:');
    say();
    // With --once the bearers are worth nothing by the time that they could be used, and are not shown.
    say(connectionHelp(endpoint, once ? [] : consumers));
    if (once) return;
    say();
    say(`Editor:   ${instance.url}/workflow/${surface.workflowId}`);
    if (instance.login !== undefined) say(`Sign in:  ${instance.login}`);
    say();
    say('Ctrl-C ends the demo and removes everything that it made.');
    await sleep(UNTIL_INTERRUPTED_MS, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    if (!instance.disposable) {
      step('removing the surface');
      await withdrawSurface(api, surface);
    }
  }
}

/** The longest wait that a timer knows, 24 days. */
const UNTIL_INTERRUPTED_MS = 2 ** 31 - 1;

async function showCalls(endpoint: string, token: string, signal: AbortSignal): Promise<void> {
  const live = await callLive(endpoint, token, signal);
  say();
  say(`Endpoint: ${endpoint}`);
  say();
  say('Tools that the client Claude is offered:');
  for (const { name, title } of live.tools) say(`  ${name.padEnd(26)} ${title}`);
  say();
  say('n8n_list_workflows answers:');
  for (const { name, active } of live.workflows) say(`  ${name} (${active ? 'active' : 'inactive'})`);
  const refused = await refusedCall(endpoint, signal);
  say();
  say(`A wrong bearer answers: ${refused.status}, WWW-Authenticate: ${refused.challenge}`);
  say(`  ${refused.body}`);
  if (refused.status !== 401) throw new Error('A wrong bearer was not refused.');
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
  // Until here only the host could be left behind, and it goes with this process.
  const signal = interruptSignal();
  try {
    await show(instance, options.once, signal);
  } catch (error) {
    const interrupted = signal.aborted && (instance.disposable || error === signal.reason);
    if (!interrupted) throw error;
  } finally {
    await instance.stop();
  }
  if (signal.aborted) {
    step('removed');
    process.exitCode = INTERRUPTED;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${sentenceOf(error)}\n`);
  process.exitCode = 1;
});
