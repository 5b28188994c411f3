import { DriftError, differenceText } from '../../../core/client/verify';
import { ListingCache } from '../../../core/client/listingCache';
import { cataloguePin, pinOf } from '../../../core/contract/pin';
import { McpServerDouble } from '../../support/mcpServerDouble';
import { newBearer } from '../../support/publish';
import { going, pinned, refused, useHarness } from './harness';
import { afterReview, NEW_TEXT, other, reviewed } from './reviewedServer';

const harness = useHarness();

const { number } = reviewed.inputSchema['properties'] as Record<string, object>;
const withProperties = (properties: object): object => ({
  ...reviewed,
  inputSchema: { ...reviewed.inputSchema, properties },
});

const ANOTHER_LIMIT = withProperties({
  number: { ...number, maximum: 100_000 },
  state: { type: 'string' },
});

const CHANGES: readonly (readonly [
  what: string,
  code: string,
  listed: readonly unknown[],
  field?: string,
])[] = [
  [
    'another description (C023)',
    'schema_drift',
    [{ ...reviewed, description: `Find one ticket. ${NEW_TEXT}` }, other],
    'description',
  ],
  ['no description', 'schema_drift', [{ ...reviewed, description: undefined }, other], 'description'],
  ['another title', 'schema_drift', [{ ...reviewed, title: NEW_TEXT }, other], 'title'],
  [
    'another annotation',
    'schema_drift',
    [{ ...reviewed, annotations: { readOnlyHint: false } }, other],
    'annotations',
  ],
  [
    'one more annotation',
    'schema_drift',
    [{ ...reviewed, annotations: { readOnlyHint: true, idempotentHint: true } }, other],
    'annotations',
  ],
  [
    'an argument added',
    'schema_drift',
    [
      withProperties({
        number,
        state: { type: 'string' },
        format: { type: 'string', description: NEW_TEXT },
      }),
      other,
    ],
    'inputSchema',
  ],
  ['an argument removed', 'schema_drift', [withProperties({ number }), other], 'inputSchema'],
  [
    'an argument retyped',
    'schema_drift',
    [withProperties({ number, state: { type: 'integer' } }), other],
    'inputSchema',
  ],
  [
    'an argument described anew',
    'schema_drift',
    [withProperties({ number, state: { type: 'string', description: NEW_TEXT } }), other],
    'inputSchema',
  ],
  ['another limit', 'schema_drift', [ANOTHER_LIMIT, other], 'inputSchema'],
  [
    'an emptied schema (C027)',
    'schema_drift',
    [{ ...reviewed, inputSchema: { type: 'object' } }, other],
    'inputSchema',
  ],
  [
    'another output schema',
    'schema_drift',
    [{ ...reviewed, outputSchema: { type: 'object' } }, other],
    'outputSchema',
  ],
  ['no output schema', 'schema_drift', [{ ...reviewed, outputSchema: undefined }, other], 'outputSchema'],
  ['the tool removed', 'tool_missing', [other]],
  ['the tool no longer readable', 'tool_missing', [{ ...reviewed, inputSchema: 'none' }, other]],
  ['a name in another case (C036)', 'tool_missing', [{ ...reviewed, name: 'Find_Ticket' }, other]],
  [
    'a name with a Cyrillic letter (C036)',
    'tool_missing',
    [{ ...reviewed, name: 'find_tick\u0435t' }, other],
  ],
  [
    'a name with a zero-width space (C036)',
    'tool_missing',
    [{ ...reviewed, name: 'find_\u200bticket' }, other],
  ],
  ['a name with a space behind (C036)', 'tool_missing', [{ ...reviewed, name: 'find_ticket ' }, other]],
  ['a name in full width', 'tool_missing', [{ ...reviewed, name: 'ｆｉｎｄ_ｔｉｃｋｅｔ' }, other]],
  ['a name with a combining mark', 'tool_missing', [{ ...reviewed, name: 'find_ticket\u0301' }, other]],
  ['two tools of the name', 'tool_ambiguous', [reviewed, reviewed, other]],
  [
    'a second tool of the name with another schema',
    'tool_ambiguous',
    [reviewed, { ...reviewed, description: NEW_TEXT }, other],
  ],
];

