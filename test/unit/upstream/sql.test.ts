import fc from 'fast-check';
import { satisfies } from '../../../core/policy/arguments';
import { PolicyError } from '../../../core/policy/errors';
import { callSqlOperation } from '../../../core/upstream/sql';
import { databaseAccess, type DatabaseCredential } from '../../../core/upstream/sqlAccess';
import {
  RowCollector,
  type BuiltStatement,
  type SelectBounds,
  type SqlRow,
} from '../../../core/upstream/sqlConnection';
import { checkMariadbGrants, checkPostgresqlPrincipal } from '../../../core/upstream/sqlPrincipal';
import { SqlPools } from '../../../core/upstream/sqlPools';
import { operationNamed } from '../contract/checkedIn';

const PASSWORD = 'k3y-that-nobody-may-see';

const credential: DatabaseCredential = {
  ...{ dialect: 'postgresql', host: 'db.example.com', port: 5_432, database: 'app', user: 'reader' },
  ...{ password: PASSWORD, tls: 'verify' },
  settings: 'sample_columns = shop.orders.id, shop.orders.state, shop.customers.id',
};

interface Asked extends BuiltStatement {
  readonly bounds: SelectBounds;
}

/** A database that answers from a script and remembers what it was asked. */
class Double {
  readonly asked: Asked[] = [];
  opened = 0;
  readonly pools: SqlPools;

  constructor(answers: (statement: BuiltStatement) => SqlRow[] | Error) {
    const connect = () => {
      this.opened += 1;
      let usable = true;
      return Promise.resolve({
        select: async (statement: BuiltStatement, bounds: SelectBounds) => {
          this.asked.push({ ...statement, bounds });
          const rows = answers(statement);
          if (rows instanceof Error) throw rows;
          return await Promise.resolve(rows.slice(0, bounds.rows));
        },
        isUsable: () => usable,
        destroy: () => {
          usable = false;
        },
      });
    };
    this.pools = new SqlPools({ postgresql: connect, mariadb: connect });
  }

  async call(
    tool: string,
    args: object,
    change: Partial<DatabaseCredential> = {},
  ): Promise<Record<string, unknown>> {
    const prepared = operationNamed(tool);
    const { signal } = new AbortController();
    const context = { consumer: 'client-test', tenant: null, correlationId: 'test', signal };
    const access = databaseAccess({ ...credential, ...change });
    const { structured, text } = await callSqlOperation(prepared, args, access, context, this.pools);
    expect(satisfies(prepared.descriptor.outputSchema ?? {}, structured)).toBe(true);
    expect(text).not.toContain(PASSWORD);
    return structured;
  }

  async failure(tool: string, args: object, change?: Partial<DatabaseCredential>): Promise<PolicyError> {
    const thrown = await this.call(tool, args, change).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(PolicyError);
    for (const secret of [PASSWORD, 'db.example.com', 'CANARY'])
      expect((thrown as PolicyError).message).not.toContain(secret);
    return thrown as PolicyError;
  }
}

const doubles: Double[] = [];
const double = (answers: (statement: BuiltStatement) => SqlRow[] | Error): Double => {
  const made = new Double(answers);
  doubles.push(made);
  return made;
};
afterEach(async () => {
  for (const one of doubles.splice(0)) await one.pools.close();
});

