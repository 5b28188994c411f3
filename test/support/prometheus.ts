import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { http } from '../hosts/api';
import { HostError } from '../hosts/errors';
import { freePort, keepNoLonger, removeOnExit, startServer, waitUntilReady } from '../hosts/process';
import { findBinary, type Service } from './services';

export const PROMETHEUS: Service = { binary: 'prometheus', aptPackage: 'prometheus' };

/** So many one-second samples of `up` exist before {@link startPrometheus} resolves. */
const SAMPLES = 3;

export interface RunningPrometheus {
  /** `http://127.0.0.1:<port>`, no slash at the end. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts a Prometheus that scrapes itself once a second, with a database in a fresh folder, and waits until
 * `up` has a few samples. Debian's system service is not used and need not run.
 *
 * @throws HostError `service_missing`, `start_failed`, `start_timeout`
 */
export async function startPrometheus(): Promise<RunningPrometheus> {
  const label = 'prometheus';
  const command = findBinary(PROMETHEUS);
  if (command === null) {
    throw new HostError('service_missing', 'prometheus is not installed (apt-get install prometheus)');
  }
  const folder = await mkdtemp(join(tmpdir(), 'mcp-curated-prometheus-'));
  removeOnExit(folder);
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const logFile = join(folder, 'prometheus.log');
  await writeFile(
    join(folder, 'prometheus.yml'),
    [
      'global: { scrape_interval: 1s, scrape_timeout: 1s }',
      'scrape_configs:',
      `  - { job_name: prometheus, static_configs: [{ targets: ["${address}"] }] }`,
      '',
    ].join('\n'),
  );
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--storage.tsdb.retention.time=1h',
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ];
  const server = startServer({ label, command, args, cwd: folder, env: { HOME: folder }, logFile });
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    keepNoLonger(folder);
  };
  try {
    await waitUntilReady(server, { label, logFile, limitMs: 60_000 }, () => enoughSamples(url));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

async function enoughSamples(url: string): Promise<true | null> {
  const query = encodeURIComponent('count_over_time(up[5m])');
  const answer = await http({ method: 'GET', url: `${url}/api/v1/query?query=${query}`, timeoutMs: 5_000 });
  const { data } = answer.body as { data?: { result?: Array<{ value?: [number, string] }> } };
  return Number(data?.result?.[0]?.value?.[1] ?? 0) >= SAMPLES ? true : null;
}
