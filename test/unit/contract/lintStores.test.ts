import { contractWith, findingsIn } from './brokenContract';

const KDB = 'koder-kdb';
const MARIA = 'svc-db-mariadb';
const MINIO = 'web-app-minio';

const reasons = (changes: Record<string, unknown>, applicationId: string): string =>
  findingsIn(contractWith(changes, applicationId))
    .map(({ path, reason }) => `${path}: ${reason}`)
    .join('\n');

/** A statement in place of the one that finds columns, with its two parameters unless it has others. */
const statement = (text: string, applicationId = KDB, more: Record<string, unknown> = {}) => {
  const index = applicationId === KDB ? 4 : 3;
  const at = `operations.${String(index)}.request`;
  const others = Object.fromEntries(Object.entries(more).map(([key, value]) => [`${at}.${key}`, value]));
  return reasons({ [`${at}.statement`]: text, ...others }, applicationId);
};
const USED = 'WHERE a = :column AND b > :after';

describe('a statement', () => {
  it.each([
    ['writes', `DELETE FROM shop.orders ${USED}`, /must begin with SELECT/],
    ['writes in a WITH', `WITH gone AS (DELETE FROM t ${USED} RETURNING *) SELECT * FROM gone`, /DELETE/],
    ['is two', `SELECT 1; DROP TABLE t -- ${USED}`, /must not hold ";"/],
    ['makes a table', `SELECT a INTO copied FROM t ${USED}`, /INTO/],
    ['locks rows', `SELECT a FROM t ${USED} FOR UPDATE`, /word FOR/],
    ['shares locks', `SELECT a FROM t ${USED} FOR SHARE`, /word FOR/],
    ['hides in a comment', `SELECT a /*!50000 , sleep(9) */ FROM t ${USED}`, /comments/],
    ['ends in a comment', `SELECT a FROM t ${USED} -- x`, /comments/],
    ['reads a file', `SELECT pg_read_file('/etc/passwd') FROM t ${USED}`, /pg_read_file/],
    ['imports a file', `SELECT lo_import('/etc/passwd') FROM t ${USED}`, /lo_import/],
    ['connects elsewhere', `SELECT a FROM dblink('host=x', 'select 1') ${USED}`, /dblink/],
    ['waits', `SELECT pg_sleep(60) FROM t ${USED}`, /pg_sleep/],
    ['calls what nobody knows', `SELECT shop.refund(a) FROM t ${USED}`, /refund/],
    ['calls it in quotes', `SELECT "pg_sleep"(60) FROM t ${USED}`, /pg_sleep/],
    ['calls it by its schema', `SELECT pg_catalog.lower(a) FROM t ${USED}`, /must not call lower/],
    ['changes a setting', `SELECT set_config('a', 'b', false) FROM t ${USED}`, /set_config/],
    [
      'runs SQL in a function',
      `SELECT query_to_xml('select 1', true, false, '') FROM t ${USED}`,
      /query_to_xml/,
    ],
    ['reads password hashes', `SELECT rolpassword FROM pg_authid ${USED}`, /pg_authid/],
    ['reads them in quotes', `SELECT rolpassword FROM "pg_authid" ${USED}`, /pg_authid/],
    ['reads what others run', `SELECT query FROM pg_stat_activity ${USED}`, /pg_stat_activity/],
    ['has dollar quotes', `SELECT $$a$$ FROM t ${USED}`, /must not hold "\$"/],
    ['has a backslash', `SELECT E'\\\\' FROM t ${USED}`, /must not hold/],
    ['has parentheses that do not match', `SELECT (a FROM t ${USED}`, /parentheses/],
    ['is one of EXPLAIN', `EXPLAIN ANALYZE SELECT a FROM t ${USED}`, /must begin with SELECT/],
    ['is a TABLE command', `TABLE shop.orders`, /must begin with SELECT/],
  ])('that %s is refused', (_what, text, reason) => {
    expect(statement(text)).toMatch(reason);
  });

  it.each([
    ['waits', `SELECT sleep(60) FROM t ${USED}`, /sleep/],
    ['burns time', `SELECT benchmark(1000000000, md5('a')) FROM t ${USED}`, /benchmark/],
    ['reads a file', `SELECT load_file('/etc/passwd') FROM t ${USED}`, /load_file/],
    ['writes a file', `SELECT a FROM t ${USED} INTO OUTFILE '/tmp/x'`, /INTO/],
    ['takes a lock', `SELECT get_lock('a', 9) FROM t ${USED}`, /get_lock/],
    ['keeps a variable', `SELECT @a FROM t ${USED}`, /must not hold "@"/],
    ['reads users', `SELECT authentication_string FROM mysql.user ${USED}`, /must not read mysql/],
    ['reads them in back quotes', `SELECT a FROM \`mysql\`.\`user\` ${USED}`, /must not read mysql/],
    ['has text in double quotes', `SELECT "a" FROM t ${USED}`, /must not hold/],
    ['has an executable comment', `SELECT a FROM t ${USED} # x`, /must not hold "#"/],
    ['means OR by ||', `SELECT a || b FROM t ${USED}`, /mean something else in MariaDB/],
    ['locks rows', `SELECT a FROM t ${USED} LOCK IN SHARE MODE`, /LOCK/],
    ['calls a procedure', `SELECT a FROM t ${USED} PROCEDURE ANALYSE(1)`, /PROCEDURE/],
  ])('for MariaDB that %s is refused', (_what, text, reason) => {
    expect(statement(text, MARIA)).toMatch(reason);
  });

  it.each([
    ['in another order', { parameters: ['after', 'column'] }, /in the order of the statement/],
    ['that is not declared', { parameters: ['column'] }, /must be, in the order/],
    ['that is not used', { parameters: ['column', 'after', 'more'] }, /must be, in the order/],
  ])('with a parameter %s is refused', (_what, more, reason) => {
    expect(statement(`SELECT a FROM t ${USED}`, KDB, more)).toMatch(reason);
  });

  it.each([
    ['uses a parameter twice', `SELECT a FROM t ${USED} OR c = :after`, /twice/],
    ['uses one that nobody gives', `SELECT a FROM t ${USED} AND c = :secret`, /secret must be filled/],
    ['leaves an argument unused', 'SELECT a FROM t WHERE a = :column', /after is not used/],
    ['takes an identifier from nowhere', `SELECT a FROM {table} ${USED}`, /need declared_columns/],
  ])('that %s is refused', (_what, text, reason) => {
    expect(statement(text)).toMatch(reason);
  });

  it('may use what only computes', () => {
    const text = `WITH x AS (SELECT lower(a) AS a, count(*) AS n FROM shop.t GROUP BY lower(a))
      SELECT a, round(n / 2.5, 1) AS half, CASE WHEN n > 3 THEN 'many' ELSE 'few' END AS word
      FROM x ${USED} AND a NOT IN ('it''s', '--', ';') ORDER BY n DESC`;
    expect(statement(text)).not.toMatch(/request/);
  });
});