describe('a checked-in statement', () => {
  it('is sent as it stands, with numbered parameters and its values beside it', async () => {
    const database = double(() => [{ table_name: 'shop.orders', column_name: 'id', data_type: 'integer' }]);
    const page = await database.call('kdb_find_columns', { column: 'id' });
    const [asked] = database.asked;
    expect(asked?.text).toContain('column_name = $1 AND');
    expect(asked?.text).toContain("COALESCE($2, '')");
    expect(asked?.values).toEqual(['id', null]);
    expect(asked?.bounds).toEqual({ rows: 101, bytes: 262_144, seconds: 10 });
    expect(page).toMatchObject({ returned: 1, truncated: false, next: null });
  });

  it('is sent to MariaDB with question marks', async () => {
    const database = double(() => []);
    await database.call(
      'mariadb_find_columns',
      { column: 'id', after: 'a' },
      { dialect: 'mariadb', settings: '' },
    );
    expect(database.asked[0]?.text).toContain('column_name = ? AND');
    expect(database.asked[0]?.values).toEqual(['id', 'a']);
  });

  it('never holds what a caller sent', async () => {
    const text = operationNamed('kdb_find_columns').definition.operation.request;
    const database = double(() => []);
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 63 }), async (value) => {
        const before = database.asked.length;
        await database.call('kdb_find_columns', { column: value }).catch((error: unknown) => {
          expect((error as PolicyError).code).toBe('arguments_invalid');
        });
        const [asked] = database.asked.slice(before);
        if (!asked || text.kind !== 'sql') return;
        expect(asked.text).toBe(text.statement.replace(':column', '$1').replace(':after', '$2'));
        expect(asked.values[0]).toBe(value);
      }),
    );
  });

  it('says that there is more when one more row than wanted is there, and where to read on', async () => {
    const database = double(() => ['a', 'b', 'c'].map((name) => ({ table_name: name, kind: 'view' })));
    expect(await database.call('kdb_list_tables', { limit: 2 })).toEqual({
      items: [
        { table_name: 'a', kind: 'view' },
        { table_name: 'b', kind: 'view' },
      ],
      ...{ returned: 2, truncated: true, next: 'b' },
    });
    expect(database.asked[0]?.bounds.rows).toBe(3);
  });

  it('reuses a connection, and does not reuse one that failed', async () => {
    const database = double(() => []);
    await database.call('kdb_list_tables', {});
    await database.call('kdb_list_tables', {});
    expect(database.opened).toBe(1);
    await database.call('kdb_list_tables', {}, { user: 'other' });
    expect(database.opened).toBe(2);
  });

  it('ends its connection when the caller goes away, whatever the driver does, and frees the place', async () => {
    let destroyed = 0;
    const connect = () =>
      Promise.resolve({
        select: () => new Promise<SqlRow[]>(() => undefined),
        isUsable: () => destroyed === 0,
        destroy: () => {
          destroyed += 1;
        },
      });
    const pools = new SqlPools({ postgresql: connect, mariadb: connect });
    const caller = new AbortController();
    const context = { consumer: 'client-test', tenant: null, correlationId: 'test', signal: caller.signal };
    const prepared = operationNamed('kdb_list_tables');
    const call = callSqlOperation(prepared, {}, databaseAccess(credential), context, pools);
    setImmediate(() => {
      caller.abort();
    });
    await expect(call).rejects.toMatchObject({ code: 'call_cancelled' });
    expect(destroyed).toBe(1);
    await pools.close();
  });

  it('is not sent to a database of another dialect', async () => {
    const database = double(() => []);
    const failure = await database.failure('kdb_list_tables', {}, { dialect: 'mariadb' });
    expect([failure.code, database.asked]).toEqual(['credential_missing', []]);
  });

  it.each([
    [{ code: '57014' }, 'upstream_timeout'],
    [{ code: '28P01' }, 'upstream_auth_failed'],
    [{ code: '42501' }, 'upstream_auth_failed'],
    [{ code: '53300' }, 'upstream_rate_limited'],
    [{ code: '57P03' }, 'upstream_unavailable'],
    [{ code: '42P01' }, 'upstream_rejected'],
    [{ code: '22P02' }, 'upstream_rejected'],
    [{ code: 'ER_STATEMENT_TIMEOUT', errno: 1969, sqlState: '70100' }, 'upstream_timeout'],
    [{ code: 'ER_ACCESS_DENIED_ERROR', errno: 1045, sqlState: '28000' }, 'upstream_auth_failed'],
    [{ code: 'ER_CON_COUNT_ERROR', errno: 1040, sqlState: '08004' }, 'upstream_rate_limited'],
    [{ code: 'ER_NO_SUCH_TABLE', errno: 1146, sqlState: '42S02' }, 'upstream_rejected'],
    [{ code: 'ECONNREFUSED', errno: -111 }, 'upstream_unreachable'],
    [{ code: 'EPIPE' }, 'upstream_unreachable'],
  ])('that fails with %j answers a code of ours and nothing of the text', async (fields, code) => {
    const database = double(() => Object.assign(new Error('row CANARY at db.example.com'), fields));
    expect((await database.failure('kdb_list_tables', {})).code).toBe(code);
  });
});

describe('a sample', () => {
  const answers = ({ text }: BuiltStatement): SqlRow[] =>
    text.includes('information_schema') ? [{ name: 'id' }, { name: 'state' }] : [{ id: 1, state: 'open' }];

  it('is made of the columns that the operator wrote, quoted', async () => {
    const database = double(answers);
    expect(await database.call('kdb_sample', { table: 'shop.orders' })).toMatchObject({
      items: [{ id: 1, state: 'open' }],
    });
    const [look, read] = database.asked;
    expect(look?.values).toEqual(['shop', 'orders']);
    expect(read?.bounds.rows).toBe(21);
    expect([read?.text, read?.values]).toEqual(['SELECT "id", "state" FROM "shop"."orders"', []]);
  });

  it('of a table that is not declared is refused before anything is asked', async () => {
    const database = double(answers);
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 1, maxLength: 60 }).map((text) => `shop.${text}`),
        async (table) => {
          fc.pre(table !== 'shop.orders' && table !== 'shop.customers');
          expect((await database.failure('kdb_sample', { table })).code).toBe('arguments_invalid');
        },
      ),
    );
    expect(database.asked).toEqual([]);
  });

  it('of a declared column that is not there is refused', async () => {
    const failure = await double(() => [{ name: 'id' }]).failure('kdb_sample', { table: 'shop.orders' });
    expect(failure.code).toBe('upstream_rejected');
  });

  it.each([
    ['no setting', ''],
    ['a table without a column', 'sample_columns = shop.orders'],
    ['a quote', 'sample_columns = shop.orders.id"'],
    ['a table of the server', 'sample_columns = pg_catalog.pg_authid.rolpassword'],
    ['a star', 'sample_columns = shop.orders.*'],
  ])('with %s is refused', async (_what, settings) => {
    const database = double(answers);
    expect((await database.failure('kdb_sample', { table: 'shop.orders' }, { settings })).code).toBe(
      'credential_missing',
    );
    expect(database.asked).toEqual([]);
  });
});

