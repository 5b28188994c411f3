import fc from 'fast-check';
import { satisfies } from '../../../core/policy/arguments';
import { PolicyError } from '../../../core/policy/errors';
import { callS3Operation } from '../../../core/upstream/s3';
import { s3Access } from '../../../core/upstream/s3Access';
import type { UpstreamRequest } from '../../../core/upstream/transport';
import { operationNamed } from '../contract/checkedIn';

const SECRET = 'k3y-that-nobody-may-see';
const ENDPOINT = 'https://s3.upstream.test:9000';
const NOW = Date.UTC(2026, 4, 2);

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const xml = (body: string, status = 200): Answer => ({ status, type: 'application/xml', body });
const listing = (inside: string): Answer =>
  xml(
    `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</ListBucketResult>`,
  );

/** An object store that answers from a script and remembers what it was asked. */
class Double {
  readonly requests: UpstreamRequest[] = [];
  discarded = 0;

  constructor(private readonly answers: (request: UpstreamRequest) => Answer) {}

  async call(
    tool: string,
    args: object,
    locations = 'documents/reports\nmedia/open/',
  ): Promise<Record<string, unknown>> {
    const credential = { endpoint: ENDPOINT, region: 'us-east-1', pathStyle: true, accessKeyId: 'AKIATEST' };
    const access = s3Access({ ...credential, secretAccessKey: SECRET, locations });
    const { signal } = new AbortController();
    const context = { consumer: 'client-test', tenant: null, correlationId: 'test', signal };
    const prepared = operationNamed(tool);
    const ports = { transport: this.#transport.bind(this), now: () => NOW };
    const { structured, text } = await callS3Operation(prepared, args, access, context, ports);
    for (const secret of [SECRET, 'AKIATEST', ENDPOINT]) expect(text).not.toContain(secret);
    expect(satisfies(prepared.descriptor.outputSchema ?? {}, structured)).toBe(true);
    return structured;
  }

  async failure(tool: string, args: object, locations?: string): Promise<PolicyError> {
    const thrown = await this.call(tool, args, locations).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(PolicyError);
    for (const secret of [SECRET, 'AKIATEST', ENDPOINT])
      expect((thrown as PolicyError).message).not.toContain(secret);
    return thrown as PolicyError;
  }

  #transport(request: UpstreamRequest) {
    this.requests.push(request);
    const { status = 200, type, headers = {}, body = '' } = this.answers(request);
    const all: Record<string, string> = {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...headers,
    };
    return Promise.resolve({
      status,
      header: (name: string) => all[name],
      // eslint-disable-next-line @typescript-eslint/require-await -- an answer in one piece
      body: (async function* () {
        yield Buffer.from(body);
      })(),
      discard: () => {
        this.discarded += 1;
      },
    });
  }
}

const PAGE =
  listing(`<Name>documents</Name><Prefix>reports/</Prefix><KeyCount>2</KeyCount><MaxKeys>100</MaxKeys>
  <Delimiter>/</Delimiter><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>
  <Contents><Key>reports/2026-04+a%26b.csv</Key><LastModified>2026-05-01T06:00:00.000Z</LastModified>
  <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>1024</Size><StorageClass>STANDARD</StorageClass>
  <Owner><ID>CANARY</ID></Owner><UserMetadata>CANARY</UserMetadata></Contents>
  <CommonPrefixes><Prefix>reports/archive/</Prefix></CommonPrefixes>`);

