import { contractWith, findingsIn, itRefuses, REMOVED, type Changes } from './brokenContract';

const INPUT = 'input_schema.properties';
const PATH_RULE = /fixed path/;
const pages = { style: 'page', size_argument: 'limit', position_argument: 'cursor', next: null };

describe('lint of what an operation asks', () => {
  itRefuses(
    [
      ['a field that is left out', { output_schema: REMOVED }, /is missing/],
      ['an unknown part of the request', { 'request.stream': {} }, /not a known key/],
      ['a writing method', { 'request.method': 'DELETE' }, /expected one of "GET"/],
      [
        'a GET that calls itself a write',
        { 'annotations.readOnlyHint': false },
        /readOnlyHint true/,
        'annotations',
      ],
      [
        'a GET that calls itself destructive',
        { 'annotations.destructiveHint': true },
        /destructiveHint false/,
        'annotations',
      ],
      ['a tool name that clients refuse', { name: 'n8n.list' }, /must match/],
      ['a generic address as path', { 'request.path': '{url}' }, PATH_RULE],
      ['a path with a scheme', { 'request.path': 'https://a.test/x' }, PATH_RULE],
      ['a path that names a host', { 'request.path': '//a.test/x' }, PATH_RULE],
      ['a path with a query', { 'request.path': '/x?a=b' }, PATH_RULE],
      ['a path with a fragment', { 'request.path': '/x#a' }, PATH_RULE],
      ['a path with dot segments', { 'request.path': '/x/../y' }, PATH_RULE],
      ['a path that ends in a dot segment', { 'request.path': '/x/.' }, PATH_RULE],
      ['a path with encoded parts', { 'request.path': '/x/%2e%2e/y' }, PATH_RULE],
      ['a path with a backslash', { 'request.path': '/x\\..\\y' }, PATH_RULE],
      ['a slot that is half a segment', { 'request.path': '/x/a{id}' }, PATH_RULE],
      ['a slot that nothing fills', { 'request.path': '/x/{id}' }, /\{id\} must be filled/],
      [
        'an argument that goes nowhere',
        { 'request.arguments.tag': REMOVED },
        /place the argument tag/,
        'request.arguments',
      ],
      [
        'a placement of no argument',
        { 'request.arguments.ghost': { in: 'query', as: 'g' } },
        /not in the input/,
      ],
      ['a placement in a header', { 'request.arguments.tag.in': 'header' }, /Expected 'path' \| 'query'/],
      ['two arguments for one parameter', { 'request.arguments.tag.as': 'name' }, /twice/, 'request'],
      [
        'an argument over a fixed parameter',
        { 'request.arguments.tag.as': 'excludePinnedData' },
        /twice/,
        'request',
      ],
      [
        'an argument over a bound one',
        { 'request.bound.x': { from: 'tenant', in: 'query', as: 'tags' } },
        /twice/,
        'request',
      ],
      [
        'an argument named like a member of every object',
        {
          'request.arguments.constructor': { in: 'query', as: 'c' },
          [`${INPUT}.constructor`]: { type: 'boolean', description: 'x' },
        },
        /reserved/,
      ],
      [
        'a header that frames the request',
        { 'request.fixed_headers.transfer-encoding': 'chunked' },
        /reserved/,
      ],
      [
        'a header that changes the method',
        { 'request.fixed_headers.x-http-method-override': 'PUT' },
        /reserved/,
      ],
      ['a header that asks for compression', { 'request.fixed_headers.accept-encoding': 'gzip' }, /reserved/],
      ['a credential in the contract', { 'request.fixed_headers.authorization': 'Bearer abc' }, /reserved/],
      ['a header with a line break', { 'request.fixed_headers.x-a': 'b\r\nx-c: d' }, /line break/],
    ],
    'operations.0.',
  );

  describe('with a slot in its path', () => {
    itRefuses(
      [
        ['a slot that stands twice', { 'request.path': '/api/{id}/of/{id}' }, /twice/],
        [
          'an argument for another slot',
          { 'request.arguments.workflow_id.as': 'other' },
          /no slot \{other\}/,
          'request.path',
        ],
        [
          'a slot filled by two',
          { 'request.bound.x': { from: 'tenant', in: 'path', as: 'id' } },
          /exactly one/,
          'request.path',
        ],
        ['an argument in the path that may be left out', { 'input_schema.required': [] }, /list workflow_id/],
        [
          'a required list that is none',
          { 'input_schema.required': 5 },
          /strict JSON Schema/,
          'input_schema',
        ],
      ],
      'operations.1.',
    );
  });
});

