import { Client } from 'pg';
import Cursor from 'pg-cursor';
import { tooLarge } from './body';
import type { DatabaseAccess } from './sqlAccess';
import {
  CHECK_SECONDS,
  CONNECT_TIMEOUT_MS,
  guardedSocketToConnect,
  RowCollector,
  type BuiltStatement,
  type SelectBounds,
  type SqlConnection,
  type SqlRow,
} from './sqlConnection';
import { checkPostgresqlPrincipal, POSTGRESQL_PRINCIPAL } from './sqlPrincipal';

const BATCH_ROWS = 50;

/** Object ids of types in `pg_type.dat`; every other value stays the text that PostgreSQL writes. */
const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  jsonb: 3802,
};
const TIMESTAMPTZ = 1184;

const finite = (text: string): number | string => (Number.isFinite(Number(text)) ? Number(text) : text);
const PARSERS = new Map<number, (text: string) => unknown>([
  [OID.bool, (text) => text === 't'],
  [OID.bytea, () => '[not text: left out]'],
  [OID.int8, (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text)],
  ...[OID.int2, OID.int4, OID.oid, OID.float4, OID.float8].map((oid) => [oid, finite] as const),
  ...[OID.json, OID.jsonb].map((oid) => [oid, (text: string) => JSON.parse(text) as unknown] as const),
  // The session's time zone is UTC: 2026-01-31 12:00:00+00.
  [TIMESTAMPTZ, (text) => text.replace(' ', 'T').replace(/\+00$/, 'Z')],
]);

const types = {
  getTypeParser: (oid: number) => PARSERS.get(oid) ?? ((text: string) => text),
} as unknown as NonNullable<ConstructorParameters<typeof Client>[0] & object>['types'];

/** Connects to PostgreSQL as a principal that was checked to read only. */
export async function connectPostgresql(access: DatabaseAccess): Promise<SqlConnection> {
  const { host, port, database, user, password, tls } = access;
  const client = new Client({
    ...{ host, port, database, user, password },
    application_name: 'mcp-curated',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ssl: tls ? { rejectUnauthorized: true, ...(tls.ca === undefined ? {} : { ca: tls.ca }) } : false,
    stream: () => guardedSocketToConnect(access),
    ...(types ? { types } : {}),
  });
  const connection = new PostgresqlConnection(client);
  try {
    await client.connect();
    await connection.prepare();
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

class PostgresqlConnection implements SqlConnection {
  #usable = true;

  constructor(private readonly client: Client) {
    // An idle connection that the server ends would otherwise end the process.
    client.on('error', () => {
      this.#usable = false;
    });
    client.on('end', () => {
      this.#usable = false;
    });
  }

  /** Read-only for the whole session, before the first statement of a contract. */
  async prepare(): Promise<void> {
    const seconds = String(CHECK_SECONDS);
    for (const setting of [
      'default_transaction_read_only = on',
      `statement_timeout = '${seconds}s'`,
      "TimeZone = 'UTC'",
      "DateStyle = 'ISO'",
      'standard_conforming_strings = on',
    ]) {
      await this.client.query(`SET SESSION ${setting}`);
    }
    const { rows } = await this.client.query<SqlRow>(POSTGRESQL_PRINCIPAL);
    checkPostgresqlPrincipal(rows[0]);
  }

  isUsable(): boolean {
    return this.#usable;
  }

  destroy(): void {
    this.#usable = false;
    // `end` waits for the statement that is running; the socket does not.
    const { connection } = this.client as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
    void this.client.end().catch(() => undefined);
  }

  async select({ text, values }: BuiltStatement, bounds: SelectBounds): Promise<SqlRow[]> {
    const collector = new RowCollector(bounds);
    await this.client.query('START TRANSACTION READ ONLY');
    try {
      await this.client.query(`SET LOCAL statement_timeout = '${String(bounds.seconds)}s'`);
      const cursor = this.client.query(new Cursor<SqlRow>(text, [...values], types ? { types } : {}));
      for (let wantsMore = true; wantsMore;) {
        const rows = await cursor.read(Math.min(BATCH_ROWS, bounds.rows - collector.rows.length));
        wantsMore = rows.length > 0 && rows.every((row) => collector.add(row));
      }
      await cursor.close();
      await this.client.query('ROLLBACK');
    } catch (error) {
      this.destroy();
      throw error;
    }
    if (collector.isTooLarge()) throw tooLarge(bounds.bytes);
    return collector.rows;
  }
}