describe.each(['minio', 'seaweedfs'])('%s', (app) => {
  it('asks for a list what its documentation says, and nothing else', async () => {
    const store = new Double(() => PAGE);
    await store.call(`${app}_list_objects`, {
      bucket: 'documents',
      prefix: 'reports/',
      limit: 100,
    });
    const [request] = store.requests;
    expect(store.requests).toHaveLength(1);
    expect([request?.method, request?.body]).toEqual(['GET', undefined]);
    expect(request?.url.href).toBe(
      `${ENDPOINT}/documents?list-type=2&delimiter=%2F&encoding-type=url&fetch-owner=false&max-keys=100&prefix=reports%2F`,
    );
    expect(Object.keys(request?.headers ?? {}).sort()).toEqual([
      ...['accept-encoding', 'authorization', 'x-amz-content-sha256', 'x-amz-date'],
    ]);
    expect(request?.headers['x-amz-date']).toBe('20260502T000000Z');
  });

  it('answers with folders and objects in plain spelling, without owner and metadata', async () => {
    const store = new Double(() => PAGE);
    const page = await store.call(`${app}_list_objects`, { bucket: 'documents' });
    expect(page).toEqual({
      items: [
        {
          ...{ kind: 'folder', bucket: 'documents', key: 'reports/archive/' },
          ...{ size: null, last_modified: null, etag: null, storage_class: null },
        },
        {
          ...{ kind: 'object', bucket: 'documents', key: 'reports/2026-04 a&b.csv', size: 1024 },
          ...{ last_modified: '2026-05-01T06:00:00.000Z', etag: 'd41d8cd98f00b204e9800998ecf8427e' },
          storage_class: 'STANDARD',
        },
      ],
      ...{ returned: 2, truncated: false, next: null, locations: ['documents/reports/', 'media/open/'] },
    });
    expect(JSON.stringify(page)).not.toContain('CANARY');
  });

  it('describes an object by its headers, and shows no metadata of people', async () => {
    const headers = {
      ...{ 'content-length': '1024', etag: '"d41d8cd98f00b204e9800998ecf8427e"' },
      ...{ 'last-modified': 'Fri, 01 May 2026 06:00:00 GMT', 'x-amz-meta-owner': 'CANARY' },
    };
    const store = new Double(() => ({ type: 'text/csv', headers }));
    const found = await store.call(`${app}_head_object`, { key: 'reports/2026-04.csv' });
    expect([store.requests[0]?.method, store.requests[0]?.url.pathname]).toEqual([
      'HEAD',
      '/documents/reports/2026-04.csv',
    ]);
    expect(store.requests[0]?.url.search).toBe('');
    expect(found).toEqual({
      ...{ bucket: 'documents', key: 'reports/2026-04.csv', size: 1024, content_type: 'text/csv' },
      ...{ last_modified: 'Fri, 01 May 2026 06:00:00 GMT', etag: 'd41d8cd98f00b204e9800998ecf8427e' },
    });
  });

  it.each([
    ['reports/a.csv', 'text/csv; charset=utf-8', 'a,b', { content: 'text', text: 'a,b', json: null }],
    ['reports/a.json', 'application/json', '{"a":[1]}', { content: 'json', text: null, json: { a: [1] } }],
    ['reports/a.json', 'application/json', '{"a":', { content: 'text', text: '{"a":', json: null }],
    ['reports/a.md', 'application/octet-stream', '# A', { content: 'text', text: '# A' }],
    ['reports/a.json', undefined, '7', { content: 'json', json: 7 }],
    ['reports/a.bin', 'application/octet-stream', 'abc', { content: 'omitted', text: null, json: null }],
    ['reports/a.png', 'image/png', 'abc', { content: 'omitted', text: null, json: null }],
    ['reports/a.txt', 'text/plain', new Uint8Array([0xff, 0xfe, 1]), { content: 'omitted', text: null }],
    ['reports/a.txt', 'text/plain', 'a\u0000b', { content: 'omitted', text: null }],
  ])('%s of type %s is returned whole or not at all', async (key, type, body, expected) => {
    const store = new Double(() => ({ ...(type === undefined ? {} : { type }), body }));
    expect(await store.call(`${app}_get_object`, { key })).toMatchObject(expected);
  });

  it('refuses a text that is larger than response_bytes, announced or not, and does not cut it', async () => {
    const body = 'x'.repeat(262_145);
    for (const headers of [{}, { 'content-length': String(body.length) }]) {
      const store = new Double(() => ({ type: 'text/plain', body, headers }));
      expect((await store.failure(`${app}_get_object`, { key: 'reports/a.txt' })).code).toBe(
        'response_too_large',
      );
      expect(store.discarded).toBe(1);
    }
  });

  it.each([
    [400, 'upstream_rejected', 'InvalidArgument'],
    [403, 'upstream_auth_failed', 'SignatureDoesNotMatch'],
    [404, 'upstream_not_found', 'NoSuchBucket'],
    [503, 'upstream_unavailable', 'SlowDown'],
    [301, 'upstream_redirect_refused', 'PermanentRedirect'],
  ])('says what a status of %i means', async (status, code, name) => {
    const error = `<Error><Code>${name}</Code><Message>Look at ${ENDPOINT}, key ${SECRET}</Message></Error>`;
    const store = new Double(() => xml(error, status));
    expect((await store.failure(`${app}_list_objects`, {})).code).toBe(code);
  });

  it.each([
    ['HTML', { type: 'text/html', body: '<p>Sign in</p>' }, 'upstream_not_json'],
    ['another XML', xml('<Other/>'), 'upstream_unexpected_shape'],
    [
      'a key of somewhere else',
      listing('<IsTruncated>false</IsTruncated><Contents><Key>secret/x</Key></Contents>'),
      'upstream_unexpected_shape',
    ],
    ['a page without a way on', listing('<IsTruncated>true</IsTruncated>'), 'upstream_unexpected_shape'],
  ])('fails where a list is answered with %s', async (_what, answer, code) => {
    expect((await new Double(() => answer).failure(`${app}_list_objects`, {})).code).toBe(code);
  });
});

