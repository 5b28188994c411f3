import type { Operation } from '../../../core/contract/operation';
import type { GraphqlRequest, HttpRequest } from '../../../core/contract/request';
import type { UpstreamCredential } from '../../../core/upstream/access';
import { body, json } from '../../support/upstreamDouble';
import { parameters, prepare, SECRET, useHarness } from './harness';

const harness = useHarness();

const request: HttpRequest = {
  kind: 'http',
  method: 'GET',
  path: '/api/things',
  arguments: {},
  bound: {},
  fixed_query: {},
  fixed_headers: {},
};

const text = { type: 'string', maxLength: 100, description: 'Text.' };
const number = { type: 'integer', minimum: 1, maximum: 100, description: 'A number.' };

/** One list operation with the given request and arguments. */
function operation(
  changes: Partial<HttpRequest>,
  properties: Record<string, object> = {},
): Partial<Operation> {
  return {
    input_schema: { type: 'object', properties, additionalProperties: false },
    request: { ...request, ...changes },
    pagination: { style: 'none', size_argument: null, position_argument: null, next: null },
  };
}

const answered = { rows: [{ id: 1, name: 'one' }] };

async function asked(
  changes: Partial<HttpRequest>,
  properties: Record<string, object>,
  args: Record<string, unknown>,
  credential: Partial<UpstreamCredential> = {},
) {
  harness().upstream.on('*', json(answered));
  await harness().call(prepare({ operation: operation(changes, properties) }), args, { credential });
  return harness().upstream.lastRequest;
}

describe('a fixed body', () => {
  const search: Partial<HttpRequest> = {
    method: 'POST',
    arguments: { q: { in: 'template' }, state: { in: 'template' }, limit: { in: 'template' } },
    body: {
      format: 'json',
      content: {
        fields: ['id', 'name'],
        limit: { $value: 'limit', otherwise: 20 },
        filter: [
          { $given: 'state', then: { op: '=', left: 'state', right: { $value: 'state' } } },
          { $given: 'q', then: { op: '~~', left: 'name', right: { $text: '.*{q}.*', escape: 'regex' } } },
        ],
        text: { $json: { contains: { $value: 'q' } } },
      },
    },
  };
  const properties = { q: text, state: number, limit: number };

  it('holds values where the contract has slots, with their types', async () => {
    const sent = await asked(search, properties, { q: 'a.b"', state: 2, limit: 5 });
    expect(sent.method).toBe('POST');
    expect(sent.headers['content-type']).toBe('application/json');
    expect(JSON.parse(sent.body)).toEqual({
      fields: ['id', 'name'],
      limit: 5,
      filter: [
        { op: '=', left: 'state', right: 2 },
        { op: '~~', left: 'name', right: '.*a\\.b".*' },
      ],
      text: '{"contains":"a.b\\""}',
    });
  });

  it('leaves out what was not given', async () => {
    const sent = await asked(search, properties, {});
    expect(JSON.parse(sent.body)).toEqual({ fields: ['id', 'name'], limit: 20, filter: [], text: '{}' });
  });

  it('can be a form with a secret in it, which no answer repeats', async () => {
    const form: Partial<HttpRequest> = {
      method: 'POST',
      arguments: { q: { in: 'template' } },
      bound: { token: { from: 'secret', in: 'template', as: 'token' } },
      body: { format: 'form', content: { token: { $value: 'token' }, action: 'search', q: { $value: 'q' } } },
    };
    const { adapter } = prepare({ operation: operation(form, { q: text }) }).definition;
    if (adapter.type !== 'openapi_allowlist') throw new TypeError('The made-up adapter is another one.');
    const authentication = { kind: 'body' as const, name: null, secret: 'token', optional: false };
    const prepared = prepare({
      operation: operation(form, { q: text }),
      adapter: { ...adapter, authentication },
    });
    harness().upstream.on('*', json({ rows: [{ id: 1, name: 'x' }] }));
    const credential = { authentication: 'body' as const };
    await harness().call(prepared, { q: 'a&action=delete' }, { credential });
    const { headers, body: sent } = harness().upstream.lastRequest;
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(parameters(sent)).toEqual({ token: [SECRET], action: ['search'], q: ['a&action=delete'] });
    harness().upstream.on('*', json({ message: `bad token ${SECRET}` }, 400));
    const failure = await harness().failure(prepared, { q: 'x' }, { credential });
    expect(failure).toMatchObject({ code: 'upstream_rejected' });
    expect(failure.message).not.toContain(SECRET);
    const other = await harness().failure(prepared, { q: 'x' });
    expect(other).toMatchObject({ code: 'credential_missing' });
  });

  it('can be XML, in which text stays text', async () => {
    const sent = await asked(
      {
        method: 'REPORT',
        arguments: { q: { in: 'template' } },
        body: { format: 'xml', content: '<search><pattern>{q}</pattern></search>' },
      },
      { q: text },
      { q: '</pattern><limit>9999</limit>&"\'' },
    );
    expect(sent.method).toBe('REPORT');
    expect(sent.body).toBe(
      '<search><pattern>&lt;/pattern&gt;&lt;limit&gt;9999&lt;/limit&gt;&amp;&quot;&apos;</pattern></search>',
    );
  });
});

