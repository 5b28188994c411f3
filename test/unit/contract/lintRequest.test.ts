import { REMOVED, itRefuses, type Changes, type Row } from './brokenContract';

const BECAUSE = 'The search endpoint reads: its handler only builds a SELECT.';
const body = (content: unknown, format = 'json'): Changes => ({
  'request.method': 'POST',
  'request.reads_because': BECAUSE,
  'request.body': { format, content },
});

const placed = (name: string): Changes => ({ [`request.arguments.${name}`]: { in: 'template' } });

describe('lint of a request with a body', () => {
  const rows: Row[] = [
    [
      'a POST without a body',
      { 'request.method': 'POST', 'request.reads_because': BECAUSE },
      /is needed by POST/,
      'request.body',
    ],
    [
      'a POST without a reason why it only reads',
      { ...body({ a: 1 }), 'request.reads_because': REMOVED },
      /say why this request only reads/,
      'request.reads_because',
    ],
    ['a GET with a body', { 'request.body': { format: 'json', content: {} } }, /must not be there for GET/],
    ['a reason on a GET', { 'request.reads_because': BECAUSE }, /other than GET/],
    ...['PUT', 'PATCH', 'DELETE', 'MKCOL', 'post', '{method}'].map((method): Row => [
      `the method ${method}`,
      { 'request.method': method },
      /expected one of "GET"/,
    ]),
    [
      'a slot that nobody fills',
      body({ q: { $value: 'nothing' } }),
      /uses nothing, which nothing places/,
      'request.body.content',
    ],
    [
      'a placed argument that no template uses',
      { ...body({ a: 1 }), ...placed('name') },
      /that does not use it/,
      'request',
    ],
    ['an unknown kind of slot', body({ q: { $eval: 'name' } }), /Invalid/, 'request.body.content'],
    ['an unknown escape', body({ q: { $text: '{name}', escape: 'sql' } }), /Invalid/, 'request.body.content'],
    ['text as a JSON body', body('{"a":1}'), /must be an object or a list/, 'request.body.content'],
    ['a list as a form', body(['a'], 'form'), /values by name/, 'request.body.content'],
    ['an object as XML', body({ a: 1 }, 'xml'), /must be text/, 'request.body.content'],
  ];
  itRefuses(rows, 'operations.0.');
});

describe('lint of what is bound', () => {
  itRefuses(
    [
      [
        'a setting that is not declared',
        { 'request.bound.company': { from: 'setting', setting: 'company_id', in: 'query', as: 'company' } },
        /adapter.settings does not declare/,
        'request',
      ],
      [
        'a setting without its name',
        { 'request.bound.company': { from: 'setting', in: 'query', as: 'company' } },
        /belongs to from: setting/,
        'request.bound.company.setting',
      ],
      [
        'a secret in the query',
        { 'request.bound.token': { from: 'secret', in: 'query', as: 'token' } },
        /goes into a body only/,
      ],
      [
        'an account where there is none',
        { 'request.bound.user': { from: 'account', in: 'query', as: 'user' } },
        /only basic and session/,
      ],
      [
        'an argument that is bound as well',
        { 'request.bound.name': { from: 'consumer', in: 'query', as: 'who' } },
        /is bound, so no caller may give it/,
        'request.arguments.name',
      ],
      [
        'a list of the operator that is not declared',
        { 'request.arguments.name': { in: 'query', as: 'name', allowed_by: 'names' } },
        /uses the setting names/,
        'request',
      ],
    ],
    'operations.0.',
  );
  itRefuses([
    [
      'a setting that nothing uses',
      { 'adapter.settings': { company_id: { description: 'The company that is read.', example: '1' } } },
      /is used by no operation/,
      'adapter.settings.company_id',
    ],
    ['a header without its name', { 'adapter.authentication.name': null }, /is needed by the kind header/],
    ['an authentication that is unknown', { 'adapter.authentication.kind': 'digest' }, /Invalid/],
    ['a secret that nobody is told of', { 'adapter.authentication.secret': null }, /says what to enter/],
    [
      'a session that is not described',
      { 'adapter.authentication.kind': 'session' },
      /belongs to the authentication session/,
      'adapter.session',
    ],
    [
      'a session that sends something else than the credential',
      {
        'adapter.authentication.kind': 'session',
        'adapter.session': {
          path: '/login',
          body: { format: 'json', content: { user: { $value: 'account' }, shell: { $value: 'command' } } },
          token: '/token',
          header: { name: 'authorization', text: 'Bearer {token}' },
          lifetime_seconds: 60,
        },
      },
      /uses command/,
      'adapter.session.body.content',
    ],
    [
      'a session on another host',
      {
        'adapter.authentication.kind': 'session',
        'adapter.session': {
          path: 'https://evil.test/login',
          body: { format: 'json', content: {} },
          token: '/token',
          header: { name: 'authorization', text: 'Bearer {token}' },
          lifetime_seconds: 60,
        },
      },
      /must be a fixed path/,
      'adapter.session.path',
    ],
  ]);
});

describe('lint of a choice among records', () => {
  const choice = (match: string, at: string[]): Changes => ({
    'request.arguments.name': { in: 'result', match, at },
  });
  itRefuses(
    [
      [
        'a choice that looks nowhere',
        choice('contains', []),
        /where a record is looked at/,
        'request.arguments.name.at',
      ],
      [
        'a limit that looks somewhere',
        choice('limit', ['name']),
        /must be empty/,
        'request.arguments.name.at',
      ],
      [
        'a limit that is no page size',
        choice('limit', []),
        /must be the size_argument/,
        'request.arguments.name',
      ],
      [
        'an offset that is no position',
        choice('offset', []),
        /must be the position_argument/,
        'request.arguments.name',
      ],
      ['a choice by code', choice('matches', ['name']), /Invalid/, 'request.arguments.name.match'],
    ],
    'operations.0.',
  );
});

describe('lint of the kind of adapter', () => {
  itRefuses([
    [
      'GraphQL in an adapter for REST',
      { 'adapter.type': 'graphql_allowlist' },
      /must be graphql/,
      'operations.0.request.kind',
    ],
    [
      'published content behind a credential',
      { 'adapter.type': 'resource_readonly' },
      /auth must be public_read_only/,
      'operations.0.request',
    ],
    ['an adapter that forwards anything', { 'adapter.type': 'http_proxy' }, /Invalid/],
    [
      'a specification that is read at run time',
      { 'adapter.specification_url': 'https://app.test/openapi.json' },
      /not a known key/,
    ],
  ]);
  itRefuses(
    [
      ['a query language as kind', { 'request.kind': 'sql_text' }, /Invalid/],
      ['a path with a query', { 'request.path': '/api?admin=1' }, /fixed path/],
      ['a path on another host', { 'request.path': '//evil.test/api' }, /fixed path/],
      ['a path that climbs', { 'request.path': '/api/../admin' }, /fixed path/],
      ['a wildcard', { 'request.path': '/api/*' }, /fixed path/],
      ['a slot for the rest of the path', { 'request.path': '/api/{path+}' }, /fixed path/],
      ['half a segment as slot', { 'request.path': '/api/user-{name}' }, /fixed path/],
    ],
    'operations.0.',
  );
});
