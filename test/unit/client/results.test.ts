import type { ContentBlock } from '@modelcontextprotocol/client';
import { attachmentsOf, blockForItem, blocksOf, bounded, resultText } from '../../../core/client/result';
import { tool } from '../../support/mcpServerDouble';
import { newBearer } from '../../support/publish';
import { going, pinned, refused, useHarness } from './harness';

const harness = useHarness();
const PIXEL = Buffer.from('pixel').toString('base64');

/** What a call gives whose result the server sends as it is here. */
async function outcomeFor(result: unknown, more: object = {}) {
  const double = await harness.double({ tools: [tool('one', more)] });
  double.on('tools/call', () => result);
  const { server } = harness.client(double.endpoint);
  return await server.call(pinned(double), 'one', {}, going());
}
const textFor = async (result: unknown, most = 10_000) => resultText(await outcomeFor(result), most);

describe('a server that repeats our bearer', () => {
  it('does not show it to a model: neither in text nor in structured content nor in a resource', async () => {
    const token = newBearer();
    const double = await harness.double({ tools: [tool('one')] });
    double.on('tools/call', () => ({
      content: [{ type: 'text', text: `You sent Bearer ${token}.` }],
      structuredContent: { headers: [{ authorization: `Bearer ${token}` }] },
    }));
    double.on('resources/read', () => ({ contents: [{ uri: 'a://b', text: token }] }));
    const { server } = harness.client(double.endpoint, { credential: { authentication: 'bearer', token } });
    const outcome = await server.call(pinned(double), 'one', {}, going());
    expect(outcome.structured).toEqual({ headers: [{ authorization: 'Bearer [redacted]' }] });
    const read = await server.readResource(pinned(double).server, 'a://b', going());
    expect(JSON.stringify([outcome, read])).not.toContain(token);
  });
});

describe('a result as text', () => {
  it('is an outcome that says that it is an error when the server says so (C037)', async () => {
    const outcome = await outcomeFor({
      isError: true,
      content: [{ type: 'text', text: 'quota exceeded for sheet S1' }],
    });
    expect(outcome.isError).toBe(true);
    expect(resultText(outcome, 100)).toBe('quota exceeded for sheet S1');
  });

  it('is the structured content where there is nothing else (C039)', async () => {
    const structured = { count: 2, rows: [{ id: 'R1' }, { id: 'R2' }] };
    expect(JSON.parse(await textFor({ content: [], structuredContent: structured }))).toEqual(structured);
  });

  it('says structured content once when the text says the same', async () => {
    const structuredContent = { count: 2 };
    const said = [{ type: 'text', text: '{ "count": 2 }' }];
    expect(await textFor({ content: said, structuredContent })).toBe('{ "count": 2 }');
    const more = [{ type: 'text', text: 'Two rows.' }];
    expect(await textFor({ content: more, structuredContent })).toBe('Two rows.\n\n{"count":2}');
  });

  it('names links, holds the text of resources, and says what was not shown (C041)', async () => {
    const content = [
      { type: 'resource_link', uri: 'report://q3/7', name: 'q3.pdf', mimeType: 'application/pdf' },
      { type: 'resource', resource: { uri: 'note://1', mimeType: 'text/plain', text: 'hello' } },
      { type: 'future_block', x: 1 },
    ];
    const text = await textFor({ content });
    expect(text).toContain('q3.pdf <report://q3/7> (application/pdf): not followed');
    expect(text).toContain('Resource note://1 (text/plain):\nhello');
    expect(text).toContain('[1 block of unknown type "future_block" was not shown]');
  });

  it.each([
    [{ type: 'image', data: PIXEL, mimeType: 'image/png' }, '[image, image/png, 5 bytes: not shown here]'],
    [{ type: 'audio', data: PIXEL, mimeType: 'audio/wav' }, '[audio, audio/wav, 5 bytes: not shown here]'],
    [
      { type: 'resource', resource: { uri: 'a://b', blob: PIXEL } },
      '[resource a://b, 5 bytes: not shown here]',
    ],
    [
      { type: 'resource_link', uri: 'a://b', name: 'b', description: 'All of it.' },
      '[link to the resource b <a://b>: not followed] All of it.',
    ],
    [{ type: 7 }, '[1 block of unknown type that has no name was not shown]'],
    [{}, '[1 block of unknown type that has no name was not shown]'],
    [null, '[1 block of unknown type that has no name was not shown]'],
    [{ type: 'x\n\u202e' }, '[1 block of unknown type "x" was not shown]'],
  ])('says in one line what cannot be text: %j', async (block, expected) => {
    expect(await textFor({ content: [block] })).toBe(expected);
  });

  it('says when there is nothing', async () => {
    expect(await textFor({ content: [] })).toBe('(the tool returned nothing)');
  });

  it('is bounded, and says how much was cut off', async () => {
    const text = await textFor({ content: [{ type: 'text', text: 'x'.repeat(500) }] }, 100);
    expect(text).toBe(`${'x'.repeat(100)}\n[cut off here: 400 more characters were not shown]`);
    expect(bounded('😀😀', 3)).toBe('😀\n[cut off here: 2 more characters were not shown]');
    expect(bounded('abc', 3)).toBe('abc');
  });
});