describe.each(CHANGES.map(([what, ...row]) => ({ what, row })))('$what', ({ row: [code, listed, field] }) => {
  it(`blocks the tool with ${code} and leaves the others usable`, async () => {
    const { double, server, allow } = await afterReview(harness, listed);
    const { usable, blocked } = await server.verified(allow, going());
    expect(usable.map(({ descriptor }) => descriptor.name)).toEqual(['get_note']);
    expect(blocked).toMatchObject([{ name: 'find_ticket', error: { code } }]);

    const error = await refused(server.call(allow, 'find_ticket', { number: 7 }, going()));
    expect(error.code).toBe(code);
    expect(error.message).not.toContain(NEW_TEXT);
    expect(double.calls).toEqual([]);
    expect((await server.call(allow, 'get_note', {}, going())).isError).toBe(false);
    if (field === undefined) return;
    expect(error.message).toContain(`Changed: ${field}.`);
    const changes = error instanceof DriftError ? error.changes : [];
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.every(({ pointer }) => pointer.startsWith(`/${field}`))).toBe(true);
    if (JSON.stringify(listed).includes(NEW_TEXT))
      expect(differenceText(changes)).toContain('call export_all');
  });
});

describe('a difference', () => {
  it('is told by its place and both values where the descriptors are kept (C029)', async () => {
    const { server, allow } = await afterReview(harness, [ANOTHER_LIMIT, other]);
    const { blocked } = await server.verified(allow, going());
    expect(differenceText((blocked[0]?.error as DriftError).changes)).toBe(
      '/inputSchema/properties/number/maximum 100 -> 100000',
    );
  });

  it('is told without the values where only hashes are kept, and named as such', async () => {
    const { server, allow } = await afterReview(harness, [{ ...reviewed, title: NEW_TEXT }], {
      reviewed: false,
    });
    const { blocked } = await server.verified(allow, going());
    expect(blocked[0]?.error.message).toMatch(/pinned sha256:[0-9a-f]{64}, listed sha256:[0-9a-f]{64}\./);
    expect((blocked[0]?.error as DriftError).changes).toEqual([]);
  });

  it('is told by its place where this process has read the reviewed list itself', async () => {
    const cache = new ListingCache();
    const double = await harness.double({ tools: [reviewed] });
    const allow = pinned(double);
    await harness.client(double.endpoint, { cache }).server.listing(going());
    double.tools = [{ ...reviewed, title: 'Another' }];
    const { blocked } = await harness.client(double.endpoint, { cache }).server.verified(allow, going());
    expect(differenceText((blocked[0]?.error as DriftError).changes)).toBe(
      '/title "Find a ticket" -> "Another"',
    );
  });

  it('of a schema that lost its properties says that trying again may help (C027)', async () => {
    for (const kept of [true, false]) {
      const { server, allow } = await afterReview(
        harness,
        [{ ...reviewed, inputSchema: { type: 'object' } }],
        {
          reviewed: kept,
        },
      );
      const error = await refused(server.call(allow, 'find_ticket', { number: 6 }, going()));
      expect(error).toMatchObject({
        code: 'schema_drift',
        message: expect.stringMatching(/properties.*try again later/) as string,
      });
    }
  });
});

describe('no difference is made by', () => {
  /** The same tool, written by somebody else. */
  const SPELLINGS: readonly (readonly [string, string])[] = [
    [
      'key order and whitespace (C025)',
      '{ "inputSchema": { "required":["number"],\n "properties":{"state":{"type":"string"},"number":{"maximum":100,"type":"integer"}}, "type":"object" },\t"annotations":{"readOnlyHint":true}, "outputSchema":{"properties":{"id":{"type":"string"}},"type":"object"}, "description":"Find one ticket by number.", "title":"Find a ticket", "name":"find_ticket" }',
    ],
    ['1e2 for 100', JSON.stringify(reviewed).replace('"maximum":100', '"maximum":1e2')],
    ['100.0 for 100', JSON.stringify(reviewed).replace('"maximum":100', '"maximum":100.0')],
    ['escapes in strings', JSON.stringify(reviewed).replace('"find_ticket"', '"\\u0066ind_ticket"')],
    [
      'what no model sees: icons, _meta, execution',
      JSON.stringify({ ...reviewed, icons: [], _meta: { a: 1 }, execution: {} }),
    ],
  ];

  it.each(SPELLINGS)('%s', async (_what, spelled) => {
    const { double, server, allow } = await afterReview(harness, []);
    double.on(
      'tools/list',
      ({ id }) =>
        (response: { writeHead: (...a: unknown[]) => { end: (t: string) => void } }) => {
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(`{"result":{"tools":[${spelled}]},"id":${String(id)},"jsonrpc":"2.0"}`);
        },
    );
    const { usable } = await server.verified(allow, going());
    expect(usable.map(({ descriptor }) => descriptor.name)).toEqual(['find_ticket']);
  });
});