describe('lint of what an operation takes', () => {
  itRefuses(
    [
      ['an unbounded text', { [`${INPUT}.name.maxLength`]: REMOVED }, /maxLength/, `${INPUT}.name`],
      ['a number without upper bound', { [`${INPUT}.limit.maximum`]: REMOVED }, /maximum/, `${INPUT}.limit`],
      ['a number without lower bound', { [`${INPUT}.limit.minimum`]: REMOVED }, /minimum/, `${INPUT}.limit`],
      ['an argument without type', { [`${INPUT}.name.type`]: REMOVED }, /must be of type/, `${INPUT}.name`],
      ['an argument of free shape', { [`${INPUT}.name.type`]: 'object' }, /must be of type/, `${INPUT}.name`],
      [
        'an argument without explanation',
        { [`${INPUT}.name.description`]: REMOVED },
        /description/,
        `${INPUT}.name`,
      ],
      ['an argument that is no schema', { [`${INPUT}.name`]: null }, /strict JSON Schema/, 'input_schema'],
      ['an open input', { 'input_schema.additionalProperties': REMOVED }, /must be false/],
      [
        'an input opened by a pattern',
        { 'input_schema.patternProperties': { '^x': {} } },
        /declare every arg/,
      ],
      ['an input that is no object', { 'input_schema.type': 'array' }, /must be object/],
      ['a misspelled keyword', { [`${INPUT}.name.maxLenght`]: 3 }, /strict JSON Schema/, 'input_schema'],
    ],
    'operations.0.',
  );

  it('refuses a Prometheus query whose expression cannot be bounded', () => {
    const text = contractWith(
      { 'operations.0.request.arguments': { expr: { in: 'query', as: 'query' } } },
      'web-app-prometheus',
    );
    expect(findingsIn(text)).toContainEqual(
      expect.objectContaining({ path: 'operations.0.request.arguments', reason: 'must place query' }),
    );
  });

  it.each(['/api/v1/admin/tsdb/delete_series', '/api/v1/status/config', '/-/reload', '/api/v1/series'])(
    'refuses a Prometheus operation that asks for %s',
    (path) => {
      const text = contractWith({ 'operations.2.request.path': path }, 'web-app-prometheus');
      expect(findingsIn(text).map((finding) => finding.path)).toContain('operations.2.request.path');
    },
  );
});