describe('blocks of a result, for a client that takes objects alone as structured content', () => {
  const said = { type: 'text', text: '[1,2]' } as const;
  const other = { type: 'text', text: 'see there' } as const;

  it.each([
    ['a list', [other], [1, 2], [other, said]],
    ['a list that a text repeats', [said], [1, 2], [said]],
    ['an object beside text', [other], { n: 1 }, [other]],
    ['an object alone', [], { n: 1 }, [{ type: 'text', text: '{"n":1}' }]],
    ['nothing', [other], undefined, [other]],
  ])('say all that is in %s', (_what, content, structured, expected) => {
    expect(blocksOf({ isError: false, content, structured })).toEqual(expected);
  });
});

describe('files in a result', () => {
  const content: ContentBlock[] = [
    { type: 'text', text: 'see' },
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
    {
      type: 'resource',
      resource: { uri: 'file:///a/b/report.pdf?x#y', blob: PIXEL, mimeType: 'application/pdf' },
    },
    { type: 'resource', resource: { uri: 'note://1', text: 'hello' } },
    { type: 'audio', data: PIXEL, mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'blob://', blob: PIXEL } },
  ];

  it('come in order, with type and name', () => {
    expect(
      attachmentsOf(content).map(({ data, mimeType, fileName }) => [data.toString(), mimeType, fileName]),
    ).toEqual([
      ['pixel', 'image/png', undefined],
      ['pixel', 'application/pdf', 'report.pdf'],
      ['pixel', 'audio/wav', undefined],
      ['pixel', 'application/octet-stream', undefined],
    ]);
  });

  it('leave their place in an item, and everything else stays as it is', () => {
    let files = 0;
    const blocks = content.map((block) => blockForItem(block, () => `data_${String(files++)}`));
    expect(blocks).toEqual([
      content[0],
      { type: 'image', mimeType: 'image/png', binary: 'data_0' },
      {
        type: 'resource',
        resource: { uri: 'file:///a/b/report.pdf?x#y', mimeType: 'application/pdf' },
        binary: 'data_1',
      },
      content[3],
      { type: 'audio', mimeType: 'audio/wav', binary: 'data_2' },
      { type: 'resource', resource: { uri: 'blob://' }, binary: 'data_3' },
    ]);
    expect(files).toBe(attachmentsOf(content).length);
  });
});

describe('a structured result', () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

  it('that does not match the reviewed output schema is refused', async () => {
    const call = outcomeFor({ content: [], structuredContent: { n: 'five' } }, { outputSchema });
    expect((await refused(call)).code).toBe('upstream_unexpected_shape');
  });

  it.each([
    [{ content: [], structuredContent: { n: 5 } }],
    [{ content: [{ type: 'text', text: 'no structure' }] }],
    [{ isError: true, content: [], structuredContent: { reason: 'x' } }],
  ])('that matches, is absent, or tells of an error is passed on: %j', async (result) => {
    const { structured } = await outcomeFor(result, { outputSchema });
    expect(structured).toEqual((result as { structuredContent?: unknown }).structuredContent);
  });
});

describe('an answer that is no result', () => {
  it.each([
    [{ content: 'text' }],
    [{ content: [{ type: 'image' }] }],
    [{ structuredContent: 5, content: [] }],
  ])('is refused: %j', async (result) => {
    expect((await refused(outcomeFor(result))).code).toBe('upstream_unexpected_shape');
  });
});

it('what a resource holds is read as it is', async () => {
  const { server, identity } = await withResource();
  expect(await server.readResource(identity, 'note://1', going())).toMatchObject({
    contents: [{ uri: 'note://1', text: 'hello' }],
  });
});

it('a resource is not read of a server that calls itself otherwise since its session was lost', async () => {
  const { double, server, identity } = await withResource();
  await server.readResource(identity, 'note://1', going());
  double.serverInfo = { name: 'another', version: '1.0.0' };
  double.forgetSessions();
  expect((await refused(server.readResource(identity, 'note://2', going()))).code).toBe('server_drift');
  expect(
    double.asked('resources/read').filter(({ headers }) => headers['mcp-session-id'] !== 'session-1'),
  ).toEqual([]);
});

async function withResource() {
  const double = await harness.double({ sessions: true });
  double.on('resources/read', ({ params }) => ({ contents: [{ uri: params?.['uri'], text: 'hello' }] }));
  const { server } = harness.client(double.endpoint);
  return { double, server, identity: { name: 'double', origin: double.origin } };
}
