import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { s3Access, type S3Access } from '../../../core/upstream/s3Access';
import { s3Url, signedS3Request, withQuery } from '../../../core/upstream/s3Request';

/** The identity of the examples in the Amazon S3 API reference. */
const access = s3Access({
  endpoint: 'https://s3.amazonaws.com',
  region: 'us-east-1',
  pathStyle: false,
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  locations: 'examplebucket/J',
});
const THEN = Date.UTC(2013, 4, 24);

it('signs the list of the Amazon S3 API reference with the signature that stands there', async () => {
  const url = withQuery(s3Url(access, 'examplebucket'), [
    ['max-keys', '2'],
    ['prefix', 'J'],
  ]);
  expect(url.href).toBe('https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J');
  const { headers } = await signedS3Request({ method: 'GET', url }, access, THEN);
  expect(headers).toEqual({
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
      'SignedHeaders=host;x-amz-content-sha256;x-amz-date, ' +
      'Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x-amz-date': '20130524T000000Z',
    'accept-encoding': 'identity',
  });
});

/** What a server computes from a request as it arrives: path and query in the spelling that was sent. */
function asServerSigns(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { region, secretAccessKey }: S3Access,
): string {
  const hash = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text, 'utf8').digest();
  const date = headers['x-amz-date'] ?? '';
  const query = url.search.slice(1).split('&').filter(Boolean).sort().join('&');
  const signed = `host:${url.host}\nx-amz-content-sha256:${headers['x-amz-content-sha256'] ?? ''}\nx-amz-date:${date}\n`;
  const canonical = [
    ...['GET', url.pathname, query, signed, 'host;x-amz-content-sha256;x-amz-date'],
    headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const key = ['s3', 'aws4_request'].reduce<Buffer>(
    (derived, part) => hmac(derived, part),
    hmac(hmac(`AWS4${secretAccessKey}`, date.slice(0, 8)), region),
  );
  return hmac(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash(canonical)}`).toString('hex');
}

it('signs every key and every query value as a server reads them', async () => {
  const pathStyle = { ...access, pathStyle: true };
  const part = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((text) => !/^\.{1,2}$|[/\p{Cs}\p{Cc}]/u.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), part, async (parts, value) => {
      const url = withQuery(s3Url(pathStyle, 'bucket', parts.join('/')), [['prefix', value]]);
      const sent = await signedS3Request({ method: 'GET', url }, pathStyle, THEN);
      expect(url.pathname.split('/').slice(2).map(decodeURIComponent)).toEqual(parts);
      expect(sent.headers['authorization']).toContain(
        `Signature=${asServerSigns(url, sent.headers, pathStyle)}`,
      );
    }),
  );
});

it.each([
  ['an endpoint with a path', { endpoint: 'https://s3.example.com/minio' }],
  ['an endpoint with a user', { endpoint: 'https://a:b@s3.example.com' }],
  ['an endpoint that is none', { endpoint: 's3.example.com' }],
  ['an IP address without path style', { endpoint: 'http://127.0.0.1:9000' }],
  ['a region that is none', { region: 'us east' }],
  ['no access key id', { accessKeyId: '' }],
  ['a secret with a line break', { secretAccessKey: 'a\nb' }],
  ['no location', { locations: '# nothing\n' }],
  ['a whole bucket', { locations: 'examplebucket' }],
  ['a whole bucket with a slash', { locations: 'examplebucket/' }],
  ['a location that climbs', { locations: 'examplebucket/a/../b' }],
  ['a location with an empty part', { locations: 'examplebucket/a//b' }],
  ['a bucket that is an address', { locations: '127.0.0.1/a' }],
])('refuses a credential with %s, and repeats nothing of it', (_what, change) => {
  const credential = {
    ...{ endpoint: 'https://s3.example.com', region: 'us-east-1', pathStyle: false },
    ...{ accessKeyId: 'AKIA', secretAccessKey: 'sekrit-1', locations: 'examplebucket/a', ...change },
  };
  expect(() => s3Access(credential)).toThrow(
    expect.objectContaining({ code: 'credential_missing' }) as Error,
  );
  expect(() => s3Access(credential)).not.toThrow(/sekrit|AKIA|a:b/);
});
