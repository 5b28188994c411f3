import { generateKeyPairSync } from 'node:crypto';
import { serverAccess, type ServerCredential } from '../../../core/client/access';
import { refusalOf } from '../policy/refusal';
import { tool } from '../../support/mcpServerDouble';
import { going, pinned, useHarness } from './harness';

const harness = useHarness();
const SECRET = 'tok-4711-secret';
const endpoint = 'https://mcp.example.test/mcp';
const access = (credential: Partial<ServerCredential>) =>
  serverAccess({ endpoint, authentication: 'none', ...credential });
const refusal = (credential: object) => refusalOf(() => access(credential));

describe('a credential', () => {
  it.each([
    'Bearer tok-abc',
    'bearer tok-abc',
    'BEARER  tok-abc',
    'tok-abc',
    ' tok-abc\n',
    'Bearer bearer tok-abc',
  ])('may hold the token with its scheme: %j is sent as one (C051)', (token) => {
    expect(access({ authentication: 'bearer', token }).headers).toEqual({ authorization: 'Bearer tok-abc' });
  });

  it('is shown with every request, also when only one tool is pinned (C053)', async () => {
    const double = await harness.double({
      tools: [tool('list_mine'), tool('other')],
      streams: true,
      sessions: true,
    });
    const { server } = harness.client(double.endpoint, {
      credential: { authentication: 'bearer', token: 'tok-u7' },
    });
    await server.call(pinned(double, { names: ['list_mine'] }), 'list_mine', {}, going());
    await server.close();
    expect(new Set(double.requests.map(({ http }) => http))).toEqual(new Set(['POST', 'GET', 'DELETE']));
    expect(double.requests.map(({ headers }) => headers.authorization)).toEqual(
      double.requests.map(() => 'Bearer tok-u7'),
    );
  });

  it.each([undefined, null, '', '   ', 7, {}, 'Bearer', 'Bearer ', 'bearer bearer'])(
    'whose token comes to nothing sends no request: %j (C053)',
    (token) => {
      expect(refusal({ authentication: 'bearer', token })).toMatchObject({
        code: 'credential_missing',
        message: expect.stringContaining('the token is empty') as string,
      });
    },
  );

  it('of one header or several is sent with names in lower case', () => {
    expect(
      access({ authentication: 'header', headerName: ' X-Api-Key ', headerSecret: ` ${SECRET} ` }).headers,
    ).toEqual({
      'x-api-key': SECRET,
    });
    const secretHeaders = JSON.stringify({ 'X-A': 'one', Authorization: 'Basic dTpw' });
    expect(access({ authentication: 'headers', secretHeaders }).headers).toEqual({
      'x-a': 'one',
      authorization: 'Basic dTpw',
    });
  });

  it('of none sends nothing', () => {
    expect(access({ token: SECRET, headerName: 'x-a', headerSecret: SECRET })).toMatchObject({
      headers: {},
      secrets: [],
    });
  });

  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;

  it('of OAuth 2 holds the secret apart from the headers', () => {
    const issuer = 'https://login.example.test';
    const common = { clientId: 'n8n', issuer, scope: ' tools ' };
    expect(access({ authentication: 'clientCredentials', clientSecret: SECRET, ...common })).toMatchObject({
      headers: {},
      oauth: { clientId: 'n8n', issuer, scope: 'tools', secret: { clientSecret: SECRET } },
      secrets: [SECRET],
    });
    expect(
      access({ authentication: 'privateKeyJwt', privateKey: pem, algorithm: 'ES256', ...common }).oauth,
    ).toMatchObject({
      secret: { privateKey: pem.trim(), algorithm: 'ES256' },
    });
  });

  it.each([
    ['a header without a name', { authentication: 'header', headerName: '', headerSecret: SECRET }],
    ['a header without a value', { authentication: 'header', headerName: 'x-a', headerSecret: ' ' }],
    ['a line break in a token', { authentication: 'bearer', token: `${SECRET}\r\nx-admin: 1` }],
    [
      'a line break in a header',
      { authentication: 'header', headerName: 'x-a', headerSecret: `${SECRET}\nx-admin: 1` },
    ],
    [
      'a line break in one of several',
      { authentication: 'headers', secretHeaders: JSON.stringify({ 'x-a': `${SECRET}\r\n` }) },
    ],
    [
      'a line break in a name',
      { authentication: 'header', headerName: 'x-a\r\nx-admin', headerSecret: SECRET },
    ],
    ['a colon in a name', { authentication: 'header', headerName: 'x-a: 1', headerSecret: SECRET }],
    ['a zero byte', { authentication: 'bearer', token: `${SECRET}\u0000` }],
    ['what no header can carry', { authentication: 'bearer', token: `${SECRET}€` }],
    [
      'a header that frames the request',
      { authentication: 'header', headerName: 'Content-Length', headerSecret: SECRET },
    ],
    ['a header of the host', { authentication: 'header', headerName: 'Host', headerSecret: SECRET }],
    [
      'a header of the protocol',
      { authentication: 'header', headerName: 'Mcp-Session-Id', headerSecret: SECRET },
    ],
    ['the media types', { authentication: 'headers', secretHeaders: JSON.stringify({ Accept: SECRET }) }],
    ['headers that are no JSON', { authentication: 'headers', secretHeaders: `{x-a: ${SECRET}}` }],
    ['headers that are a list', { authentication: 'headers', secretHeaders: JSON.stringify([SECRET]) }],
    ['headers that are nothing', { authentication: 'headers', secretHeaders: '{}' }],
    ['headers that are null', { authentication: 'headers', secretHeaders: 'null' }],
    [
      'a header that is no text',
      { authentication: 'headers', secretHeaders: JSON.stringify({ 'x-a': 5, 'x-b': SECRET }) },
    ],
    ['no client secret', { authentication: 'clientCredentials', clientId: 'a', issuer: 'https://a.test' }],
    ['no client', { authentication: 'clientCredentials', clientSecret: SECRET, issuer: 'https://a.test' }],
    ['no issuer', { authentication: 'clientCredentials', clientId: 'a', clientSecret: SECRET }],
    [
      'an issuer that is no address',
      { authentication: 'clientCredentials', clientId: 'a', clientSecret: SECRET, issuer: 'a.test' },
    ],
    [
      'an algorithm with a shared key',
      {
        authentication: 'privateKeyJwt',
        clientId: 'a',
        privateKey: SECRET,
        algorithm: 'HS256',
        issuer: 'https://a.test',
      },
    ],
    ['an unknown kind', { authentication: 'magic' }],
    ['no kind', { authentication: undefined }],
    ['an unknown transport', { transport: 'stdio' }],
    ['networks that are none', { allowedNetworks: 'everything' }],
  ])('with %s is refused without being repeated', (_what, credential) => {
    const { code, message } = refusal(credential);
    expect(code).toBe('credential_missing');
    expect(message).not.toContain('4711');
  });

  it('is told apart from every other by its fingerprint, which says nothing of it', () => {
    const all = [
      {},
      { endpoint: `${endpoint}2` },
      { transport: 'sse' as const },
      { allowedNetworks: 'loopback' },
      { authentication: 'bearer' as const, token: SECRET },
      { authentication: 'bearer' as const, token: `${SECRET}2` },
      { authentication: 'header' as const, headerName: 'x-a', headerSecret: SECRET },
      {
        authentication: 'clientCredentials' as const,
        clientId: 'a',
        clientSecret: SECRET,
        issuer: 'https://a.test',
      },
      {
        authentication: 'clientCredentials' as const,
        clientId: 'b',
        clientSecret: SECRET,
        issuer: 'https://a.test',
      },
    ].map((credential) => access(credential).fingerprint);
    expect(new Set(all).size).toBe(all.length);
    expect(all.join()).not.toContain('4711');
    expect(access({}).fingerprint).toBe(all[0]);
  });
});