describe('a query', () => {
  it('can hold one name several times, a JSON filter and another spelling of a value', async () => {
    const { query } = await asked(
      {
        arguments: {
          all: { in: 'query', as: 'all', values: { true: '1', false: '0' } },
          q: { in: 'template' },
        },
        fixed_query: { scope: ['title', 'name'] },
        computed_query: { filters: { $json: [{ name: { operator: '~', values: [{ $value: 'q' }] } }] } },
      },
      { q: text, all: { type: 'boolean', description: 'All.' } },
      { q: 'x"y', all: true },
    );
    expect(parameters(query)).toEqual({
      scope: ['title', 'name'],
      filters: ['[{"name":{"operator":"~","values":["x\\"y"]}}]'],
      all: ['1'],
    });
  });
});

describe('a path', () => {
  const file = (join: '/' | '%2F'): Partial<HttpRequest> => ({
    path: '/files/{path}/raw',
    arguments: { path: { in: 'path', as: 'path', join } },
  });

  it.each([
    ['/', '/files/docs/a%20b.md/raw'],
    ['%2F', '/files/docs%2Fa%20b.md/raw'],
  ] as const)('can have a slot of several parts joined by %s', async (join, path) => {
    const sent = await asked(file(join), { path: text }, { path: 'docs/a b.md' });
    expect(sent.path).toBe(path);
  });

  it.each(['../etc', 'a/../b', '/etc', 'a//b', 'a/', 'a/%2e%2e/b', 'a\\..\\b', ''])(
    'of several parts is refused when one of them climbs or is empty: %s',
    async (path) => {
      const prepared = prepare({ operation: operation(file('/'), { path: text }) });
      expect(await harness().failure(prepared, { path })).toMatchObject({ code: 'arguments_invalid' });
      expect(harness().upstream.requests).toEqual([]);
    },
  );

  it('can end a slot with a fixed ending and itself with a slash', async () => {
    const changes: Partial<HttpRequest> = {
      path: '/book/{id}.json/',
      arguments: { id: { in: 'path', as: 'id' } },
    };
    expect((await asked(changes, { id: text }, { id: '7' })).path).toBe('/book/7.json/');
  });
});

describe('settings of the operator', () => {
  const listed: Partial<HttpRequest> = {
    path: '/collections/{collection}',
    arguments: { collection: { in: 'path', as: 'collection', allowed_by: 'collections' } },
    bound: { company: { from: 'setting', setting: 'company_id', in: 'query', as: 'company' } },
  };
  const settings = '# what may be read\ncollections = docs, wiki\ncompany_id = 7';

  it('fill slots and bound what a caller may name', async () => {
    const sent = await asked(listed, { collection: text }, { collection: 'wiki' }, { settings });
    expect([sent.path, sent.query]).toEqual(['/collections/wiki', '?company=7']);
  });

  it.each(['users', 'WIKI', 'docs, wiki', 'wiki '])('refuse what is not listed: %s', async (collection) => {
    const prepared = prepare({ operation: operation(listed, { collection: text }) });
    const failure = await harness().failure(prepared, { collection }, { credential: { settings } });
    expect(failure).toMatchObject({ code: 'arguments_invalid', pointer: '/collection' });
    expect(failure.message).not.toContain('docs');
    expect(harness().upstream.requests).toEqual([]);
  });

  it.each([
    ['', /lacks the setting collections/],
    ['collections =', /lacks the setting collections/],
    ['collections docs', /line 1 of its settings is not name = value/],
    ['collections = docs\ncollections = all', /line 2 of its settings names a setting twice/],
  ])('that are missing or unreadable refuse every call: %s', async (lines, message) => {
    const prepared = prepare({ operation: operation(listed, { collection: text }) });
    const attempt = async () =>
      await harness().failure(prepared, { collection: 'docs' }, { credential: { settings: lines } });
    const failure = await attempt().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'credential_missing',
      message: expect.stringMatching(message) as string,
    });
    expect(harness().upstream.requests).toEqual([]);
  });
});

