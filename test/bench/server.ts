import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { startHost, type Host } from '../hosts/host';
import { HOST_VERSIONS } from '../hosts/install';
import { freePort } from '../hosts/process';
import { NodeInspector } from '../support/nodeInspector';
import { packTarball } from '../support/pack';
import { load, quantile, type Sample } from './server/load';
import { attribute, OURS } from './server/profile';
import {
  round,
  table,
  withRatios,
  type CpuRow,
  type Measured,
  type Report,
  type SettingsName,
} from './server/report';
import { executionsSaved } from './server/settle';
import { publishSubjects, type Subject } from './server/subjects';

/**
 * `npm run bench [-- --quick] [--json] [--save] [<n8n version>…]`: one tool behind our trigger (recording none, refusals,
 * all) and behind n8n's own, in alternation on the same host; beside it lists, and a ping to a trigger without tools.
 * Prints a table, or JSON with `--json`; `--save` writes docs/bench/server.json, from which `npm run bench:plot` makes the
 * picture of the README. Everything takes about 15 minutes; `--quick`, which has one round and eight connections, about 3.
 */

interface Settings {
  readonly name: SettingsName;
  readonly env: Record<string, string>;
}

/** What the test hosts change for speed or quiet goes back to what n8n does without being told. */
const DEFAULT: Settings = {
  name: 'default',
  env: { DB_SQLITE_POOL_SIZE: '0', N8N_RUNNERS_ENABLED: 'false' },
};
const DEFAULT_2X: Settings = { name: 'default', env: {} };
/** As the README recommends for 2.x. */
const RECOMMENDED_2X: Settings = {
  name: 'recommended',
  env: { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' },
};

const QUICK = process.argv.includes('--quick');
const PERIOD_MS = 2_000;
const WARM_UP_MS = QUICK ? 1_500 : 3_000;
const ROUNDS = QUICK ? 1 : 3;
const CONNECTIONS = QUICK ? [8] : [1, 8, 32];
const PROFILED = { subject: 'call, recording none', connections: 8, milliseconds: 4_000 } as const;
const SAVED = join(__dirname, '..', '..', 'docs', 'bench', 'server.json');

async function main(): Promise<void> {
  const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-bench-'));
  const [load_before = 0] = loadavg();
  try {
    const tarball = await packTarball(folder);
    const measured: Measured[] = [];
    const cpu: CpuRow[] = [];
    for (const version of asked.length > 0 ? asked : HOST_VERSIONS) {
      for (const settings of version.startsWith('1.') ? [DEFAULT] : [DEFAULT_2X, RECOMMENDED_2X]) {
        measured.push(...(await onHost(version, settings, tarball)));
        cpu.push(await profiled(version, settings, tarball));
      }
    }
    const report: Report = {
      machine: { cpus: cpus().length, model: cpus()[0]?.model ?? '', node: process.version },
      load_before: round(load_before),
      seconds_per_period: PERIOD_MS / 1_000,
      rounds: ROUNDS,
      rows: withRatios(measured),
      cpu,
    };
    const json = `${JSON.stringify(report, null, 2)}\n`;
    process.stdout.write(process.argv.includes('--json') ? json : table(report));
    if (process.argv.includes('--save')) {
      await mkdir(dirname(SAVED), { recursive: true });
      await writeFile(SAVED, json);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onHost(version: string, { name, env }: Settings, tarball: string): Promise<Measured[]> {
  const host = await startHost({ version, tarball, env });
  try {
    const { subjects } = await publishSubjects(host);
    await warmUp(host, subjects);
    const measured: Measured[] = [];
    for (const connections of CONNECTIONS) {
      const rounds: (Sample & { done: number })[][] = subjects.map(() => []);
      for (let number = 0; number < ROUNDS; number += 1) {
        for (const [index, subject] of subjects.entries()) {
          rounds[index]?.push(await onePeriod(host, subject, connections));
        }
      }
      progress(`n8n ${version} (${name}): ${String(connections)} connections done`);
      for (const [index, subject] of subjects.entries()) {
        measured.push({
          ...{ n8n: version, settings: name, connections, subject: subject.name },
          ...summary(rounds[index] ?? []),
        });
      }
    }
    return measured;
  } finally {
    await host.stop();
  }
}

async function warmUp(host: Host, subjects: readonly Subject[]): Promise<void> {
  for (const subject of subjects) await load(await subject.target(8), WARM_UP_MS);
  await executionsSaved(host);
}

async function onePeriod(
  host: Host,
  subject: Subject,
  connections: number,
): Promise<Sample & { done: number }> {
  const sample = await load(await subject.target(connections), PERIOD_MS);
  const saved = subject.savesExecutions ? await executionsSaved(host) : sample.ended;
  return { ...sample, done: Math.max(saved, sample.ended) };
}

type Summary = Omit<Measured, 'n8n' | 'settings' | 'connections' | 'subject'>;

function summary(samples: readonly (Sample & { done: number })[]): Summary {
  const times = samples.flatMap((sample) => sample.times);
  const errors = samples.reduce((sum, sample) => sum + sample.errors, 0);
  const rates = samples.map(
    ({ began, done, times: answers, errors: failed }) => ((answers.length - failed) * 1_000) / (done - began),
  );
  return {
    per_second: round(quantile(rates, 0.5)),
    p50_ms: round(quantile(times, 0.5)),
    p95_ms: round(quantile(times, 0.95)),
    p99_ms: round(quantile(times, 0.99)),
    error_rate: times.length === 0 ? 0 : errors / times.length,
  };
}

/** On a host of its own: one that is inspected is slower. */
async function profiled(version: string, { name, env }: Settings, tarball: string): Promise<CpuRow> {
  const port = await freePort();
  const nodeArgs = [`--inspect=127.0.0.1:${String(port)}`];
  const host = await startHost({ version, tarball, env, nodeArgs });
  try {
    const { subjects } = await publishSubjects(host);
    const subject = subjects.find((one) => one.name === PROFILED.subject);
    if (!subject) throw new Error(`There is no ${PROFILED.subject}.`);
    const target = await subject.target(PROFILED.connections);
    // Until V8 has compiled what is hot.
    await load(target, PROFILED.milliseconds);
    const inspector = await NodeInspector.attach(port);
    const { owners } = attribute(
      await inspector.profile(async () => await load(target, PROFILED.milliseconds)),
    );
    inspector.close();
    const others = owners.filter(({ owner }) => owner !== OURS).slice(0, 5);
    return {
      ...{ n8n: version, settings: name },
      ours: round(owners.find(({ owner }) => owner === OURS)?.share ?? 0),
      others: others.map(({ owner, share }) => ({ owner, share: round(share) })),
    };
  } finally {
    await host.stop();
  }
}

function progress(line: string): void {
  process.stderr.write(`[bench] ${line}\n`);
}

void main();
