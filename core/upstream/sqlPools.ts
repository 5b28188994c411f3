import { Pool } from 'tarn';
import type { SqlDialect } from '../contract/schema';
import type { DatabaseAccess } from './sqlAccess';
import type { SqlConnect, SqlConnection } from './sqlConnection';
import { connectMariadb } from './sqlMariadb';
import { connectPostgresql } from './sqlPostgres';

const IDLE_MS = 10_000;
const CREATE_TIMEOUT_MS = 30_000;
const ACQUIRE_TIMEOUT_MS = 300_000;
/** Credentials that one process connects with; far more than one n8n has. */
const MOST_POOLS = 100;

const CONNECT: Record<SqlDialect, SqlConnect> = { postgresql: connectPostgresql, mariadb: connectMariadb };

/**
 * Connections of one process, a few for each credential. One that is not used is ended after some seconds, so that a
 * principal that was given more rights is looked at again soon.
 */
export class SqlPools {
  readonly #pools = new Map<string, Pool<SqlConnection>>();

  constructor(private readonly connect: Record<SqlDialect, SqlConnect> = CONNECT) {}

  /**
   * Runs `use` with a connection that nobody else uses meanwhile. When the signal is aborted it is ended at once.
   *
   * @param most connections at the same time
   * @throws PolicyError `principal_not_read_only`; errors of the driver; what `use` throws
   */
  async with<T>(
    access: DatabaseAccess,
    most: number,
    signal: AbortSignal,
    use: (connection: SqlConnection) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const pool = this.#poolOf(access, most);
    const waiting = pool.acquire();
    const giveUp = () => {
      waiting.abort();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    const connection = await waiting.promise.finally(() => {
      signal.removeEventListener('abort', giveUp);
    });
    try {
      return await endedBy(signal, connection, use(connection));
    } finally {
      pool.release(connection);
    }
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(async (pool) => await pool.destroy()));
  }

  #poolOf(access: DatabaseAccess, most: number): Pool<SqlConnection> {
    const key = `${access.key} ${String(most)}`;
    const known = this.#pools.get(key);
    if (known) return known;
    const oldest = this.#pools.entries().next();
    if (this.#pools.size >= MOST_POOLS && oldest.done !== true) {
      const [name, pool] = oldest.value;
      this.#pools.delete(name);
      void pool.destroy();
    }
    const pool = new Pool<SqlConnection>({
      create: async () => await this.connect[access.dialect](access),
      validate: (connection) => connection.isUsable(),
      destroy: (connection) => {
        connection.destroy();
      },
      min: 0,
      max: most,
      idleTimeoutMillis: IDLE_MS,
      reapIntervalMillis: 1_000,
      createTimeoutMillis: CREATE_TIMEOUT_MS,
      acquireTimeoutMillis: ACQUIRE_TIMEOUT_MS,
      // Whoever waits learns what is wrong instead of waiting for the next try.
      propagateCreateError: true,
      log: () => undefined,
    });
    this.#pools.set(key, pool);
    return pool;
  }
}

/** A driver does not say that its connection was destroyed: whoever waits for an answer would wait for ever. */
async function endedBy<T>(signal: AbortSignal, connection: SqlConnection, work: Promise<T>): Promise<T> {
  return await new Promise((resolve, reject) => {
    const end = () => {
      connection.destroy();
      reject(signal.reason as Error);
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', end);
    });
  });
}
