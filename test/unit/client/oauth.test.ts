import { Socket } from 'node:net';
import { status, tool, type HttpAnswer } from '../../support/mcpServerDouble';
import { going, refused, useHarness } from './harness';

const harness = useHarness();
const METADATA = '169.254.169.254';
const TOKEN = 'tok-oauth-4711';

/** Hosts to which connections were made in this test. */
let connect: jest.SpyInstance;
beforeEach(() => {
  connect = jest.spyOn(Socket.prototype, 'connect');
});
afterEach(() => {
  connect.mockRestore();
});
const connectedHosts = () => {
  const targets = connect.mock.calls.flat(2) as ({ host?: string } | null)[];
  return [...new Set(targets.flatMap((target) => target?.host ?? []))];
};

describe('where a server sends us for a token', () => {
  const SECRET = 'client-secret-4711';
  const NOWHERE = [
    `https://${METADATA}`,
    'https://[::ffff:a9fe:a9fe]',
    'https://metadata.google.internal',
    'https://10.0.0.5',
    'file:///etc',
    'data:application/json,',
  ];
  const credentialFor = (issuer: string) =>
    ({ authentication: 'clientCredentials', clientId: 'n8n', clientSecret: SECRET, issuer }) as const;
  const json = (value: object): HttpAnswer =>
    status(200, JSON.stringify(value), { 'content-type': 'application/json' });

  /** An MCP server that wants a token, whose authorization server is itself unless metadata says otherwise. */
  async function guarded({
    challenge,
    resource = {},
    issuer = {},
  }: {
    challenge?: string;
    resource?: object;
    issuer?: object;
  }) {
    const double = await harness.double({ tools: [tool('one')] });
    const metadata = challenge ?? `${double.origin}/.well-known/oauth-protected-resource`;
    double.before = ({ path, headers }) => {
      if (path.startsWith('/.well-known/oauth-protected-resource'))
        return json({ resource: double.endpoint, authorization_servers: [double.origin], ...resource });
      if (path.startsWith('/.well-known/'))
        return json({
          issuer: double.origin,
          authorization_endpoint: `${double.origin}/authorize`,
          token_endpoint: `${double.origin}/token`,
          response_types_supported: ['code'],
          token_endpoint_auth_methods_supported: ['client_secret_post'],
          ...issuer,
        });
      if (path === '/token') return json({ access_token: TOKEN, token_type: 'Bearer', expires_in: 600 });
      if (headers.authorization === `Bearer ${TOKEN}`) return undefined;
      return status(401, '', { 'www-authenticate': `Bearer resource_metadata="${metadata}"` });
    };
    return double;
  }

  it('is used when it is the declared issuer at an allowed address', async () => {
    const double = await guarded({});
    const { server } = harness.client(double.endpoint, { credential: credentialFor(double.origin) });
    expect((await server.listing(going())).tools).toHaveLength(1);
    expect(double.requests.filter(({ path }) => path === '/token')).toHaveLength(1);
  });

  it('keeps the token out of what the server says with it', async () => {
    const double = await guarded({});
    double.on('tools/list', () => status(500, `bad token ${TOKEN} of ${SECRET}`));
    const { server, lines } = harness.client(double.endpoint, { credential: credentialFor(double.origin) });
    const { message } = await refused(server.listing(going()));
    expect(message).toContain('bad token [redacted]');
    expect(`${message}${lines.join('')}`).not.toMatch(/4711/);
  });

  it.each(NOWHERE)('is not asked for metadata at %s', async (target) => {
    const double = await guarded({ challenge: `${target}/.well-known/oauth-protected-resource` });
    const { server } = harness.client(double.endpoint, { credential: credentialFor(double.origin) });
    // The declared issuer may still be found by itself.
    await server.listing(going()).catch(() => undefined);
    expect(connectedHosts()).toEqual(['127.0.0.1']);
  });

  it.each(NOWHERE)('is not reached as authorization server at %s', async (target) => {
    const double = await guarded({ resource: { authorization_servers: [target] } });
    const { server } = harness.client(double.endpoint, { credential: credentialFor(double.origin) });
    await server.listing(going()).catch(() => undefined);
    expect(connectedHosts()).toEqual(['127.0.0.1']);
  });

  it.each(NOWHERE)('is not given the secret at the token endpoint %s', async (target) => {
    const double = await guarded({ issuer: { token_endpoint: `${target}/token` } });
    const { server } = harness.client(double.endpoint, { credential: credentialFor(double.origin) });
    const error = await refused(server.listing(going()));
    expect(error.message).not.toContain(SECRET);
    expect(connectedHosts()).toEqual(['127.0.0.1']);
  });

  it('is asked for one token by executions after each other, and again when the token is no longer taken', async () => {
    const double = await guarded({});
    const credential = { ...credentialFor(double.origin), scope: 'tools' };
    const list = async () => {
      await harness.client(double.endpoint, { credential }).server.listing(going());
      return double.requests.filter(({ path }) => path === '/token').length;
    };
    expect(await list()).toBe(1);
    expect(await list()).toBe(1);
    const { before } = double;
    let revoked = true;
    double.before = (request) => {
      if (request.path === '/token') revoked = false;
      return revoked && request.headers.authorization !== undefined ? status(401) : before(request);
    };
    expect(await list()).toBe(2);
  });

  it('is not given the secret when it is another issuer than the declared one', async () => {
    const thief = await guarded({});
    const double = await guarded({ resource: { authorization_servers: [thief.origin] } });
    const { server } = harness.client(double.endpoint, { credential: credentialFor(double.origin) });
    expect((await refused(server.listing(going()))).code).toBe('upstream_auth_failed');
    expect(thief.requests.filter(({ http }) => http === 'POST')).toEqual([]);
  });

  it('is left when the time is over', async () => {
    const double = await guarded({});
    const { before } = double;
    double.before = (request) => (request.path === '/token' ? () => undefined : before(request));
    const { server } = harness.client(double.endpoint, {
      credential: credentialFor(double.origin),
      settings: { timeoutSeconds: 0.5 },
    });
    expect((await refused(server.listing(going()))).code).toBe('upstream_timeout');
    expect(await double.requests.find(({ path }) => path === '/token')?.endedByClient).toBe(true);
  });
});
