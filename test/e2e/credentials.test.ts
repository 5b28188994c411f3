import type { AttachedHost } from '../hosts/host';
import { hosts } from '../support/hostsFixture';
import { newBearer, sha256Hex } from '../support/publish';
import { html, json, UpstreamDouble } from '../support/upstreamDouble';

interface Verdict {
  readonly status: 'OK' | 'Error';
  readonly message: string;
}

/** What the button "Test" of the credential dialog shows. n8n tests a credential that is stored. */
async function verdictOn(host: AttachedHost, type: string, data: object): Promise<Verdict> {
  const { id } = await host.api.post<{ id: string }>('/credentials', { name: 'e2e-test', type, data });
  try {
    const credentials = { id, name: 'e2e-test', type, data };
    const { body } = await host.rest('POST', '/rest/credentials/test', { credentials });
    return (body as { data: Verdict }).data;
  } finally {
    await host.api.delete(`/credentials/${id}`);
  }
}

describe.each(hosts())('credential tests on n8n $version', (host) => {
  let upstream: UpstreamDouble;
  beforeAll(async () => {
    upstream = await UpstreamDouble.start();
  });
  afterAll(async () => {
    await upstream.stop();
  });
  const secret = newBearer();

  test('an upstream credential is tried on the upstream, with its own authentication', async () => {
    upstream.on('/app/status', json({ ok: true }));
    const data = {
      baseUrl: `${upstream.origin}/app/`,
      authentication: 'header',
      name: 'X-API-Key',
      secret,
      testPath: '/status',
    };
    expect(await verdictOn(host, 'mcpUpstreamApi', data)).toMatchObject({ status: 'OK' });
    expect(upstream.lastRequest.headers['x-api-key']).toBe(secret);
  });

  test.each([
    ['refuses the secret', json({ message: 'no' }, 401)],
    ['has nothing there', html(404)],
  ])('an upstream that %s fails the test, and the secret is not shown', async (_what, answer) => {
    upstream.on('*', answer);
    const data = { baseUrl: upstream.origin, authentication: 'bearer', name: '', secret, testPath: '/' };
    const verdict = await verdictOn(host, 'mcpUpstreamApi', data);
    expect(verdict.status).toBe('Error');
    expect(JSON.stringify(verdict)).not.toContain(secret);
  });

  test('a consumers credential names its consumers, or what is wrong with it', async () => {
    const row = { id: 'client-inspector', tokenSha256: sha256Hex(secret), tools: 'find_order' };
    const good = await verdictOn(host, 'mcpConsumersApi', { consumers: { values: [row] } });
    expect(good).toEqual({ status: 'OK', message: 'Usable. Consumers: client-inspector' });
    const bad = await verdictOn(host, 'mcpConsumersApi', { consumers: { values: [{ ...row, tools: '' }] } });
    expect(bad).toMatchObject({
      status: 'Error',
      message: expect.stringContaining('allowed no tool') as unknown,
    });
  });
});
