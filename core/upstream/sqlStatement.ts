import type { SqlRequest } from '../contract/request';
import type { SqlDialect } from '../contract/schema';
import { sqlTokens, type SqlToken } from '../contract/sqlTokens';
import { PolicyError } from '../policy/errors';
import { requiredSetting, type UpstreamSettings } from './settings';
import type { BuiltStatement, SqlValue } from './sqlConnection';

/** A table that the operator declared, with the columns that may be read of it. */
export interface DeclaredTable {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
}

const parsed = new WeakMap<SqlRequest, readonly SqlToken[]>();

/**
 * The statement of a contract as it is sent: parameters become those of the dialect, in their order, and `{columns}` and
 * `{table}` identifiers that the operator wrote. Nothing of what a caller sent enters the text.
 */
export function buildStatement(
  request: SqlRequest,
  dialect: SqlDialect,
  values: ReadonlyMap<string, unknown>,
  declared: DeclaredTable | undefined,
): BuiltStatement {
  const { statement } = request;
  const given: SqlValue[] = [];
  let text = '';
  let at = 0;
  for (const token of tokensOf(request, dialect)) {
    if (token.kind !== 'parameter' && token.kind !== 'slot') continue;
    text += statement.slice(at, token.start);
    at = token.end;
    if (token.kind === 'slot') text += identifiers(token.text, dialect, declared);
    else {
      given.push(valueOf(values.get(token.text)));
      text += dialect === 'postgresql' ? `$${String(given.length)}` : '?';
    }
  }
  return { text: text + statement.slice(at), values: given };
}

function tokensOf(request: SqlRequest, dialect: SqlDialect): readonly SqlToken[] {
  const known = parsed.get(request);
  if (known) return known;
  const tokens = sqlTokens(request.statement, dialect);
  if (typeof tokens === 'string') throw unusable(`the statement ${tokens}`);
  parsed.set(request, tokens);
  return tokens;
}

/** What was not given is NULL. */
function valueOf(value: unknown): SqlValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function identifiers(slot: string, dialect: SqlDialect, declared: DeclaredTable | undefined): string {
  if (!declared) throw unusable('the statement needs declared columns');
  const quoted = (name: string) => (dialect === 'postgresql' ? `"${name}"` : `\`${name}\``);
  if (slot === 'table') return `${quoted(declared.schema)}.${quoted(declared.table)}`;
  if (slot === 'columns') return declared.columns.map(quoted).join(', ');
  throw unusable(`the statement has no meaning for {${slot}}`);
}

function unusable(reason: string): PolicyError {
  return new PolicyError('surface_unconfigured', `This operation cannot be run: ${reason}.`);
}

/** Neither a quote nor anything else that could end an identifier. */
const ENTRY = /^([A-Za-z_]\w{0,62})\.([A-Za-z_]\w{0,62})\.([A-Za-z_]\w{0,62})$/;
const OF_THE_SERVER = ['information_schema', 'pg_catalog', 'pg_toast', 'mysql', 'performance_schema', 'sys'];

/**
 * The table that a caller chose, out of those that the operator declared as `schema.table.column`. The caller's text is
 * compared and not used: what goes on is the operator's spelling.
 *
 * @throws PolicyError `arguments_invalid` for a table that is not declared; `credential_missing` for a setting that
 * cannot be read
 */
export function declaredTable(
  settings: UpstreamSettings,
  setting: string,
  chosen: unknown,
  argument: string,
): DeclaredTable {
  const tables = new Map<string, { schema: string; table: string; columns: string[] }>();
  for (const entry of requiredSetting(settings, setting)) {
    const [, schema, table, column] = ENTRY.exec(entry) ?? [];
    if (schema === undefined || table === undefined || column === undefined || isServers(schema)) {
      throw new PolicyError(
        'credential_missing',
        `The database credential cannot be used: the setting ${setting} must list schema.table.column of tables that are not the server's own.`,
      );
    }
    const name = `${schema}.${table}`;
    const known = tables.get(name) ?? { schema, table, columns: [] };
    known.columns.push(column);
    tables.set(name, known);
  }
  const found = tables.get(String(chosen));
  if (found) return found;
  throw new PolicyError(
    'arguments_invalid',
    `Argument /${argument} must be one of the tables that the operator declared: ${[...tables.keys()].join(', ')}.`,
    { pointer: `/${argument}` },
  );
}

const isServers = (schema: string): boolean => OF_THE_SERVER.includes(schema.toLowerCase());