describe('a contract with statements', () => {
  it.each([
    [
      'slots without the table',
      { 'operations.2.request.statement': 'SELECT {columns} FROM shop.t' },
      /\{columns\} and \{table\}/,
    ],
    [
      'a setting that nobody declared',
      { 'operations.2.request.declared_columns.setting': 'other' },
      /does not declare/,
    ],
    ['an argument that may be left out', { 'operations.2.input_schema.required': [] }, /required argument/],
    ['no bound of rows', { 'operations.0.pagination.size_argument': null }, /bounds the rows/],
    [
      'a bound that is sent',
      { 'operations.0.request.arguments.limit': { in: 'template' } },
      /rows are counted by the cursor/,
    ],
    ['rows elsewhere', { 'operations.0.response.items': '/data' }, /must be \/rows/],
    [
      'a query parameter',
      { 'operations.0.request.arguments.schema': { in: 'query', as: 'x' } },
      /must be template/,
    ],
    ['another kind of request', { 'adapter.type': 's3_prefix' }, /adapter/],
    ['raw text of a caller', { 'operations.0.request.text': 'anything' }, /is not a known key/],
  ])('that has %s is refused', (_what, changes, reason) => {
    expect(reasons(changes, KDB)).toMatch(reason);
  });
});

describe('a contract of an object store', () => {
  it.each([
    ['writes', { 'operations.0.request.action': 'put' }, /action/],
    [
      'chooses a region',
      { 'operations.0.request.arguments.region': { in: 'template' } },
      /is no argument of list/,
    ],
    [
      'binds a bucket',
      { 'operations.0.request.bound': { b: { from: 'tenant', in: 'template', as: 'bucket' } } },
      /must be empty/,
    ],
    [
      'places a key in a path',
      { 'operations.1.request.arguments.key': { in: 'path', as: 'key' } },
      /must be template/,
    ],
    ['has a path', { 'operations.1.request.path': '/bucket' }, /is not a known key/],
    ['cuts an object', { 'operations.2.response.text_characters': 100 }, /refused, not cut/],
    ['lets the key be left out', { 'operations.2.input_schema.required': [] }, /must list key/],
    [
      'has no pages',
      {
        'operations.0.pagination': {
          style: 'none',
          size_argument: 'limit',
          position_argument: null,
          next: null,
        },
      },
      /must be: style cursor/,
    ],
    ['signs in another way', { 'adapter.authentication.kind': 'bearer' }, /adapter.authentication.kind/],
    ['is read without a credential', { credential: null }, /must name the/],
  ])('that %s is refused', (_what, changes, reason) => {
    expect(reasons(changes, MINIO)).toMatch(reason);
  });
});
