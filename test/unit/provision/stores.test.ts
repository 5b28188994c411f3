import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { REAL_PACE } from '../../../cli/n8n/pacing';
import { makeBearer } from '../../../core/server/bearer';
import { Operator, OWNER } from './harness';

// Retries wait for nobody here: what they lead to is what counts.
jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

const MINIO = 'web-app-minio';
const KDB = 'koder-kdb';

describe.each(['1.100.1', '2.41.1'] as const)('object stores and databases on n8n %s', (release) => {
  let operator: Operator;
  const upstreams: Record<string, Record<string, unknown>> = {};

  beforeEach(async () => {
    operator = await Operator.start(release);
    upstreams[MINIO] = {
      ...{ authentication: 's3', endpoint: 'https://s3.example.com:9000', access_key_id: 'AKIATEST' },
      ...{ secret: `file:${operator.secret('minio.key')}`, locations: ['documents/pub', 'media/open'] },
    };
    upstreams[KDB] = {
      ...{ authentication: 'database', host: 'db.example.com', database: 'app db/ü', user: 'reader' },
      secret: `file:${operator.secret('kdb.password')}`,
      settings: { sample_columns: ['shop.orders.id', 'shop.orders.state'] },
    };
    operator.draft.surfaces = [MINIO, KDB].map((id) => ({
      ...operator.surface(id),
      upstream: upstreams[id],
    }));
  });
  afterEach(async () => {
    await operator.stop();
  });

  const upstreamOf = (id: string) =>
    [...operator.n8n.store.credentials.values()].find(({ name }) => name === `${OWNER}:${id} upstream`);
  const writes = () => operator.n8n.requests.filter(({ method }) => method !== 'GET');

  test('get credentials of their own types, once', async () => {
    expect((await operator.run('apply')).code).toBe(0);
    expect(upstreamOf(MINIO)).toMatchObject({
      type: 'mcpS3Api',
      data: {
        ...{ endpoint: 'https://s3.example.com:9000', region: 'us-east-1', pathStyle: true },
        ...{ accessKeyId: 'AKIATEST', locations: 'documents/pub\nmedia/open' },
      },
    });
    expect(upstreamOf(KDB)).toMatchObject({
      type: 'mcpDatabaseApi',
      data: {
        ...{
          dialect: 'postgresql',
          host: 'db.example.com',
          port: 5_432,
          database: 'app db/ü',
          user: 'reader',
        },
        ...{ tls: 'verify', caPem: '', settings: 'sample_columns = shop.orders.id, shop.orders.state' },
      },
    });
    const { code, stdout } = await operator.run('apply');
    expect([code, writes()]).toEqual([0, []]);
    expect(stdout).toContain('2 unchanged');
    for (const { nodes } of operator.n8n.store.workflows.values()) {
      for (const secret of operator.secrets) expect(JSON.stringify(nodes)).not.toContain(secret);
    }
  });

  test('say what has changed, secrets only as such', async () => {
    await operator.run('apply');
    Object.assign(upstreams[MINIO] ?? {}, { locations: ['documents/other'] });
    const secret = operator.secret('kdb.password');
    const { code, stdout } = await operator.run('plan');
    expect(code).toBe(2);
    expect(stdout).toContain('upstream.settings');
    expect(stdout).toContain('documents/other');
    expect(stdout).toContain('upstream secret');
    expect(stdout).not.toContain(secret);
    expect((await operator.run('apply')).code).toBe(0);
    expect(upstreamOf(MINIO)?.data).toMatchObject({ locations: 'documents/other' });
  });

  test('get a new secret by rotation', async () => {
    await operator.run('apply');
    const next = makeBearer().token;
    writeFileSync(path.join(operator.folder, 'kdb.password.next'), next, { mode: 0o600 });
    const { code, stderr } = await operator.run('rotate', KDB, '--upstream');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(upstreamOf(KDB)?.data).toMatchObject({ password: next });
    const again = await operator.run('apply');
    expect([again.code, writes()]).toEqual([0, []]);
  });

  test('leave nothing when they go out of service', async () => {
    await operator.run('apply');
    for (const surface of operator.draft.surfaces) surface['enabled'] = false;
    expect((await operator.run('apply')).code).toBe(0);
    expect([...operator.n8n.store.credentials.values()]).toEqual([]);
    expect((await operator.run('destroy', '--confirm', OWNER)).code).toBe(0);
    expect(operator.n8n.store.workflows.size).toBe(0);
  });

  test.each([
    [
      'an upstream of another kind',
      MINIO,
      { ...{ base_url: 'https://x.example.com', authentication: 'bearer', secret: 'file:minio.key' } },
      'must be s3',
    ],
    [
      'an object store for a database',
      KDB,
      {
        authentication: 's3',
        endpoint: 'https://s3.example.com',
        access_key_id: 'a',
        secret: 'file:minio.key',
        locations: ['a/b'],
      },
      'must be database',
    ],
    [
      'a whole bucket',
      MINIO,
      {
        authentication: 's3',
        endpoint: 'https://s3.example.com',
        access_key_id: 'a',
        secret: 'file:minio.key',
        locations: ['bucket'],
      },
      'bucket/prefix',
    ],
    [
      'a missing setting',
      KDB,
      { authentication: 'database', host: 'h', database: 'd', user: 'u', secret: 'file:minio.key' },
      'sample_columns',
    ],
    [
      'an unknown key',
      KDB,
      {
        authentication: 'database',
        host: 'h',
        database: 'd',
        user: 'u',
        secret: 'file:minio.key',
        sql: 'SELECT 1',
      },
      'sql',
    ],
  ])('with %s are refused before anything is written', async (_what, id, upstream, reason) => {
    operator.draft.surfaces = [{ ...operator.surface(id), upstream }];
    const { code, stdout, stderr } = await operator.run('apply').catch((error: unknown) => ({
      ...{ code: 1, stdout: '', stderr: (error as Error).message },
    }));
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(reason);
    expect(writes()).toEqual([]);
  });
});