describe('the catalogue pin', () => {
  const catalogue = cataloguePin([pinOf(reviewed), pinOf(other)]);
  const added = { name: 'delete_all', inputSchema: { type: 'object' } };

  it('absent lets the server add tools, which stay refused without being asked (C034)', async () => {
    const claims = { ...added, annotations: { readOnlyHint: true } };
    const { double, server, allow } = await afterReview(harness, [reviewed, other, claims]);
    expect((await server.verified(allow, going())).usable).toHaveLength(2);
    const before = double.requests.length;
    expect((await refused(server.call(allow, 'delete_all', {}, going()))).code).toBe('tool_not_pinned');
    expect(double.requests).toHaveLength(before);
  });

  it.each([
    ['an added tool', [reviewed, other, added]],
    ['a removed tool', [reviewed]],
    ['a changed tool', [reviewed, { ...other, title: 'x' }]],
    ['a tool that is listed twice', [reviewed, other, other]],
    ['an added entry that is no tool', [reviewed, other, { name: 'x' }]],
  ])('blocks everything after %s', async (_what, tools) => {
    const { double, server, allow } = await afterReview(harness, tools, { catalogue });
    expect((await refused(server.verified(allow, going()))).code).toBe('catalogue_drift');
    expect((await refused(server.call(allow, 'get_note', {}, going()))).code).toBe('catalogue_drift');
    expect(double.calls).toEqual([]);
  });

  it('says so when entries that are no tools stand in the way, since their number is all that is known', async () => {
    const { server, allow } = await afterReview(harness, [reviewed, other, {}], { catalogue });
    expect((await refused(server.verified(allow, going()))).message).toMatch(
      / lists 1 entry that is no tool/,
    );
  });

  it('does not mind another order', async () => {
    const { server, allow } = await afterReview(harness, [other, reviewed], { catalogue });
    expect((await server.verified(allow, going())).usable).toHaveLength(2);
  });
});

describe('a server that is another one', () => {
  it.each([
    { name: 'another', version: '1.0.0' },
    { name: 'Double', version: '1.0.0' },
    { name: 'doublе', version: '1' },
  ])('by its name blocks everything: %j', async (serverInfo) => {
    const { double, server, allow } = await afterReview(harness, [reviewed, other]);
    double.serverInfo = serverInfo;
    expect((await refused(server.verified(allow, going()))).code).toBe('server_drift');
    expect((await refused(server.call(allow, 'get_note', {}, going()))).code).toBe('server_drift');
    expect(double.calls).toEqual([]);
  });

  it('shows no secret of the credential when it takes it for its name', async () => {
    const token = newBearer();
    const { double, server, allow } = await afterReview(harness, [reviewed, other], {
      client: { credential: { authentication: 'bearer', token } },
    });
    double.serverInfo = { name: `I am ${token}`, version: '1.0.0' };
    const { code, message } = await refused(server.verified(allow, going()));
    expect(code).toBe('server_drift');
    expect(message).toContain('"I am [redacted]"');
  });

  it('may have another version', async () => {
    const { double, server, allow } = await afterReview(harness, [reviewed, other]);
    double.serverInfo = { name: 'double', version: '9.0.0' };
    expect((await server.verified(allow, going())).usable).toHaveLength(2);
  });

  it('by its address is asked nothing and shown no credential', async () => {
    const { allow } = await afterReview(harness, [reviewed, other]);
    const moved = await harness.double({ tools: [reviewed, other] });
    const { server } = harness.client(moved.endpoint);
    for (const attempt of [
      server.verified(allow, going()),
      server.call(allow, 'get_note', {}, going()),
      server.readResource(allow.server, 'note://1', going()),
    ]) {
      expect((await refused(attempt)).code).toBe('endpoint_drift');
    }
    expect(moved.requests).toEqual([]);
  });
});

describe('a tool that was reviewed but cannot be used', () => {
  it('is blocked by name with the reason', async () => {
    const foreign = {
      name: 'far',
      inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.test/a' } } },
    };
    const double = await McpServerDouble.start({ tools: [foreign, other] });
    harness.own(double);
    const { blocked, usable } = await harness
      .client(double.endpoint)
      .server.verified(pinned(double), going());
    expect(usable).toHaveLength(1);
    expect(blocked).toMatchObject([
      {
        name: 'far',
        error: {
          code: 'schema_unsupported',
          message: expect.stringContaining('The tool far cannot be used') as string,
        },
      },
    ]);
  });
});
