import type { PreparedOperation } from '../contract/definition';
import type { SqlRequest } from '../contract/request';
import { PolicyError } from '../policy/errors';
import { runOperation, type CallContext, type CallResult } from './run';
import type { DatabaseAccess } from './sqlAccess';
import type { SelectBounds, SqlConnection } from './sqlConnection';
import { sqlFailure } from './sqlFailure';
import type { SqlPools } from './sqlPools';
import { buildStatement, declaredTable, type DeclaredTable } from './sqlStatement';
import { placeValues } from './values';

/**
 * Runs one checked-in statement.
 *
 * @param given the caller's arguments, untrusted: they become parameters and never text
 * @throws PolicyError with the code of what went wrong; nothing else escapes
 */
export async function callSqlOperation(
  prepared: PreparedOperation,
  given: unknown,
  access: DatabaseAccess,
  context: CallContext,
  pools: SqlPools,
): Promise<CallResult> {
  const { adapter, operation, limits } = prepared.definition;
  const { request } = operation;
  if (request.kind !== 'sql' || adapter.type !== 'named_query') {
    throw new PolicyError(
      'surface_unconfigured',
      `${operation.name} does not ask a database; render the workflow from its contract again.`,
    );
  }
  if (adapter.dialect !== access.dialect) {
    throw new PolicyError(
      'credential_missing',
      `This application is a ${adapter.dialect} database; the operator has to choose that in the credential.`,
    );
  }
  return await runOperation(prepared, given, context, async (args, signal) => {
    const settings = { kind: 'none', settings: access.settings, account: '', secret: '' } as const;
    const { template } = placeValues(request, operation.name, args, context, settings);
    const declared = declaredBy(request, args, access);
    const statement = buildStatement(request, access.dialect, template, declared);
    const { size_argument: size } = operation.pagination;
    // One more than is shown tells whether there is more.
    const rows = size === null ? 1 : Number(args[size]) + 1;
    const bounds = { rows, bytes: limits.response_bytes, seconds: limits.timeout_seconds };
    try {
      return await pools.with(access, limits.concurrent_requests, signal, async (connection) => {
        if (declared) await refuseMissing(connection, access, declared, bounds);
        return { rows: await connection.select(statement, bounds) };
      });
    } catch (error) {
      signal.throwIfAborted();
      throw sqlFailure(error);
    }
  });
}

function declaredBy(
  { declared_columns: declared }: SqlRequest,
  args: Readonly<Record<string, unknown>>,
  { settings }: DatabaseAccess,
): DeclaredTable | undefined {
  if (!declared) return undefined;
  return declaredTable(settings, declared.setting, args[declared.argument], declared.argument);
}

const COLUMNS = {
  postgresql:
    'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2',
  mariadb:
    'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = ? AND table_name = ?',
};
const MOST_COLUMNS = 2_000;

/** What is declared has to be there, so that a slip in the setting is told as one. */
async function refuseMissing(
  connection: SqlConnection,
  { dialect }: DatabaseAccess,
  { schema, table, columns }: DeclaredTable,
  bounds: SelectBounds,
): Promise<void> {
  const statement = { text: COLUMNS[dialect], values: [schema, table] };
  const rows = await connection.select(statement, { ...bounds, rows: MOST_COLUMNS });
  const visible = new Set(rows.map(({ name }) => name));
  if (columns.every((column) => visible.has(column))) return;
  throw new PolicyError(
    'upstream_rejected',
    `The database user cannot see every declared column of ${schema}.${table}; the operator has to correct the setting or the grants.`,
  );
}
