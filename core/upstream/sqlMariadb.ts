import { createConnection, type Connection } from 'mysql2';
import { tooLarge } from './body';
import type { DatabaseAccess } from './sqlAccess';
import {
  CHECK_SECONDS,
  CONNECT_TIMEOUT_MS,
  guardedSocket,
  RowCollector,
  type BuiltStatement,
  type SelectBounds,
  type SqlConnection,
  type SqlRow,
} from './sqlConnection';
import { checkMariadbGrants } from './sqlPrincipal';

/** Connects to MariaDB as a principal that was checked to read its own database only. */
export async function connectMariadb(access: DatabaseAccess): Promise<SqlConnection> {
  const { host, port, database, user, password, tls } = access;
  const options = {
    ...{ host, port, database, user, password },
    connectTimeout: CONNECT_TIMEOUT_MS,
    charset: 'utf8mb4_general_ci',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    multipleStatements: false,
    // Parsers that are not generated as code.
    disableEval: true,
    flags: ['-LOCAL_FILES'],
    stream: () => guardedSocket(access),
    ...(tls
      ? {
          ssl: {
            rejectUnauthorized: true,
            verifyIdentity: true,
            ...(tls.ca === undefined ? {} : { ca: tls.ca }),
          },
        }
      : {}),
  };
  const connection = new MariadbConnection(createConnection(options), database);
  try {
    await connection.prepare();
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

class MariadbConnection implements SqlConnection {
  #usable = true;

  constructor(
    private readonly connection: Connection,
    private readonly database: string,
  ) {
    // An idle connection that the server ends would otherwise end the process.
    connection.on('error', () => {
      this.#usable = false;
    });
    connection.on('end', () => {
      this.#usable = false;
    });
  }

  /** Read-only for the whole session, before the first statement of a contract. */
  async prepare(): Promise<void> {
    await this.#run(`SET SESSION max_statement_time = ${String(CHECK_SECONDS)}, time_zone = '+00:00'`);
    await this.#run('SET SESSION TRANSACTION READ ONLY');
    const grants = await this.#run('SHOW GRANTS');
    checkMariadbGrants(
      grants.flatMap((row) => Object.values(row).map(String)),
      this.database,
    );
  }

  isUsable(): boolean {
    return this.#usable;
  }

  destroy(): void {
    this.#usable = false;
    this.connection.destroy();
  }

  async select({ text, values }: BuiltStatement, bounds: SelectBounds): Promise<SqlRow[]> {
    const collector = new RowCollector(bounds);
    try {
      // The server stops by itself where the statement has no LIMIT of its own.
      await this.#run(
        `SET SESSION max_statement_time = ${String(bounds.seconds)}, sql_select_limit = ${String(bounds.rows)}`,
      );
      await this.#run('START TRANSACTION READ ONLY');
      if (await this.#collect(text, values, collector)) await this.#run('ROLLBACK');
      else this.destroy();
    } catch (error) {
      this.destroy();
      throw error;
    }
    if (collector.isTooLarge()) throw tooLarge(bounds.bytes);
    return collector.rows;
  }

  /** @returns whether the statement came to its end; otherwise rows are still on their way */
  async #collect(text: string, values: BuiltStatement['values'], collector: RowCollector): Promise<boolean> {
    return await new Promise((resolve, reject) => {
      let isFull = false;
      let surplus = 0;
      this.connection
        .execute({ sql: text, values: [...values] })
        .on('error', reject)
        .on('result', (row: SqlRow) => {
          if (!isFull) isFull = !collector.add(plainRow(row));
          else surplus += 1;
          if (surplus > 0 || collector.isTooLarge()) resolve(false);
        })
        .on('end', () => {
          resolve(true);
        });
    });
  }

  async #run(sql: string): Promise<SqlRow[]> {
    return await new Promise((resolve, reject) => {
      this.connection.query(sql, (error: Error | null, rows: unknown) => {
        if (error) reject(error);
        else resolve(Array.isArray(rows) ? (rows as SqlRow[]) : []);
      });
    });
  }
}

function plainRow(row: SqlRow): SqlRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? '[not text: left out]' : value,
    ]),
  );
}
