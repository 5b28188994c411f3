import { PolicyError, type ErrorCode } from '../policy/errors';

const SENTENCES: Partial<Record<ErrorCode, string>> = {
  upstream_timeout: 'The database ended the statement because it took too long; ask for less.',
  upstream_auth_failed: 'The database refused the user, or does not let it read that.',
  upstream_rate_limited: 'The database has no connection left; wait before the next call.',
  upstream_unavailable: 'The database is starting, stopping or failing.',
  upstream_rejected:
    'The database could not run the statement: an argument has no meaning there, or its tables differ from those of the contract.',
};

/** SQLSTATE classes of PostgreSQL (its documentation, appendix A). */
const POSTGRESQL: readonly [RegExp, ErrorCode][] = [
  [/^57014$/, 'upstream_timeout'],
  [/^(?:28...|42501)$/, 'upstream_auth_failed'],
  [/^53300$/, 'upstream_rate_limited'],
  [/^(?:57...|53...|58...|XX...)$/, 'upstream_unavailable'],
  [/^[0-9A-Z]{5}$/, 'upstream_rejected'],
];

/** Error numbers of MariaDB (its documentation, "MariaDB Error Code Reference"). */
const MARIADB: Readonly<Record<number, ErrorCode>> = {
  1969: 'upstream_timeout',
  1044: 'upstream_auth_failed',
  1045: 'upstream_auth_failed',
  1142: 'upstream_auth_failed',
  1143: 'upstream_auth_failed',
  1698: 'upstream_auth_failed',
  1040: 'upstream_rate_limited',
  1203: 'upstream_rate_limited',
  1226: 'upstream_rate_limited',
  1053: 'upstream_unavailable',
};

/**
 * What a driver threw as one of our codes. The text of a database is never shown: it may hold data. What is no answer
 * of the database stays as it is, and becomes `upstream_unreachable` further up.
 */
export function sqlFailure(thrown: unknown): unknown {
  if (thrown instanceof PolicyError || thrown === null || typeof thrown !== 'object') return thrown;
  const { code, errno, cause, sqlState } = thrown as Record<string, unknown>;
  if (cause instanceof PolicyError) return cause;
  const isMariadb = typeof errno === 'number' && typeof sqlState === 'string';
  const found = isMariadb
    ? (MARIADB[errno] ?? 'upstream_rejected')
    : POSTGRESQL.find(
        ([pattern]) => typeof code === 'string' && !code.startsWith('E') && pattern.test(code),
      )?.[1];
  return found
    ? new PolicyError(found, SENTENCES[found] ?? 'The database failed.', { cause: thrown })
    : thrown;
}
