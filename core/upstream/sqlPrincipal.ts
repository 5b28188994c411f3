import { PolicyError } from '../policy/errors';

/** Says what a principal may do besides reading. */
export function notReadOnly(what: string): PolicyError {
  return new PolicyError(
    'principal_not_read_only',
    `The database user ${what}; the operator has to give this tool a user that can only read what it returns.`,
  );
}

/**
 * One row about the principal of a PostgreSQL connection. Every role counts that it could become by SET ROLE. Ownership
 * counts as writing: an owner can give itself every right.
 */
export const POSTGRESQL_PRINCIPAL = `
WITH reachable AS (
  SELECT oid, rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
  FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(current_user, oid, 'MEMBER')
), relations AS (
  SELECT c.oid, c.relowner FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
)
SELECT
  (SELECT bool_or(rolsuper) FROM reachable) AS superuser,
  (SELECT bool_or(rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls) FROM reachable) AS administrates,
  EXISTS (SELECT FROM reachable WHERE rolname IN ('pg_write_all_data', 'pg_read_server_files',
    'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend')) AS server_access,
  EXISTS (SELECT FROM relations JOIN reachable ON reachable.oid = relations.relowner) AS owns,
  EXISTS (SELECT FROM relations, reachable
    WHERE pg_catalog.has_table_privilege(reachable.oid, relations.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
      OR pg_catalog.has_any_column_privilege(reachable.oid, relations.oid, 'INSERT, UPDATE, REFERENCES')) AS writes`;

/** @throws PolicyError `principal_not_read_only` */
export function checkPostgresqlPrincipal(row: Readonly<Record<string, unknown>> | undefined): void {
  const faults: [string, string][] = [
    ['superuser', 'is a superuser'],
    ['administrates', 'may create roles or databases, replicate or pass row security'],
    ['server_access', 'may write all data, or reach files and programs of the server'],
    ['owns', 'owns tables'],
    ['writes', 'may write to tables'],
  ];
  for (const [name, what] of faults) if (row?.[name] !== false) throw notReadOnly(what);
}

const READS = ['USAGE', 'SELECT', 'SHOW VIEW'];
const GRANT = /^GRANT (.+?) ON (.+?) TO /;
/** A database, or one table in it, in back quotes as MariaDB shows them. */
const OBJECT = /^`((?:[^`]|``)+)`\.(?:\*|`(?:[^`]|``)+`)$/;

/**
 * Checks what SHOW GRANTS says of a MariaDB principal: it reads, in its own database and nowhere else. A role is refused
 * as well, since what it holds may change and may not be shown.
 *
 * @param grants one line each
 * @throws PolicyError `principal_not_read_only`
 */
export function checkMariadbGrants(grants: readonly string[], database: string): void {
  if (grants.length === 0) throw notReadOnly('does not say what it may do');
  for (const grant of grants) {
    const [, privileges = '', object = ''] = GRANT.exec(grant) ?? [];
    if (privileges === '') throw notReadOnly('holds a role or a right that is not understood');
    if (/ WITH (?:.* )?GRANT OPTION/.test(grant)) throw notReadOnly('may pass its rights on');
    const named = privileges.replace(/ ?\([^)]*\)/g, '').split(', ');
    if (!named.every((privilege) => READS.includes(privilege))) throw notReadOnly('may do more than SELECT');
    if (named.every((privilege) => privilege === 'USAGE')) continue;
    const granted = OBJECT.exec(object)?.[1]
      ?.replaceAll('``', '`')
      .replace(/\\([_%])/g, '$1');
    if (granted !== database) throw notReadOnly('may read outside of its database');
  }
}