describe('pages', () => {
  const page = (inside: string, token?: string) =>
    listing(
      `${inside}<IsTruncated>${String(token !== undefined)}</IsTruncated>${token === undefined ? '' : `<NextContinuationToken>${token}</NextContinuationToken>`}`,
    );
  const object = (key: string) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`;

  it('lead through every declared place, each with its own token, and end', async () => {
    const store = new Double(({ url }) => {
      if (url.pathname === '/media') return page(object('open/c'));
      return url.searchParams.get('continuation-token') === 't+/=1'
        ? page(object('reports/b'))
        : page(object('reports/a'), 't+/=1');
    });
    const keys: unknown[] = [];
    let cursor: unknown;
    for (let pages = 0; pages < 5; pages += 1) {
      const { items, next, truncated } = await store.call('minio_list_objects', {
        limit: 1,
        ...(cursor === undefined ? {} : { cursor }),
      });
      keys.push(...(items as { key: unknown }[]).map(({ key }) => key));
      expect(truncated).toBe(next !== null);
      if (next === null) break;
      cursor = next;
    }
    expect(keys).toEqual(['reports/a', 'reports/b', 'open/c']);
  });

  it('of more objects than were asked for say that something is missing, and offer no next that would skip it', async () => {
    const store = new Double(() => page(object('reports/a') + object('reports/b'), 't'));
    expect(await store.call('minio_list_objects', { limit: 1 })).toMatchObject({
      returned: 1,
      truncated: true,
      next: null,
    });
  });

  it('cannot be asked for with a cursor to somewhere else', async () => {
    const cursor = (text: string) => Buffer.from(text).toString('base64url');
    const store = new Double(() => page(''));
    for (const text of [
      'documents/secret/\n',
      'other/reports/\nt',
      'media/open/\nt\nx',
      'documents/reports/\na\u0007',
    ]) {
      expect(
        (await store.failure('minio_list_objects', { bucket: 'documents', cursor: cursor(text) })).code,
      ).toBe('arguments_invalid');
    }
    expect(store.requests).toEqual([]);
  });
});

describe('hostile arguments', () => {
  const nasty = fc.constantFrom(
    ...[
      '../',
      '..',
      '.',
      '/',
      '//',
      '%2e%2e/',
      '%2F',
      '\\',
      'reports',
      'reports/',
      'reports-secret/',
      'secret/',
      'open/',
    ],
    ...[
      '?acl',
      '&prefix=',
      '#',
      '\r\nHost: x',
      'http://x/',
      '@',
      ':',
      ' ',
      '+',
      'é',
      '😀',
      '*',
      "'",
      'a',
      'x-minio-extract',
    ],
  );
  const text = fc.array(nasty, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
  const bucket = fc.option(fc.constantFrom('documents', 'media', 'other', '..', 'documents/secret', 'x'), {
    nil: undefined,
  });

  it.each(['minio_list_objects', 'minio_head_object', 'minio_get_object'])(
    'of %s reach declared places of declared buckets only',
    async (tool) => {
      await fc.assert(
        fc.asyncProperty(text, bucket, fc.boolean(), async (value, inBucket, isBelow) => {
          const path = isBelow ? `reports/${value}` : value;
          const store = new Double(() => ({ status: 500 }));
          const args = {
            ...(tool === 'minio_list_objects' ? { prefix: path } : { key: path }),
            ...(inBucket === undefined ? {} : { bucket: inBucket }),
          };
          await store.failure(tool, args);
          for (const { url, headers, method } of store.requests) {
            expect(url.origin).toBe(ENDPOINT);
            expect(method).toBe(tool === 'minio_head_object' ? 'HEAD' : 'GET');
            const [, name = '', ...parts] = url.pathname.split('/').map(decodeURIComponent);
            const reached =
              tool === 'minio_list_objects' ? (url.searchParams.get('prefix') ?? '') : parts.join('/');
            expect(`${name}/${reached}`).toMatch(/^(?:documents\/reports\/|media\/open\/)/);
            expect(reached).toBe(path);
            expect(reached.split('/')).not.toContain('..');
            if (tool !== 'minio_list_objects') expect(url.search).toBe('');
            for (const header of Object.values(headers)) expect(header).not.toMatch(/[\r\n]/);
          }
        }),
        { numRuns: 300 },
      );
    },
  );

  it('of a prefix in two buckets need the bucket', async () => {
    const store = new Double(() => PAGE);
    const locations = 'documents/reports\nmedia/reports';
    const failure = await store.failure('minio_head_object', { key: 'reports/a' }, locations);
    expect([failure.code, failure.pointer]).toEqual(['arguments_invalid', '/bucket']);
  });
});