describe('a principal of MariaDB', () => {
  const usage = "GRANT USAGE ON *.* TO `reader`@`%` IDENTIFIED BY PASSWORD '*A'";
  it.each([
    ['its database', ['GRANT SELECT ON `shop\\_app`.* TO `reader`@`%`']],
    ['one table', ['GRANT SELECT ON `shop_app`.`orders` TO `reader`@`%`']],
    ['some columns', ['GRANT SELECT (`id`, `state`) ON `shop_app`.`orders` TO `reader`@`%`']],
    ['views with their text', ['GRANT SELECT, SHOW VIEW ON `shop_app`.* TO `reader`@`%`']],
    ['nothing yet', []],
  ])('that reads %s may read', (_what, grants) => {
    expect(() => {
      checkMariadbGrants([usage, ...grants], 'shop_app');
    }).not.toThrow();
  });

  it.each([
    ['writes', 'GRANT SELECT, INSERT ON `shop_app`.* TO `reader`@`%`'],
    ['writes a column', 'GRANT SELECT, UPDATE (`state`) ON `shop_app`.`orders` TO `reader`@`%`'],
    ['does everything', 'GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION'],
    ['reads everything', 'GRANT SELECT ON *.* TO `reader`@`%`'],
    ['reads another database', 'GRANT SELECT ON `payroll`.* TO `reader`@`%`'],
    ['reads more by a pattern', 'GRANT SELECT ON `shop%`.* TO `reader`@`%`'],
    ['passes rights on', 'GRANT SELECT ON `shop_app`.* TO `reader`@`%` WITH GRANT OPTION'],
    ['has a role', 'GRANT `editing` TO `reader`@`%`'],
    ['stands in for others', 'GRANT PROXY ON ``@`%` TO `reader`@`%`'],
    ['reads files', 'GRANT FILE ON *.* TO `reader`@`%`'],
    ['runs procedures', 'GRANT EXECUTE ON `shop_app`.* TO `reader`@`%`'],
  ])('that %s is refused', (_what, grant) => {
    expect(() => {
      checkMariadbGrants([usage, grant], 'shop_app');
    }).toThrow(expect.objectContaining({ code: 'principal_not_read_only' }) as Error);
  });
});

it.each(['superuser', 'administrates', 'server_access', 'owns', 'writes'])(
  'a principal of PostgreSQL is refused when %s is true, or not known',
  (name) => {
    const harmless = {
      superuser: false,
      administrates: false,
      server_access: false,
      owns: false,
      writes: false,
    };
    expect(() => {
      checkPostgresqlPrincipal(harmless);
    }).not.toThrow();
    for (const value of [true, null, undefined]) {
      expect(() => {
        checkPostgresqlPrincipal({ ...harmless, [name]: value });
      }).toThrow(expect.objectContaining({ code: 'principal_not_read_only' }) as Error);
    }
  },
);

it('an answer is given up as soon as its rows are too many bytes', () => {
  const collector = new RowCollector({ rows: 10, bytes: 30, seconds: 1 });
  expect([collector.add({ text: 'x'.repeat(10) }), collector.isTooLarge()]).toEqual([true, false]);
  expect([collector.add({ text: 'x'.repeat(10) }), collector.isTooLarge()]).toEqual([false, true]);
});

it.each([
  ['no host', { host: '' }],
  ['a host with a path', { host: 'db/../x' }],
  ['a port that is none', { port: 0 }],
  ['no database', { database: '' }],
  ['no user', { user: '' }],
  ['no password', { password: '' }],
  ['a dialect of its own', { dialect: 'oracle' as 'mariadb' }],
  ['TLS that checks nothing', { tls: 'prefer' as 'verify' }],
  ['a certificate that is none', { caPem: 'abc' }],
  ['settings that are none', { settings: 'nonsense' }],
])('a database credential with %s is refused, and nothing of it is repeated', (_what, change) => {
  const attempt = () => databaseAccess({ ...credential, ...change });
  expect(attempt).toThrow(expect.objectContaining({ code: 'credential_missing' }) as Error);
  expect(attempt).not.toThrow(PASSWORD);
});