describe('lint of what an operation answers', () => {
  itRefuses(
    [
      [
        'an output schema that is none',
        { 'output_schema.type': 'record' },
        /strict JSON Schema/,
        'output_schema',
      ],
      [
        'an output schema fetched at run time',
        { 'output_schema.$ref': 'https://a.test/s' },
        /strict JSON/,
        'output_schema',
      ],
      ['a cursor that leads nowhere', { 'pagination.next': null }, /cursor style/],
      [
        'a cursor outside the cursor style',
        { 'pagination.style': 'offset' },
        /cursor style/,
        'pagination.next',
      ],
      ['a style without position', { 'pagination.position_argument': null }, /every style but none/],
      [
        'a position without style',
        { 'pagination.style': 'none' },
        /every style but/,
        'pagination.position_argument',
      ],
      [
        'pages without size',
        { pagination: { ...pages, size_argument: null } },
        /style page/,
        'pagination.size_argument',
      ],
      [
        'a page number that is text',
        { pagination: pages },
        /integer in style page/,
        'pagination.position_argument',
      ],
      ['a page size that is no argument', { 'pagination.size_argument': 'rows' }, /not in the input schema/],
      [
        'a page size of 0, which upstreams read as all',
        { [`${INPUT}.limit.minimum`]: 0 },
        /minimum 1/,
        'pagination.size_argument',
      ],
      ['pages of a single record', { 'response.items': null }, /needed for pages/],
      ['a response without selection', { 'response.keep': [] }, />=1/],
      ['a keep path in another language', { 'response.keep.0': 'tags[0].name' }, /tags\[\]\.name/],
      [
        'a redaction that redacts nothing',
        { 'response.redact': ['.'] },
        /within a record/,
        'response.redact.0',
      ],
      ['a pointer in another language', { 'response.items': 'data.rows' }, /JSON pointer/],
      ['texts of any length', { 'response.text_characters': REMOVED }, /is missing/],
      ['redirects to anywhere', { 'response.redirect': 'follow' }, /same_path_template/],
    ],
    'operations.0.',
  );

  describe('when what is kept and what is promised differ', () => {
    const OUTPUT = 'output_schema.properties';
    itRefuses(
      [
        [
          'a kept field that no schema describes',
          { 'response.keep.1': 'nmae' },
          /nmae is not in output_schema/,
        ],
        [
          'a described field that is never kept',
          { [`${OUTPUT}.owner`]: { type: 'string' } },
          /is never returned/,
        ],
        [
          'a described field inside a list that is never kept',
          { [`${OUTPUT}.tags.items.properties.id`]: { type: 'string' } },
          /is never returned/,
        ],
        [
          'a kept field inside a list that no schema describes',
          { 'response.keep.6': 'tags[].id' },
          /not in output_schema/,
        ],
        ['a list that is read like an object', { 'response.keep.6': 'tags.name' }, /not in output_schema/],
        ['a text that is read like a list', { 'response.keep.1': 'name[]' }, /not in output_schema/],
      ],
      'operations.0.',
    );

    it.each<[what: string, changes: Changes]>([
      ['the whole record is kept', { 'response.keep': ['.'] }],
      ['a whole list is kept', { 'response.keep.6': 'tags' }],
      ['everything is kept under *', { 'response.keep': ['*', 'tags[].name'] }],
      [
        'an object without declared fields is kept in part',
        { [`${OUTPUT}.tags`]: { type: 'object' }, 'response.keep.6': 'tags.name' },
      ],
      [
        'a list without declared elements is kept in part',
        { [`${OUTPUT}.tags`]: { type: 'array' }, 'response.keep.6': 'tags[].name' },
      ],
      [
        'an open schema describes more than is kept',
        { 'output_schema.additionalProperties': true, [`${OUTPUT}.owner`]: { type: 'string' } },
      ],
      [
        'a combination of schemas cannot be decided',
        { [`${OUTPUT}.tags`]: { anyOf: [{ type: 'string' }] }, 'response.keep.6': 'tags[].name' },
      ],
    ])('finds nothing but the hashes where %s', (_what, changes) => {
      const placed = Object.entries(changes).map(([path, value]) => [`operations.0.${path}`, value] as const);
      for (const { path } of findingsIn(contractWith(Object.fromEntries(placed)))) {
        expect(path).toMatch(/sha256$/);
      }
    });

    it('looks at the record that map makes', () => {
      const text = contractWith({ 'operations.4.response.keep.0': 'name' }, 'web-app-prometheus');
      expect(findingsIn(text)).toContainEqual(
        expect.objectContaining({
          path: 'operations.4.response.keep.0',
          reason: 'name is not in what map makes of a record',
        }),
      );
    });
  });

  describe('with a single record', () => {
    itRefuses(
      [['an envelope', { 'response.envelope': { at: { pointer: '/at', schema: {} } } }, /lists/]],
      'operations.1.',
    );
  });
});
