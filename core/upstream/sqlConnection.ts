import { connect, Socket } from 'node:net';
import { guardedLookup, refuseForbiddenHost } from '../policy/address';
import type { DatabaseAccess } from './sqlAccess';

export type SqlValue = string | number | boolean | null;
export type SqlRow = Readonly<Record<string, unknown>>;

/** A statement as it is sent: its values travel apart from it. */
export interface BuiltStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export interface SelectBounds {
  /** Rows after which the cursor is closed. */
  readonly rows: number;
  /** Bytes of the rows as JSON after which the answer is refused. */
  readonly bytes: number;
  /** Time after which the server itself ends the statement. */
  readonly seconds: number;
}

/** One connection of a principal that was checked to read only. */
export interface SqlConnection {
  /**
   * The rows of one statement, in a transaction that can only read.
   *
   * @throws PolicyError `response_too_large`; errors of the driver
   */
  select(statement: BuiltStatement, bounds: SelectBounds): Promise<SqlRow[]>;
  /** False as soon as anything was wrong with it. */
  isUsable(): boolean;
  /** Ends it at once, whatever it is doing. */
  destroy(): void;
}

/**
 * Connects and checks the principal.
 *
 * @throws PolicyError `principal_not_read_only`; errors of the driver
 */
export type SqlConnect = (access: DatabaseAccess) => Promise<SqlConnection>;

export const CONNECT_TIMEOUT_MS = 10_000;
/** For what is asked at the start of a connection. */
export const CHECK_SECONDS = 10;

/** A socket that reaches allowed addresses only, checked after DNS. @throws PolicyError `upstream_address_refused` */
export function guardedSocket({ host, port }: Pick<DatabaseAccess, 'host' | 'port'>): Socket {
  refuseForbiddenHost(host);
  return connect({ host, port, lookup: guardedLookup });
}

/** The same for a driver that connects the socket itself. @throws PolicyError `upstream_address_refused` */
export function guardedSocketToConnect({ host, port }: Pick<DatabaseAccess, 'host' | 'port'>): Socket {
  refuseForbiddenHost(host);
  const socket = new Socket();
  const reach = socket.connect.bind(socket);
  socket.connect = () => reach({ host, port, lookup: guardedLookup });
  return socket;
}

/** Counts rows as they arrive, so that an answer that is too large is given up while it is read. */
export class RowCollector {
  readonly rows: SqlRow[] = [];
  #bytes = 0;

  constructor(private readonly bounds: SelectBounds) {}

  /** @returns whether more rows are wanted */
  add(row: SqlRow): boolean {
    if (this.rows.length >= this.bounds.rows) return false;
    this.#bytes += Buffer.byteLength(JSON.stringify(row), 'utf8');
    if (this.isTooLarge()) return false;
    this.rows.push(row);
    return this.rows.length < this.bounds.rows;
  }

  isTooLarge(): boolean {
    return this.#bytes > this.bounds.bytes;
  }
}
