import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startHost, type Host } from '../hosts/host';
import { HOST_VERSIONS } from '../hosts/install';
import { createAgent, openAiCredential, type CredentialRef } from '../support/agent';
import { clientCredential, clientToolNode, reviewServer } from '../support/clientNodes';
import { eventually } from '../support/editWorkflow';
import { node, type ToolNode } from '../support/handMade';
import { packTarball } from '../support/pack';
import { rawHttp } from '../support/rawHttp';
import { ScriptedModel } from '../support/scriptedModel';
import { CountingServer, TOOL_NAMES, type Counts } from './countingServer';

/**
 * `npm run bench:client [-- <n8n version>…]`: an AI Agent that calls three tools of one server, with our client tool and
 * with n8n's own, in alternation on the same host. Prints requests per run and times as a table, or as JSON (`--json`).
 */

const WARM_UP = 3;
const RUNS = 20;

interface Measured {
  readonly n8n: string;
  readonly agent: number;
  readonly client: 'ours' | "n8n's";
  readonly median_ms: number;
  readonly p95_ms: number;
  /** Requests of the last run, by method. */
  readonly requests: Counts;
}

interface Workbench {
  readonly host: Host;
  readonly model: ScriptedModel;
  readonly server: CountingServer;
}

async function main(): Promise<void> {
  const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-bench-'));
  try {
    const tarball = await packTarball(folder);
    const results: Measured[] = [];
    for (const version of wanted.length > 0 ? wanted : HOST_VERSIONS)
      results.push(...(await onHost(version, tarball)));
    process.stdout.write(
      process.argv.includes('--json') ? `${JSON.stringify(results, null, 2)}\n` : table(results),
    );
    if (!results.every(isFrugal)) {
      process.stderr.write(
        'Our client tool made other requests than one handshake, one list and three calls.\n',
      );
      process.exitCode = 1;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onHost(version: string, tarball: string): Promise<Measured[]> {
  const [model, server] = await Promise.all([ScriptedModel.start(), CountingServer.start()]);
  const host = await startHost({ version, tarball });
  try {
    const bench = { host, model, server };
    const measured: Measured[] = [];
    for (const agent of version.startsWith('1.') ? [2] : [2.2, 3.1])
      measured.push(...(await withAgent(bench, agent)));
    return measured;
  } finally {
    await host.stop();
    await Promise.all([model.stop(), server.stop()]);
  }
}

async function withAgent(bench: Workbench, agent: number): Promise<Measured[]> {
  const wanted = { name: `bench model ${agent}`, url: bench.model.url, apiKey: randomUUID() };
  const model = await openAiCredential(bench.host, wanted);
  const ours = await publish(bench, agent, 'ours', await oursTool(bench), model);
  const native = await publish(bench, agent, 'native', nativeTool(bench), model);
  const times: Record<'ours' | 'native', number[]> = { ours: [], native: [] };
  const counts: Record<'ours' | 'native', Counts> = { ours: {}, native: {} };
  const sides = [
    ['ours', ours, ''],
    ['native', native, nativePrefix(bench)],
  ] as const;
  // Activation can succeed before the path is served.
  for (const [, url, prefix] of sides)
    await eventually(async () => {
      await ask(bench, url, prefix);
    });
  for (let run = 0; run < WARM_UP + RUNS; run += 1) {
    for (const [name, url, prefix] of sides) {
      bench.server.takeCounts();
      const milliseconds = await ask(bench, url, prefix);
      counts[name] = bench.server.takeCounts();
      if (run >= WARM_UP) times[name].push(milliseconds);
    }
  }
  const { version } = bench.host;
  const measured = (client: Measured['client'], name: 'ours' | 'native'): Measured => ({
    n8n: version,
    agent,
    client,
    median_ms: quantile(times[name], 0.5),
    p95_ms: quantile(times[name], 0.95),
    requests: counts[name],
  });
  return [measured('ours', 'ours'), measured("n8n's", 'native')];
}

/** Three rounds, one call in each, as agents usually go about it. */
async function ask({ model }: Workbench, url: string, prefix: string): Promise<number> {
  const calls = TOOL_NAMES.map((name) => ({ call: `${prefix}${name}`, args: { id: 'A-1' } }));
  model.script(...calls, { say: 'all three are open' });
  const started = performance.now();
  const { text } = await rawHttp({
    url,
    headers: [['Content-Type', 'application/json']],
    body: '{}',
    timeoutMs: 60_000,
  });
  const milliseconds = performance.now() - started;
  if (!text.includes('all three are open')) throw new Error(`The agent answered ${text.slice(0, 300)}`);
  return milliseconds;
}

/** Newer versions of n8n's client put the name of its node in front of every tool. */
function nativePrefix({ host }: Workbench): string {
  return host.version.startsWith('1.') ? '' : 'Tools_';
}

async function oursTool({ host, server }: Workbench): Promise<ToolNode> {
  const endpoint = `${server.origin}/mcp`;
  const reviewed = await reviewServer(endpoint);
  const credential = await clientCredential(host, `bench server ${randomUUID()}`, endpoint);
  return clientToolNode('Tools', credential, {
    server: reviewed.server,
    tools: reviewed.pins(...TOOL_NAMES),
  });
}

function nativeTool({ host, server }: Workbench): ToolNode {
  const chosen = { include: 'selected', includeTools: [...TOOL_NAMES] };
  return host.version.startsWith('1.')
    ? node('Tools', '@n8n/n8n-nodes-langchain.mcpClientTool', 1, {
        sseEndpoint: `${server.origin}/sse`,
        ...chosen,
      })
    : node('Tools', '@n8n/n8n-nodes-langchain.mcpClientTool', 1.4, {
        endpointUrl: `${server.origin}/mcp`,
        serverTransport: 'httpStreamable',
        authentication: 'none',
        ...chosen,
        options: {},
      });
}

async function publish(
  { host }: Workbench,
  version: number,
  name: string,
  tool: ToolNode,
  model: CredentialRef,
) {
  const path = `bench-${name}-${String(version).replace('.', '-')}`;
  await createAgent(host, { path, version, tools: [tool], model, item: { question: 'Which are open?' } });
  return `${host.url}/webhook/${path}`;
}

function isFrugal({ client, requests }: Measured): boolean {
  if (client !== 'ours') return true;
  return (
    requests['initialize'] === 1 &&
    requests['tools/list'] === 1 &&
    requests['tools/call'] === TOOL_NAMES.length
  );
}

function quantile(times: readonly number[], at: number): number {
  const sorted = [...times].sort((one, other) => one - other);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0);
}

function table(results: readonly Measured[]): string {
  const rows = results.map((row) => {
    const native = results.find(
      (one) => one.n8n === row.n8n && one.agent === row.agent && one.client === "n8n's",
    );
    const ratio = native ? row.median_ms / native.median_ms : NaN;
    const { requests } = row;
    const asked = ['initialize', 'tools/list', 'tools/call']
      .map((method) => requests[method] ?? 0)
      .join(' / ');
    return `| ${row.n8n} | ${row.agent} | ${row.client} | ${row.median_ms} | ${row.p95_ms} | ${ratio.toFixed(2)} | ${asked} |`;
  });
  return [
    "| n8n | agent | client tool | median ms | p95 ms | median beside n8n's | initialize / list / call |",
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

void main();
