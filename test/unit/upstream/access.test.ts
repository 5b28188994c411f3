import fc from 'fast-check';
import { PolicyError } from '../../../core/policy/errors';
import { upstreamAccess, type UpstreamCredential } from '../../../core/upstream/access';
import { refusalOf as refusal } from '../policy/refusal';

const SECRET = 's3cr3t-value';
const bearer: UpstreamCredential = {
  baseUrl: 'https://app.example.com',
  authentication: 'bearer',
  secret: SECRET,
};

const refusalOf = (credential: Partial<UpstreamCredential>) =>
  refusal(() => upstreamAccess({ ...bearer, ...credential }));

describe('upstream credential', () => {
  it.each<[kind: string, credential: Partial<UpstreamCredential>, headers: object, query: object]>([
    ['none', { authentication: 'none' }, {}, {}],
    ['a bearer', {}, { authorization: `Bearer ${SECRET}` }, {}],
    ['a header', { authentication: 'header', name: ' X-N8N-API-KEY ' }, { 'x-n8n-api-key': SECRET }, {}],
    [
      'user and password (RFC 7617)',
      { authentication: 'basic', name: 'Aladdin', secret: 'open sesame' },
      { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
      {},
    ],
    [
      'user and password outside ASCII',
      { authentication: 'basic', name: 'test', secret: '123£' },
      { authorization: 'Basic dGVzdDoxMjPCow==' },
      {},
    ],
    ['a query parameter', { authentication: 'query', name: 'api_key' }, {}, { api_key: SECRET }],
  ])('shows who we are by %s', (_kind, credential, headers, query) => {
    expect(upstreamAccess({ ...bearer, ...credential })).toMatchObject({ headers, query });
  });

  it('without authentication uses neither name nor secret', () => {
    const access = upstreamAccess({ ...bearer, authentication: 'none', name: 'x-a' });
    expect(access).toMatchObject({ headers: {}, query: {}, secrets: [] });
  });

  it.each<[kind: string, credential: Partial<UpstreamCredential>, forms: string[]]>([
    ['bearer', {}, [SECRET]],
    ['basic', { authentication: 'basic', name: 'u' }, [SECRET, 'dTpzM2NyM3QtdmFsdWU=']],
    [
      'query',
      { authentication: 'query', name: 'k', secret: 'a b!c/d' },
      ['a b!c/d', 'a%20b!c%2Fd', 'a+b%21c%2Fd'],
    ],
  ])('lists every form in which upstream could echo the secret: %s', (_kind, credential, forms) => {
    expect(upstreamAccess({ ...bearer, ...credential }).secrets).toEqual(expect.arrayContaining(forms));
  });

  it('keeps the path of the base address', () => {
    expect(upstreamAccess({ ...bearer, baseUrl: ' https://a.test/app/ ' }).base.pathname).toBe('/app/');
  });

  it.each<[fault: string, credential: Partial<UpstreamCredential>, reason: RegExp]>([
    ['no address', { baseUrl: '' }, /base address/],
    ['a host alone', { baseUrl: 'app.example.com' }, /base address/],
    ['ftp', { baseUrl: 'ftp://app.example.com' }, /http or https/],
    ['a file', { baseUrl: 'file:///etc/passwd' }, /http or https/],
    ['a script', { baseUrl: 'javascript:alert(1)' }, /http or https/],
    ['a user in the address', { baseUrl: `https://u:${SECRET}@a.test` }, /user or password/],
    ['a password alone in the address', { baseUrl: `https://:${SECRET}@a.test` }, /user or password/],
    ['a query in the address', { baseUrl: `https://a.test/?key=${SECRET}` }, /query or fragment/],
    ['a fragment in the address', { baseUrl: `https://a.test/#${SECRET}` }, /query or fragment/],
    ['no secret', { secret: '' }, /secret is empty/],
    ['a field that is not there', { secret: undefined }, /secret is empty/],
    ['a line break in the secret', { secret: `${SECRET}\r\nx-admin: 1` }, /line break/],
    ['a null byte in the secret', { secret: `${SECRET}\u0000` }, /control character/],
    ['a secret that no header can carry', { secret: `${SECRET}€` }, /header/],
    [
      'broken Unicode in a parameter',
      { authentication: 'query', name: 'k', secret: `${SECRET}\ud800` },
      /Unicode/,
    ],
    ['a header without name', { authentication: 'header', name: ' ' }, /header name/],
    ['a header name with a line break', { authentication: 'header', name: 'x-a\r\nx-b' }, /header name/],
    ['a header name with a colon', { authentication: 'header', name: 'x-a: b' }, /header name/],
    ['a user name with a colon', { authentication: 'basic', name: 'a:b' }, /colon/],
    ['no user name', { authentication: 'basic', name: '' }, /user name/],
    ['a parameter without name', { authentication: 'query', name: '' }, /query parameter/],
    ['an unknown kind', { authentication: 'digest' as 'basic' }, /unknown/],
  ])('is refused for %s without showing the secret', (_fault, credential, reason) => {
    const refusal = refusalOf(credential);
    expect(refusal.code).toBe('credential_missing');
    expect(refusal.message).toMatch(reason);
    expect(refusal.message).not.toContain(SECRET);
  });

  it.each([
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Upgrade',
    'Cookie',
    'Accept',
    'Accept-Encoding',
    'Expect',
    'X-HTTP-Method-Override',
    'X-Original-URL',
  ])('cannot set %s, which would change what is asked', (name) => {
    expect(refusalOf({ authentication: 'header', name }).message).toMatch(/header name/);
  });

  it('ends in access or in a refusal that shows nothing of the secret, whatever is typed in', () => {
    const kind = fc.constantFrom('none', 'bearer', 'header', 'basic', 'query');
    const text = fc.string({ unit: 'binary', maxLength: 12 });
    fc.assert(
      fc.property(kind, text, text, fc.oneof(fc.webUrl(), text), (authentication, name, tail, baseUrl) => {
        try {
          const { headers } = upstreamAccess({ baseUrl, authentication, name, secret: `${SECRET}${tail}` });
          for (const value of Object.values(headers)) expect(value).not.toMatch(/[\r\n\0]/);
        } catch (error) {
          expect(error).toBeInstanceOf(PolicyError);
          expect((error as PolicyError).message).not.toContain(SECRET);
        }
      }),
    );
  });
});
