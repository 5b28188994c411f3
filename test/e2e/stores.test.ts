import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { MARIADB } from '../support/mariadb';
import { callTool, codeOf, resultOf, sentenceOf } from '../support/mcpRequest';
import { OperatorOnHost, toolNames } from '../support/operatorOnHost';
import { POSTGRES } from '../support/postgres';
import { S3_IDENTITY, startS3, type RunningS3 } from '../support/s3Server';
import { requireService } from '../support/services';
import { startMariadbShop, startPostgresShop, type ShopDatabase } from '../support/shopDatabases';

const MINIO = 'web-app-minio';
const KDB = 'koder-kdb';
const MARIA = 'svc-db-mariadb';

const areThere = [requireService('stores', POSTGRES), requireService('stores', MARIADB)];
const describeWithServers = areThere.includes(null) ? describe.skip : describe;

type Structured = Record<string, unknown> & { items: Record<string, unknown>[] };

describeWithServers('real stores', () => {
  let s3: RunningS3;
  let postgres: ShopDatabase;
  let mariadb: ShopDatabase;

  beforeAll(async () => {
    [s3, postgres, mariadb] = await Promise.all([
      startS3('documents', 'media'),
      startPostgresShop(),
      startMariadbShop(),
    ]);
    await s3.put('documents', 'pub/a report & more.csv', 'date,amount\n2026-01-01,7\n', 'text/csv');
    await s3.put('documents', 'pub/data.json', '{"total": 7}', 'application/json');
    await s3.put('documents', 'pub/photo.png', new Uint8Array([0x89, 0x50, 0x4e, 0x47]), 'image/png');
    await s3.put('documents', 'pub/large.txt', 'x'.repeat(300_000), 'text/plain');
    await s3.put('documents', 'pub/deep/read.me', 'x', 'text/plain');
    await s3.put('documents', 'pub/deep/er/note.md', '# Note', 'text/markdown');
    for (const number of [1, 2, 3, 4, 5])
      await s3.put('documents', `pub/many/${String(number)}.txt`, 'x', 'text/plain');
    await s3.put('documents', 'public-secret/plan.txt', 'CANARY', 'text/plain');
    await s3.put('documents', 'root.txt', 'CANARY', 'text/plain');
    await s3.put('media', 'open/one.txt', 'one', 'text/plain');
    await s3.put('media', 'closed/two.txt', 'CANARY', 'text/plain');
  }, 180_000);
  afterAll(async () => {
    await Promise.all([s3.stop(), postgres.stop(), mariadb.stop()]);
  });

  describe.each(hosts())('behind n8n $version, provisioned by the command line', (host) => {
    let operator: OperatorOnHost;
    const call = async (applicationId: string, tool: string, args: object = {}) =>
      await callTool(operator.endpoint(applicationId), tool, args);
    const result = async (applicationId: string, tool: string, args: object = {}): Promise<Structured> => {
      const response = await call(applicationId, tool, args);
      expect([codeOf(response), sentenceOf(response)]).toEqual(['ok', expect.any(String)]);
      return resultOf(response)?.structuredContent as Structured;
    };
    const column = ({ items }: Structured, name: string) => items.map((item) => item[name]);

    beforeAll(async () => {
      operator = await OperatorOnHost.start(host, 'e2e-stores');
      operator.secret('minio.upstream', S3_IDENTITY.secretAccessKey);
      operator.secret('kdb.upstream', postgres.reader.password);
      operator.secret('mariadb.upstream', mariadb.reader.password);
      await operator.addSurface(MINIO, {
        authentication: 's3',
        endpoint: s3.url,
        access_key_id: S3_IDENTITY.accessKeyId,
        secret: 'file:secrets/minio.upstream',
        locations: ['documents/pub', 'media/open/'],
      });
      await operator.addSurface(KDB, {
        ...{
          authentication: 'database',
          host: '127.0.0.1',
          port: postgres.port,
          database: postgres.database,
        },
        ...{ user: postgres.reader.user, secret: 'file:secrets/kdb.upstream', tls: 'disable' },
        settings: { sample_columns: ['shop.orders.id', 'shop.orders.state', 'shop.customers.id'] },
      });
      await operator.addSurface(MARIA, {
        ...{ authentication: 'database', host: '127.0.0.1', port: mariadb.port, database: mariadb.database },
        ...{ user: mariadb.reader.user, secret: 'file:secrets/mariadb.upstream', tls: 'disable' },
      });
      const { code, stderr } = await operator.runBuilt('apply');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }, 180_000);
    afterAll(async () => {
      await operator.stop();
    });

    it('is applied once: a second run writes nothing', async () => {
      const { code, stdout } = await operator.run('apply');
      expect([code, operator.proxy.writes]).toEqual([0, []]);
      expect(stdout).toContain('3 unchanged');
      const { credentials } = await operator.managed();
      expect(credentials.map(({ type }) => type).sort()).toEqual([
        ...['mcpConsumersApi', 'mcpConsumersApi', 'mcpConsumersApi'],
        ...['mcpDatabaseApi', 'mcpDatabaseApi', 'mcpS3Api'],
      ]);
    });

    it('is verified by a read of every store', async () => {
      const { code, stdout } = await operator.run('verify', '--json');
      const { checks } = JSON.parse(stdout) as {
        checks: { check: string; status: string }[];
      };
      const reads = checks.filter(({ check }) => check === 'upstream_credential');
      expect(reads.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed']);
      expect(code).toBe(0);
    });

    it('shows the tools of the contracts', async () => {
      expect(await toolNames(operator.endpoint(MINIO))).toEqual([
        ...['minio_list_objects', 'minio_head_object', 'minio_get_object'],
      ]);
      expect(await toolNames(operator.endpoint(KDB))).toContain('kdb_sample');
    });

    it('lists the declared folders one after the other, and nothing beside them', async () => {
      const first = await result(MINIO, 'minio_list_objects');
      expect(first).toMatchObject({ truncated: true, locations: ['documents/pub/', 'media/open/'] });
      expect(column(first, 'key').sort()).toEqual([
        ...[
          'pub/a report & more.csv',
          'pub/data.json',
          'pub/deep/',
          'pub/large.txt',
          'pub/many/',
          'pub/photo.png',
        ],
      ]);
      const second = await result(MINIO, 'minio_list_objects', { cursor: first['next'] });
      expect(second).toMatchObject({ truncated: false, next: null });
      expect(second.items).toMatchObject([{ kind: 'object', bucket: 'media', key: 'open/one.txt', size: 3 }]);
      const deeper = await result(MINIO, 'minio_list_objects', { prefix: 'pub/deep/er/' });
      expect(column(deeper, 'key')).toEqual(['pub/deep/er/note.md']);
    });

    it('lists page by page, to the end', async () => {
      const seen: unknown[] = [];
      let args: object = { prefix: 'pub/many/', limit: 2 };
      for (let pages = 0; pages < 9; pages += 1) {
        const page = await result(MINIO, 'minio_list_objects', args);
        seen.push(...column(page, 'key'));
        expect(page['truncated']).toBe(page['next'] !== null);
        if (page['next'] === null) break;
        args = { prefix: 'pub/many/', limit: 2, cursor: page['next'] };
      }
      expect(seen).toEqual([1, 2, 3, 4, 5].map((number) => `pub/many/${String(number)}.txt`));
    });

    it('returns text and JSON, of everything else what it is, and refuses what is too large', async () => {
      const get = async (key: string) => await result(MINIO, 'minio_get_object', { key });
      expect(await get('pub/a report & more.csv')).toMatchObject({
        ...{ content: 'text', text: 'date,amount\n2026-01-01,7\n', json: null, size: 25 },
      });
      expect(await get('pub/data.json')).toMatchObject({ content: 'json', text: null, json: { total: 7 } });
      expect(await get('pub/photo.png')).toMatchObject({
        ...{ content: 'omitted', text: null, json: null, size: 4, content_type: 'image/png' },
      });
      expect(await result(MINIO, 'minio_head_object', { key: 'pub/large.txt' })).toMatchObject({
        ...{
          size: 300_000,
          content_type: 'text/plain',
          etag: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        },
      });
      expect(codeOf(await call(MINIO, 'minio_get_object', { key: 'pub/large.txt' }))).toBe(
        'response_too_large',
      );
      expect(codeOf(await call(MINIO, 'minio_get_object', { key: 'pub/none.txt' }))).toBe(
        'upstream_not_found',
      );
      expect(codeOf(await call(MINIO, 'minio_head_object', { key: 'pub/none.txt' }))).toBe(
        'upstream_not_found',
      );
    });

    it.each([
      ['minio_get_object', { key: 'root.txt' }],
      ['minio_get_object', { key: 'public-secret/plan.txt' }],
      ['minio_get_object', { key: 'pub/../public-secret/plan.txt' }],
      ['minio_get_object', { key: 'pub/%2e%2e/root.txt' }],
      ['minio_get_object', { key: 'closed/two.txt', bucket: 'media' }],
      ['minio_get_object', { key: 'pub/data.json', bucket: 'media' }],
      ['minio_head_object', { key: 'root.txt', bucket: '..' }],
      ['minio_list_objects', { prefix: 'pub' }],
      ['minio_list_objects', { prefix: 'public-secret/' }],
      ['minio_list_objects', { bucket: 'other' }],
      ['minio_list_objects', { prefix: 'pub/../' }],
      ['minio_list_objects', { cursor: Buffer.from('documents/public-secret/\n').toString('base64url') }],
    ])('%s with %j reaches nothing', async (tool, args) => {
      const response = await call(MINIO, tool, args);
      expect(codeOf(response)).toBe('arguments_invalid');
      expect(response.text).not.toContain('CANARY');
    });

    it('lists and describes what the reader of PostgreSQL may read, and no more', async () => {
      const tables = await result(KDB, 'kdb_list_tables');
      expect(tables).toMatchObject({ returned: 3, truncated: false, next: null });
      expect(column(tables, 'table_name')).toEqual(['shop.customers', 'shop.open_orders', 'shop.orders']);
      const first = await result(KDB, 'kdb_list_tables', { limit: 2, schema: 'shop' });
      expect(first).toMatchObject({ returned: 2, truncated: true, next: 'shop.open_orders' });
      const rest = await result(KDB, 'kdb_list_tables', { limit: 2, after: first['next'] });
      expect([column(rest, 'table_name'), rest['truncated']]).toEqual([['shop.orders'], false]);
      const described = await result(KDB, 'kdb_describe_table', { table: 'shop.orders', limit: 3 });
      expect(described.items[0]).toEqual({
        ...{ position: 1, column_name: 'id', data_type: 'integer', nullable: 'no', characters: null },
      });
      expect(described['next']).toBe('3');
      const more = await result(KDB, 'kdb_describe_table', { table: 'shop.orders', after: '3' });
      expect(column(more, 'column_name')).toEqual(['email', 'made']);
      expect((await result(KDB, 'kdb_describe_table', { table: 'shop.payroll' }))['returned']).toBe(0);
      const found = await result(KDB, 'kdb_find_columns', { column: 'id' });
      expect(column(found, 'table_name')).toEqual(['shop.customers', 'shop.open_orders', 'shop.orders']);
      const sizes = await result(KDB, 'kdb_list_table_sizes');
      expect(column(sizes, 'table_name').sort()).toEqual(['shop.customers', 'shop.orders']);
      expect(sizes.items[0]?.['bytes']).toEqual(expect.any(Number));
    });

    it('samples declared columns of declared tables only', async () => {
      const sample = await result(KDB, 'kdb_sample', { table: 'shop.orders', limit: 5 });
      expect(sample).toMatchObject({ returned: 5, truncated: true, next: null });
      expect(Object.keys(sample.items[0] ?? {})).toEqual(['id', 'state']);
      const large = await result(KDB, 'kdb_sample', { table: 'shop.customers' });
      expect(column(large, 'id')).toEqual([1, '9007199254740993']);
      for (const table of ['shop.payroll', 'shop.orders;', 'shop.orders" --', 'pg_catalog.pg_authid']) {
        expect([table, codeOf(await call(KDB, 'kdb_sample', { table }))]).toEqual([
          table,
          'arguments_invalid',
        ]);
      }
    });

    it('takes what a caller sends for a value, whatever it is', async () => {
      for (const text of ["'; DROP TABLE shop.orders; --", "x' OR '1'='1", '$1', '\\', '%', '"']) {
        expect((await result(KDB, 'kdb_find_columns', { column: text }))['returned']).toBe(0);
        expect((await result(MARIA, 'mariadb_find_columns', { column: text }))['returned']).toBe(0);
      }
      expect((await result(KDB, 'kdb_sample', { table: 'shop.orders' }))['returned']).toBe(20);
    });

    it('lists and describes what the reader of MariaDB may read, and no more', async () => {
      const tables = await result(MARIA, 'mariadb_list_tables');
      expect(tables.items).toEqual([
        { table_name: 'customers', kind: 'base table', comment: '' },
        { table_name: 'open_orders', kind: 'view', comment: 'VIEW' },
        { table_name: 'orders', kind: 'base table', comment: 'What was bought' },
      ]);
      const first = await result(MARIA, 'mariadb_list_tables', { limit: 1 });
      expect(first).toMatchObject({ returned: 1, truncated: true, next: 'customers' });
      const described = await result(MARIA, 'mariadb_describe_table', {
        table: 'orders',
        after: '1',
        limit: 1,
      });
      expect(described.items).toEqual([
        {
          ...{ position: 2, column_name: 'state', data_type: 'varchar(20)', nullable: 'yes', key_part: '' },
          comment: 'open, paid, sent',
        },
      ]);
      expect((await result(MARIA, 'mariadb_describe_table', { table: 'salaries' }))['returned']).toBe(0);
      const sizes = await result(MARIA, 'mariadb_list_table_sizes');
      expect(column(sizes, 'table_name').sort()).toEqual(['customers', 'orders']);
    });

    it('refuses a user that can write, whoever chose it, and reads again with the reader', async () => {
      const surface = operator.surfaces.find(({ application_id: id }) => id === KDB);
      const writer = postgres.others[0];
      if (!surface || !writer) throw new Error('Nothing to try.');
      operator.secret('writer.upstream', writer.password);
      const { user, secret } = surface.upstream;
      Object.assign(surface.upstream, { user: writer.user, secret: 'file:secrets/writer.upstream' });
      expect((await operator.run('apply')).code).toBe(0);
      const refused = await call(KDB, 'kdb_list_tables');
      expect(codeOf(refused)).toBe('principal_not_read_only');
      expect(operator.leaksIn(refused.text)).toEqual([]);
      Object.assign(surface.upstream, { user, secret });
      expect((await operator.run('apply')).code).toBe(0);
      expect((await result(KDB, 'kdb_list_tables'))['returned']).toBe(3);
    });

    it('tells no secret to anybody', () => {
      expect(operator.leaksIn(operator.printed.join('\n'))).toEqual([]);
    });

    describe('the connection test of a credential', () => {
      const verdict = async (type: string, data: object) => {
        const { id } = await host.api.post<{ id: string }>('/credentials', { name: 'e2e-store', type, data });
        try {
          const { body } = await host.rest('POST', '/rest/credentials/test', {
            credentials: { id, name: 'e2e-store', type, data },
          });
          return (body as { data: { status: string; message: string } }).data;
        } finally {
          await host.api.delete(`/credentials/${id}`);
        }
      };

      it('lists every location of a store', async () => {
        const data = { endpoint: s3.url, region: 'us-east-1', pathStyle: true, ...S3_IDENTITY };
        expect(await verdict('mcpS3Api', { ...data, locations: 'documents/pub' })).toMatchObject({
          status: 'OK',
          message: expect.stringContaining('documents/pub/') as string,
        });
        const wrong = { ...data, accessKeyId: 'NOBODY', locations: 'documents/pub' };
        expect(await verdict('mcpS3Api', wrong)).toMatchObject({ status: 'Error' });
      });

      it('looks whether a user of a database can only read', async () => {
        const data = {
          ...{ dialect: 'postgresql', host: '127.0.0.1', port: postgres.port, database: postgres.database },
          ...{ tls: 'disable', caPem: '', settings: '' },
        };
        const { reader, others } = postgres;
        expect(await verdict('mcpDatabaseApi', { ...data, ...reader })).toMatchObject({ status: 'OK' });
        for (const { user, password } of others) {
          expect(await verdict('mcpDatabaseApi', { ...data, user, password })).toMatchObject({
            status: 'Error',
            message: expect.stringContaining('can only read') as string,
          });
        }
      });

      it('does so with MariaDB, too', async () => {
        const data = {
          ...{ dialect: 'mariadb', host: '127.0.0.1', port: mariadb.port, database: mariadb.database },
          ...{ tls: 'disable', caPem: '', settings: '' },
        };
        expect(await verdict('mcpDatabaseApi', { ...data, ...mariadb.reader })).toMatchObject({
          status: 'OK',
        });
        for (const { may, user, password } of mariadb.others) {
          expect([may, await verdict('mcpDatabaseApi', { ...data, user, password })]).toEqual([
            may,
            expect.objectContaining({
              status: 'Error',
              message: expect.stringMatching(/can only read/) as string,
            }),
          ]);
        }
      });
    });

    itKeepsTheLogClean(host, () => [...operator.secrets].filter((secret) => secret.length > 8));
  });
});
