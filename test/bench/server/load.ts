import { Pool } from 'undici';

/** One request as it goes out again and again. */
export interface Prepared {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a measurement sends, and how it tells an answer from a failure. */
export interface Target {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** One request per connection: n8n's own trigger needs a session for each. */
  readonly requests: readonly Prepared[];
  isAnswer(status: number, text: string): boolean;
}

/** What one period of load gave. All times in milliseconds, `began` and `ended` since the start of the process. */
export interface Sample {
  readonly began: number;
  /** When the last answer had been read. */
  readonly ended: number;
  readonly times: readonly number[];
  readonly errors: number;
}

/** Nobody waits for an answer longer than this (milliseconds). */
const PATIENCE_MS = 60_000;

/**
 * Sends requests over as many connections as there are prepared ones, each sending its next request when it has read
 * its last answer, for `milliseconds`; requests that are under way then are waited for and counted.
 */
export async function load(target: Target, milliseconds: number): Promise<Sample> {
  const connections = target.requests.length;
  const pool = new Pool(target.origin, {
    ...{ connections, pipelining: 1 },
    ...{ headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS },
  });
  const times: number[] = [];
  let errors = 0;
  const began = performance.now();
  const deadline = began + milliseconds;
  const drive = async (prepared: Prepared): Promise<void> => {
    do {
      const sent = performance.now();
      if (!(await isAnswered(pool, target, prepared))) errors += 1;
      times.push(performance.now() - sent);
    } while (performance.now() < deadline);
  };
  try {
    await Promise.all(target.requests.map(drive));
    return { began, ended: performance.now(), times, errors };
  } finally {
    await pool.destroy();
  }
}

async function isAnswered(pool: Pool, target: Target, prepared: Prepared): Promise<boolean> {
  try {
    const { statusCode, body } = await pool.request({ ...prepared, method: 'POST' });
    return target.isAnswer(statusCode, await body.text());
  } catch {
    return false;
  }
}

/** The value below which the share `at` (0 to 1) of the values lies; 0 for none. */
export function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0;
}
