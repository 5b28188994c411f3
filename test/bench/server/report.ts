import { AGAINST, SUBJECTS, type SubjectName } from './subjects';

/** One line of the report. Times in milliseconds, of answers; ratios beside the same request to n8n's own trigger. */
export interface Row {
  readonly n8n: string;
  readonly settings: SettingsName;
  readonly connections: number;
  readonly subject: SubjectName;
  /** Median over the rounds, until what was called is done: the answers read and their executions saved. */
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  /** 0 to 1. */
  readonly error_rate: number;
  /** How many times as many per second; `null` where there is nothing to compare with. */
  readonly times_per_second: number | null;
  /** Which part of its 95th percentile. */
  readonly part_of_p95: number | null;
}

export type SettingsName = 'default' | 'recommended';

/** The whole of a run, as it is kept in docs/bench. */
export interface Report {
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string };
  /** Load of the machine (one minute) when it began; `null` where it was not noted. What else ran counts against both sides. */
  readonly load_before: number | null;
  readonly seconds_per_period: number;
  readonly rounds: number;
  readonly rows: readonly Row[];
  /** Whose code the CPU time of a host went to during calls, 0 to 1; idle time left out. */
  readonly cpu: readonly CpuRow[];
}

export interface CpuRow {
  readonly n8n: string;
  readonly settings: SettingsName;
  readonly ours: number;
  /** The five others with the most. */
  readonly others: readonly { readonly owner: string; readonly share: number }[];
}

export type Measured = Omit<Row, 'times_per_second' | 'part_of_p95'>;

/** Adds to each row how it stands beside n8n's own trigger on the same host with as many connections. */
export function withRatios(measured: readonly Measured[]): Row[] {
  return measured.map((row) => {
    const native = measured.find(
      (other) =>
        other.subject === AGAINST[row.subject] &&
        other.n8n === row.n8n &&
        other.settings === row.settings &&
        other.connections === row.connections,
    );
    const times_per_second = native ? round(row.per_second / native.per_second) : null;
    const part_of_p95 = native ? round(row.p95_ms / native.p95_ms) : null;
    return { ...row, times_per_second, part_of_p95 };
  });
}

/** Rounded to what is worth reading. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}

export function table({ rows, cpu }: Report): string {
  const order = (row: Row) => SUBJECTS.indexOf(row.subject);
  const lines = [...rows]
    .sort((a, b) => compare(a, b) || order(a) - order(b))
    .map((row) =>
      cells(
        ...[row.n8n, row.settings, row.connections, row.subject, row.per_second],
        ...[row.p50_ms, row.p95_ms, row.p99_ms, `${String(round(row.error_rate * 100))} %`],
        ...[row.times_per_second ?? '', row.part_of_p95 ?? ''],
      ),
    );
  return [
    cells(
      ...['n8n', 'settings', 'connections', 'request', 'per second', 'p50 ms', 'p95 ms', 'p99 ms'],
      ...['errors', 'times per second', 'part of p95'],
    ),
    cells(...Array.from({ length: 11 }, () => '---')),
    ...lines,
    '',
    ...cpu.map(
      ({ n8n, settings, ours, others }) =>
        `CPU of n8n ${n8n} (${settings}) during calls: ours ${percent(ours)}, ` +
        others.map(({ owner, share }) => `${owner} ${percent(share)}`).join(', '),
    ),
    '',
  ].join('\n');
}

function compare(a: Row, b: Row): number {
  return a.n8n.localeCompare(b.n8n) || a.settings.localeCompare(b.settings) || a.connections - b.connections;
}

function cells(...values: (string | number)[]): string {
  return `| ${values.join(' | ')} |`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
