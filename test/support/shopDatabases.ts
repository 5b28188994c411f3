import { Client } from 'pg';
import { connectAsAdministrator, startMariadb } from './mariadb';
import { startPostgres } from './postgres';

/** A database with a small shop in it, and principals that may do more or less. */
export interface ShopDatabase {
  readonly port: number;
  readonly database: string;
  /** May SELECT the shop's tables and nothing else. */
  readonly reader: { readonly user: string; readonly password: string };
  /** By what they may do besides reading. */
  readonly others: readonly { readonly may: string; readonly user: string; readonly password: string }[];
  stop(): Promise<void>;
}

const ORDERS = 45;
const password = () => `pw-${Math.random().toString(36).slice(2)}-${Date.now().toString(36)}`;
const rows = (make: (id: number) => string) =>
  Array.from({ length: ORDERS }, (_, index) => make(index + 1)).join(', ');
const STATES = ['open', 'paid', 'sent'];

const order = (id: number) =>
  `(${String(id)}, '${STATES[id % 3] ?? ''}', ${String(id)}.50, 'buyer-${String(id)}@private.test', '2026-01-01 00:00:00')`;

/** PostgreSQL with the schema `shop`: orders, customers, a view, and a table that the reader may not see. */
export async function startPostgresShop(): Promise<ShopDatabase> {
  const server = await startPostgres();
  const { port, database, user } = server;
  const client = new Client({ host: '127.0.0.1', port, database, user, password: server.password });
  const of = (name: string) => ({ user: name, password: password() });
  const reader = of('reader');
  const others = [
    { may: 'insert into one table', ...of('inserter') },
    { may: 'update one column', ...of('corrector') },
    { may: 'become somebody who writes', ...of('member') },
    { may: 'do everything, as owner', ...of('proprietor') },
    { may: 'read files of the server', ...of('file_reader') },
  ];
  await client.connect();
  try {
    const roles = [reader, ...others].map(
      (one) => `CREATE ROLE ${one.user} LOGIN PASSWORD '${one.password}'`,
    );
    for (const statement of [
      'CREATE SCHEMA shop',
      `CREATE TABLE shop.orders (id int PRIMARY KEY, state text, total numeric(10,2), email text, made timestamptz)`,
      'CREATE TABLE shop.customers (id bigint PRIMARY KEY, name text, details jsonb)',
      'CREATE TABLE shop.payroll (id int PRIMARY KEY, salary int)',
      'CREATE TABLE shop.owned (id int)',
      `INSERT INTO shop.orders VALUES ${rows(order)}`,
      `INSERT INTO shop.customers VALUES (1, 'Ada', '{"vip": true}'), (9007199254740993, 'Bo', NULL)`,
      'CREATE VIEW shop.open_orders AS SELECT id FROM shop.orders',
      'ANALYZE',
      ...roles,
      `GRANT USAGE ON SCHEMA shop TO ${[reader, ...others].map((one) => one.user).join(', ')}`,
      'GRANT SELECT ON shop.orders, shop.customers, shop.open_orders TO reader, inserter, corrector, file_reader',
      'GRANT INSERT ON shop.orders TO inserter',
      'GRANT UPDATE (state) ON shop.orders TO corrector',
      'ALTER ROLE member NOINHERIT',
      'GRANT inserter TO member',
      'ALTER TABLE shop.owned OWNER TO proprietor',
      'GRANT pg_read_server_files TO file_reader',
    ]) {
      await client.query(statement);
    }
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
  const superuser = { may: 'do everything, as superuser', user, password: server.password };
  return {
    port,
    database,
    reader,
    others: [...others, superuser],
    stop: async () => {
      await server.stop();
    },
  };
}

/** MariaDB with the database `shop_app`, and another one that the reader may not see. */
export async function startMariadbShop(): Promise<ShopDatabase> {
  const server = await startMariadb();
  const database = 'shop_app';
  const of = (name: string) => ({ user: name, password: password() });
  const reader = of('reader');
  const others = [
    { may: 'insert into one table', ...of('inserter') },
    { may: 'read every database', ...of('wanderer') },
    { may: 'pass its right on', ...of('granter') },
    { may: 'take a role', ...of('member') },
  ];
  try {
    const client = await connectAsAdministrator(server);
    const users = [reader, ...others].map(
      (one) => `CREATE USER ${one.user}@'127.0.0.1' IDENTIFIED BY '${one.password}'`,
    );
    for (const statement of [
      `CREATE DATABASE ${database}`,
      'CREATE DATABASE payroll',
      'CREATE TABLE payroll.salaries (id INT PRIMARY KEY)',
      `CREATE TABLE ${database}.orders (id INT PRIMARY KEY, state VARCHAR(20) COMMENT 'open, paid, sent', total DECIMAL(10,2), email VARCHAR(80), made DATETIME) COMMENT 'What was bought'`,
      `CREATE TABLE ${database}.customers (id BIGINT PRIMARY KEY, name VARCHAR(80))`,
      `INSERT INTO ${database}.orders VALUES ${rows(order)}`,
      `CREATE VIEW ${database}.open_orders AS SELECT id FROM ${database}.orders`,
      ...users,
      `GRANT SELECT, SHOW VIEW ON \`shop\\_app\`.* TO reader@'127.0.0.1'`,
      `GRANT SELECT ON ${database}.* TO inserter@'127.0.0.1', member@'127.0.0.1'`,
      `GRANT INSERT ON ${database}.orders TO inserter@'127.0.0.1'`,
      `GRANT SELECT ON *.* TO wanderer@'127.0.0.1'`,
      `GRANT SELECT ON ${database}.* TO granter@'127.0.0.1' WITH GRANT OPTION`,
      'CREATE ROLE editing',
      `GRANT UPDATE ON ${database}.* TO editing`,
      `GRANT editing TO member@'127.0.0.1'`,
    ]) {
      await client.query(statement);
    }
    await client.end();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    port: server.port,
    database,
    reader,
    others,
    stop: async () => {
      await server.stop();
    },
  };
}
