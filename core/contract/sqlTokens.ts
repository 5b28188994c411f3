import type { SqlDialect } from './schema';

/** One piece of a checked-in statement. */
export interface SqlToken {
  readonly kind: 'word' | 'quoted' | 'text' | 'number' | 'parameter' | 'slot' | 'symbol';
  /** Words in lower case; of parameters and slots the name; of all others as it is written. */
  readonly text: string;
  /** Where it stands in the statement, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/**
 * The language in which statements are checked in: a small part of SQL in which everything has one meaning. Not in it are
 * comments, `;`, backslashes, `$`, `@`, `?`, and in MariaDB double quotes, which mean one thing or another by a setting.
 */
const COMMON = [
  ['text', /'(?:[^'\\]|'')*'/y],
  ['number', /\d+(?:\.\d+)?(?![\w.])/y],
  ['parameter', /:([a-z][a-z0-9_]*)/y],
  ['slot', /\{([a-z]+)\}/y],
  ['word', /[A-Za-z_]\w*/y],
  ['symbol', /::|<>|!=|<=|>=|\|\||->>|->|[(),.=<>+*/%[\]-]/y],
] as const;

const QUOTED: Record<SqlDialect, readonly ['quoted', RegExp]> = {
  postgresql: ['quoted', /"[^"\\]+"/y],
  mariadb: ['quoted', /`[^`\\]+`/y],
};

const SPACE = /[ \t\r\n]*/y;

/**
 * @returns the tokens; where something stands that is not in the language, a sentence that says what
 */
export function sqlTokens(statement: string, dialect: SqlDialect): SqlToken[] | string {
  const tokens: SqlToken[] = [];
  const forms = [QUOTED[dialect], ...COMMON];
  for (let at = afterSpace(statement, 0); at < statement.length; at = afterSpace(statement, at)) {
    if (statement.startsWith('--', at) || statement.startsWith('/*', at)) return 'must not hold comments';
    const token = tokenAt(statement, at, forms);
    if (!token) return `must not hold ${JSON.stringify(statement.charAt(at))} outside of a simple text`;
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function tokenAt(
  statement: string,
  at: number,
  forms: readonly (readonly [SqlToken['kind'], RegExp])[],
): SqlToken | undefined {
  for (const [kind, form] of forms) {
    form.lastIndex = at;
    const [whole, name] = form.exec(statement) ?? [];
    if (whole === undefined) continue;
    const text = kind === 'word' ? whole.toLowerCase() : (name ?? whole);
    return { kind, text, start: at, end: at + whole.length };
  }
  return undefined;
}

function afterSpace(statement: string, at: number): number {
  SPACE.lastIndex = at;
  return at + (SPACE.exec(statement)?.[0].length ?? 0);
}
