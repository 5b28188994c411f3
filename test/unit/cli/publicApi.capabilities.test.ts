import type { Capabilities } from '../../../cli/n8n/publicApi';
import { N8nApiDouble, type Release } from '../../support/n8nApiDouble';
import { clientOf } from '../../support/n8nApiDoubleClient';

let n8n: N8nApiDouble;
afterEach(async () => {
  await n8n.stop();
});

type Told = Omit<Capabilities, 'scopes'>;
const UNKNOWN = 'unknown' as const;
const SILENT = { canUpdateCredentials: UNKNOWN, hasArchive: UNKNOWN, hasPublish: UNKNOWN };
const TABLE: [Release, Told][] = [
  ['1.100.1', { canListCredentials: false, ...SILENT }],
  ['2.4', { canListCredentials: false, ...SILENT }],
  ['2.8', { canListCredentials: true, ...SILENT }],
  ['2.14', { canListCredentials: true, canUpdateCredentials: true, hasArchive: false, hasPublish: false }],
  ['2.41.1', { canListCredentials: true, canUpdateCredentials: true, hasArchive: true, hasPublish: true }],
];

test.each(TABLE)('%s tells by its answers what it can do, without a write', async (release, told) => {
  n8n = await N8nApiDouble.start(release);
  expect(await clientOf(n8n).capabilities()).toMatchObject(told);
  expect(n8n.writes).toEqual([]);
});

test('capabilities are asked for once', async () => {
  n8n = await N8nApiDouble.start('1.100.1');
  const api = clientOf(n8n);
  await Promise.all([api.capabilities(), api.capabilities()]);
  await api.capabilities();
  expect(n8n.requests).toHaveLength(2);
});

test('a failure to find out is not remembered', async () => {
  n8n = await N8nApiDouble.start('2.41.1');
  n8n.inject({ kind: 'html' });
  const api = clientOf(n8n);
  await expect(api.capabilities()).rejects.toMatchObject({ code: 'not_the_public_api' });
  expect(await api.capabilities()).toMatchObject({ hasArchive: true });
});

test('what was unknown is known once it was tried', async () => {
  n8n = await N8nApiDouble.start('1.100.1');
  const { id } = n8n.seedWorkflow({ name: 'a' });
  const api = clientOf(n8n);
  await api.capabilities();
  await api.updateCredential('c', { name: 'x' });
  await api.archiveWorkflow(id);
  expect(await api.capabilities()).toMatchObject({ canUpdateCredentials: false, hasArchive: false });
});

test('a key without scopes makes what it may not do unknown, not absent', async () => {
  n8n = await N8nApiDouble.start('2.41.1');
  n8n.scopes = ['workflow:list'];
  expect(await clientOf(n8n).capabilities()).toEqual({
    canListCredentials: true,
    ...SILENT,
    scopes: ['workflow:list'],
  });
});
