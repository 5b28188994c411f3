import { N8nApiDouble, RELEASES, type Release } from '../../support/n8nApiDouble';
import { clientOf, wanted } from '../../support/n8nApiDoubleClient';

let n8n: N8nApiDouble;
const start = async (release: Release = '2.41.1') => (n8n = await N8nApiDouble.start(release));
afterEach(async () => {
  await n8n.stop();
});

const HEADER = { name: 'Authorization', value: 'Bearer x' };
const LISTING: readonly Release[] = ['2.8', '2.14', '2.41.1'];
const UPDATING: readonly Release[] = ['2.4', ...LISTING];

describe.each(RELEASES)('credentials on %s', (release) => {
  beforeEach(async () => await start(release));

  test(`C119: listing ${LISTING.includes(release) ? 'names them' : 'is unsupported, which is not "none"'}`, async () => {
    const row = n8n.store.addCredential({ name: 'ERP read', type: 'httpHeaderAuth', data: HEADER });
    const { id } = row;
    expect(await clientOf(n8n).listCredentials()).toEqual(
      LISTING.includes(release) ? [{ id, name: 'ERP read', type: 'httpHeaderAuth' }] : 'unsupported',
    );
    expect(n8n.writes).toEqual([]);
  });

  test('are updated where the release can, and nothing happens where it cannot', async () => {
    const row = n8n.store.addCredential({ name: 'ERP read', type: 'httpHeaderAuth', data: HEADER });
    const outcome = await clientOf(n8n).updateCredential(row.id, { data: { ...HEADER, value: 'Bearer y' } });
    const can = UPDATING.includes(release);
    expect(outcome).toBe(can ? 'done' : 'unsupported');
    expect(row).toMatchObject({ name: 'ERP read', data: { value: can ? 'Bearer y' : 'Bearer x' } });
  });

  test('are created and deleted everywhere', async () => {
    const api = clientOf(n8n);
    const made = await api.createCredential('ERP read', 'httpHeaderAuth', HEADER);
    expect(made).toMatchObject({ name: 'ERP read', type: 'httpHeaderAuth' });
    expect(n8n.store.credentials.get(made.id)?.data).toEqual(HEADER);
    await api.deleteCredential(made.id);
    expect(n8n.store.credentials.size).toBe(0);
  });

  test('that no workflow uses are named by the security audit, and only those', async () => {
    const api = clientOf(n8n);
    expect(await api.unusedCredentials()).toEqual([]);
    const used = await api.createCredential('used', 'httpHeaderAuth', HEADER);
    const orphan = await api.createCredential('orphan', 'httpHeaderAuth', HEADER);
    const plain = wanted('a');
    const credentials = { httpHeaderAuth: { id: used.id, name: 'used' } };
    await api.createWorkflow({ ...plain, nodes: plain.nodes.map((node) => ({ ...node, credentials })) });
    expect(await api.unusedCredentials()).toEqual([{ id: orphan.id, name: 'orphan' }]);
    await api.deleteCredential(orphan.id);
    expect(await api.unusedCredentials()).toEqual([]);
  });

  test('are described by their schema; a type that n8n does not know is undefined', async () => {
    const api = clientOf(n8n);
    expect(await api.credentialSchema('mcpUpstreamApi')).toMatchObject({ required: ['baseUrl'] });
    expect(await api.credentialSchema('nopeApi')).toBeUndefined();
  });
});

test('all credentials of all pages are listed', async () => {
  await start();
  for (let index = 0; index < 251; index += 1) {
    n8n.store.addCredential({ name: `c ${index}`, type: 'httpHeaderAuth', data: HEADER });
  }
  expect(await clientOf(n8n).listCredentials()).toHaveLength(251);
});

test('C119: a key that may not list credentials is an error that names the scope, not unsupported', async () => {
  await start();
  n8n.scopes = ['workflow:list'];
  const listing = clientOf(n8n).listCredentials();
  await expect(listing).rejects.toMatchObject({ code: 'api_key_scope_missing', status: 403 });
  await expect(listing).rejects.toThrow('give the API key the scope credential:list');
});

describe('an audit that cannot be understood', () => {
  test.each([
    ['nothing', {}],
    ['a list with something in it', [1]],
    ['a report without sections', { r: { risk: 'credentials' } }],
    ['sections of another name', { r: { risk: 'credentials', sections: [{ title: 'Idle', location: [] }] } }],
    [
      'entries without an id',
      {
        r: {
          risk: 'credentials',
          sections: [{ title: 'Credentials not used in any workflow', location: [{ name: 'a' }] }],
        },
      },
    ],
  ])('is an error, not "none": %s', async (_what, body) => {
    await start();
    n8n.inject({ kind: 'answer', reply: { status: 200, body } });
    await expect(clientOf(n8n).unusedCredentials()).rejects.toMatchObject({ code: 'not_the_public_api' });
  });
});

describe('what is in a credential', () => {
  const secret = 'ключ-"s3cr/et+value"-\\end';
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    secret.toUpperCase(),
  ];

  test.each(forms)('is in no error text when n8n echoes it, in no form: %s', async (form) => {
    await start();
    n8n.inject({ kind: 'status', status: 400, message: `bad data: ${form} in it` }, { times: 2 });
    const api = clientOf(n8n);
    const data = { deep: { list: [{ secret }] } };
    for (const work of [
      api.createCredential('c', 'httpHeaderAuth', data),
      api.updateCredential('id', { data }),
    ]) {
      const error = await work.then(String, (failure: unknown) => failure as Error);
      const all = typeof error === 'string' ? error : `${error.message} ${String(error.stack)}`;
      expect(all).toContain('bad data');
      for (const one of forms) expect(all).not.toContain(one);
    }
  });

  test('is in no error text when n8n refuses it, and the reason is', async () => {
    await start();
    const create = clientOf(n8n).createCredential('c', 'mcpUpstreamApi', { secret });
    await expect(create).rejects.toMatchObject({ code: 'rejected' });
    await expect(create).rejects.toThrow('requires property "baseUrl"');
    await expect(create).rejects.not.toThrow('s3cr');
  });

  test('is in no error text when the connection ends', async () => {
    await start();
    n8n.inject({ kind: 'cut', when: 'after' });
    const create = clientOf(n8n).createCredential('c', 'mcpUpstreamApi', { baseUrl: 'http://x', secret });
    await expect(create).rejects.not.toThrow('s3cr');
  });
});

test('the API key is in no error text, whatever n8n says', async () => {
  await start();
  n8n.inject({ kind: 'status', status: 401, message: `no key ${n8n.apiKey}` });
  const listing = clientOf(n8n).listTags();
  await expect(listing).rejects.toMatchObject({ code: 'api_key_refused' });
  await expect(listing).rejects.not.toThrow(n8n.apiKey);
});