describe('GraphQL', () => {
  const graphql: GraphqlRequest = {
    kind: 'graphql',
    path: '/graphql',
    document: 'query Find($q: String, $limit: Int!) { things(q: $q, first: $limit) { id name } }',
    variables: { q: { $value: 'q' }, limit: { $value: 'limit', otherwise: 10 } },
    arguments: { q: { in: 'template' }, limit: { in: 'template' } },
    bound: {},
    fixed_headers: {},
  };

  it('sends the checked-in document as it is, and the caller only as variables', async () => {
    harness().upstream.on('*', json(answered));
    const prepared = prepare({
      operation: { ...operation({}, { q: text, limit: number }), request: graphql },
    });
    await harness().call(prepared, { q: '") { secret } #' });
    const { method, body: sent } = harness().upstream.lastRequest;
    expect(method).toBe('POST');
    expect(JSON.parse(sent)).toEqual({
      query: graphql.document,
      variables: { q: '") { secret } #', limit: 10 },
    });
  });
});

describe('answers in other formats', () => {
  const xml = (changes: Partial<Operation['response']>) =>
    prepare({
      operation: { ...operation({}), output_schema: { type: 'object' } },
      response: {
        format: 'xml',
        lists: ['meeting'],
        items: '/response/meetings/meeting',
        keep: ['name', '@id'],
        ...changes,
      },
    });
  const document = (inside: string) =>
    body(`<?xml version="1.0"?><d:response xmlns:d="DAV:">${inside}</d:response>`, {
      type: 'text/xml; charset=utf-8',
    });

  it('reads XML with one element as a list of one, every value as text', async () => {
    harness().upstream.on(
      '*',
      document('<meetings><meeting id="1"><name>007 &amp; &lt;co&gt;</name></meeting></meetings>'),
    );
    const { structured } = await harness().call(xml({}), {});
    expect(structured).toMatchObject({ items: [{ name: '007 & <co>', '@id': '1' }], returned: 1 });
  });

  it.each([
    ['a document type', '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>'],
    ['half a document', '<response><meetings>'],
    ['no document', 'response'],
  ])('refuses %s', async (_what, sent) => {
    harness().upstream.on('*', body(sent, { type: 'application/xml' }));
    expect(await harness().failure(xml({}), {})).toMatchObject({ code: 'upstream_not_json' });
  });

  it('reads plain text as lines, and headers beside the body', async () => {
    const prepared = prepare({
      operation: {
        ...operation({ arguments: { start: { in: 'query', as: 'start' } } }, { start: text }),
        output_schema: { type: 'string' },
      },
      response: { format: 'lines', headers: ['x-text-size', 'x-more-data'], items: '/body', keep: ['.'] },
      pagination: {
        style: 'cursor',
        position_argument: 'start',
        next: '/headers/x-text-size',
        more: '/headers/x-more-data',
      },
    });
    const log = (headers: Record<string, string>) =>
      body('one\r\ntwo\n', { type: 'text/plain;charset=UTF-8', headers });
    harness().upstream.on('*', log({ 'x-text-size': '8', 'x-more-data': 'true' }));
    const first = await harness().call(prepared, {});
    expect(first.structured).toEqual({ items: ['one', 'two'], returned: 2, truncated: true, next: '8' });
    harness().upstream.on('*', log({ 'x-text-size': '8' }));
    expect((await harness().call(prepared, { start: '8' })).structured).toMatchObject({
      truncated: false,
      next: null,
    });
  });

  it('returns base64 as the text that it holds, and nothing where it holds none', async () => {
    const prepared = prepare({
      operation: { ...operation({}), output_schema: { type: 'object' } },
      response: { items: null, keep: ['content', 'other'], base64: ['content', 'other'] },
    });
    const content = Buffer.from('größe\n').toString('base64');
    harness().upstream.on(
      '*',
      json({ content: `${content.slice(0, 4)}\n${content.slice(4)}`, other: 'AAEC/w==' }),
    );
    const { structured } = await harness().call(prepared, {});
    expect(structured).toEqual({ content: 'größe\n', other: '[not text: left out]' });
  });
});

describe('failures that are told with status 200', () => {
  const rpc = prepare({
    operation: {
      ...operation({}),
      output_schema: { type: 'object' },
      errors: {
        message: '/error/message',
        failure: { at: '/error/code', codes: { '404': 'upstream_not_found' } },
      },
    },
    response: { items: null, record: '/result', keep: ['id'] },
  });

  it.each([
    [{ error: { code: 404, message: 'no' } }, 'upstream_not_found'],
    [{ error: { code: 1, message: 'bad query' } }, 'upstream_rejected'],
    [{ result: null }, 'upstream_not_found'],
    [{}, 'upstream_not_found'],
    [{ login: 'required' }, 'upstream_unexpected_shape'],
    ['text', 'upstream_unexpected_shape'],
  ])('are failures: %j', async (answer, code) => {
    harness().upstream.on('*', json(answer));
    expect(await harness().failure(rpc, {})).toMatchObject({ code });
  });

  it('are not seen where there is none', async () => {
    harness().upstream.on('*', json({ result: { id: 1 }, error: null }));
    expect((await harness().call(rpc, {})).structured).toEqual({ id: 1 });
  });
});
