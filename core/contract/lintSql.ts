import type { Fault } from './fault';
import type { Operation } from './operation';
import { recordOf } from './recordOf';
import type { SqlRequest } from './request';
import type { Contract, SqlDialect } from './schema';
import { sqlTokens, type SqlToken } from './sqlTokens';
import { BEFORE_PARENTHESIS, CATALOGUE, FORBIDDEN_WORDS, FUNCTIONS, SERVER_SCHEMAS } from './sqlWords';

/**
 * One checked-in SELECT: one statement, known functions only, every parameter declared and used exactly once, nothing
 * that writes, locks, waits or reads files. Paths start at the operation.
 */
export function* sqlFaults(operation: Operation, request: SqlRequest, contract: Contract): Generator<Fault> {
  const { adapter } = contract;
  if (adapter.type !== 'named_query') return;
  const at = ['request', 'statement'];
  const tokens = sqlTokens(request.statement, adapter.dialect);
  if (typeof tokens === 'string') {
    yield [at, tokens];
    return;
  }
  for (const reason of new Set(statementFaults(tokens, adapter.dialect))) yield [at, reason];
  yield* parameterFaults(request, tokens);
  yield* declaredFaults(operation, request, tokens);
  yield* placeFaults(operation, request);
}

const NOT_MARIADB = new Set(['||', '->', '->>', '::']);

function* statementFaults(tokens: readonly SqlToken[], dialect: SqlDialect): Generator<string> {
  const [first] = tokens;
  if (first?.kind !== 'word' || (first.text !== 'select' && first.text !== 'with'))
    yield 'must begin with SELECT or WITH';
  if (!balanced(tokens)) yield 'has parentheses that do not match';
  if (dialect === 'mariadb' && tokens.some(({ kind, text }) => kind === 'symbol' && NOT_MARIADB.has(text)))
    yield 'must not hold || or ->, which mean something else in MariaDB; call CONCAT or JSON_VALUE';
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    const opens = tokens[index + 1]?.text === '(' && tokens[index + 1]?.kind === 'symbol';
    if (token.kind === 'quoted' && opens) yield `must not call ${token.text}`;
    const name = token.kind === 'quoted' ? token.text.slice(1, -1).toLowerCase() : token.text;
    if (token.kind !== 'quoted' && token.kind !== 'word') continue;
    if (SERVER_SCHEMAS.has(name)) yield `must not read ${name}`;
    if (name.startsWith('pg_') && !CATALOGUE.has(name) && !FUNCTIONS.postgresql.has(name))
      yield `must not use ${name}`;
    if (token.kind !== 'word') continue;
    if (FORBIDDEN_WORDS.has(name)) yield `must not hold the word ${name.toUpperCase()}`;
    else if (opens) yield* callFaults(name, before, dialect);
  }
}

function* callFaults(name: string, before: SqlToken | undefined, dialect: SqlDialect): Generator<string> {
  const isQualified = before?.kind === 'symbol' && before.text === '.';
  if (isQualified || (!BEFORE_PARENTHESIS.has(name) && !FUNCTIONS[dialect].has(name)))
    yield `must not call ${name}, which is no function that is known to only compute`;
}

function balanced(tokens: readonly SqlToken[]): boolean {
  let open = 0;
  for (const { kind, text } of tokens) {
    if (kind !== 'symbol') continue;
    if (text === '(') open += 1;
    if (text === ')') open -= 1;
    if (open < 0) return false;
  }
  return open === 0;
}

function* parameterFaults(request: SqlRequest, tokens: readonly SqlToken[]): Generator<Fault> {
  const { parameters, arguments: places, bound } = request;
  const used = tokens.flatMap(({ kind, text }) => (kind === 'parameter' ? [text] : []));
  if (JSON.stringify(used) !== JSON.stringify(parameters)) {
    yield [
      ['request', 'parameters'],
      `must be, in the order of the statement and each once: ${used.join(', ') || 'none'}`,
    ];
  }
  if (new Set(used).size !== used.length)
    yield [
      ['request', 'statement'],
      'uses one parameter twice; use COALESCE(:name, column) for an optional one',
    ];
  const given = Object.entries(places).flatMap(([name, { in: place }]) =>
    place === 'template' ? [name] : [],
  );
  const fillers = [...given, ...Object.values(bound).map(({ as }) => as)];
  for (const name of used) {
    const times = fillers.filter((filler) => filler === name).length;
    if (times !== 1) yield [['request', 'parameters'], `${name} must be filled by exactly one argument`];
  }
  for (const name of fillers) {
    if (!used.includes(name) && name !== request.declared_columns?.argument)
      yield [['request', 'arguments'], `${name} is not used by the statement`];
  }
}

/** `{columns}` and `{table}` stand for identifiers that the operator declared, and only together. */
function* declaredFaults(
  { input_schema: input }: Operation,
  { declared_columns: declared, arguments: places }: SqlRequest,
  tokens: readonly SqlToken[],
): Generator<Fault> {
  const slots = tokens.flatMap(({ kind, text }) => (kind === 'slot' ? [text] : []));
  const wanted = declared ? ['columns', 'table'] : [];
  if (JSON.stringify([...slots].sort()) !== JSON.stringify(wanted)) {
    yield [
      ['request', 'statement'],
      declared ? 'must hold {columns} and {table} once each' : 'has slots, which need declared_columns',
    ];
  }
  if (!declared) return;
  const required: unknown[] = Array.isArray(input['required']) ? input['required'] : [];
  if (places[declared.argument]?.in !== 'template' || !required.includes(declared.argument)) {
    yield [
      ['request', 'declared_columns', 'argument'],
      'must be a required argument that is placed in: template',
    ];
  }
}

function* placeFaults({ pagination, response }: Operation, request: SqlRequest): Generator<Fault> {
  for (const [name, placement] of Object.entries(request.arguments)) {
    const isCap = placement.in === 'result' && placement.match === 'limit';
    if (placement.in !== 'template' && !isCap) {
      yield [
        ['request', 'arguments', name, 'in'],
        'must be template, or result with match limit for the number of rows',
      ];
    }
  }
  for (const [name, { in: place }] of Object.entries(request.bound)) {
    if (place !== 'template') yield [['request', 'bound', name, 'in'], 'must be template in a statement'];
  }
  if (response.items !== null && response.items !== '/rows')
    yield [['response', 'items'], 'must be /rows for the rows of a statement'];
  if (response.items === null && response.record !== '/rows/0')
    yield [['response', 'record'], 'must be /rows/0 for the one row of a statement'];
  if (response.items !== null && pagination.size_argument === null)
    yield [['pagination', 'size_argument'], 'is needed: it bounds the rows that are fetched'];
  const size = recordOf(request.arguments)[pagination.size_argument ?? ''];
  if (pagination.size_argument !== null && recordOf(size)['in'] !== 'result')
    yield [
      ['pagination', 'size_argument'],
      'must be placed in: result, since rows are counted by the cursor',
    ];
  const { style, next_of_last: last } = pagination;
  if (style === 'page' || (style === 'cursor' && last === undefined))
    yield [['pagination', 'style'], 'must be none, offset, or cursor with next_of_last for a statement'];
}
