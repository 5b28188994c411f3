import { contentOf } from '../../nodes/McpBearerServerTrigger/nativeContent';

const data = Buffer.from('picture').toString('base64');

describe('what a native tool gives back', () => {
  test('keeps blocks of MCP as they are: text, image, audio, embedded resource and link', () => {
    const blocks = [
      { type: 'text', text: 'said' },
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'audio', data, mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'a://b', mimeType: 'text/plain', text: 'inside' } },
      { type: 'resource', resource: { uri: 'a://b', mimeType: 'image/png', blob: data } },
      { type: 'resource_link', uri: 'a://b', name: 'linked' },
    ];
    expect(contentOf(blocks)).toEqual({ content: blocks });
    expect(contentOf({ content: blocks, structuredContent: { a: 1 } })).toEqual({
      content: blocks,
      structuredContent: { a: 1 },
    });
  });

  test.each([
    [
      'an image as a data URL',
      { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
      'image',
    ],
    ['the same, written shorter', { type: 'image_url', image_url: `data:image/png;base64,${data}` }, 'image'],
    ['an image as base64', { type: 'image', source_type: 'base64', mime_type: 'image/png', data }, 'image'],
    ['a sound as base64', { type: 'audio', source_type: 'base64', mime_type: 'audio/wav', data }, 'audio'],
  ])('shows %s of LangChain as MCP content', (_what, block, type) => {
    expect(contentOf([{ type: 'text', text: 'see' }, block])).toMatchObject({
      content: [{ type: 'text' }, { type, data }],
    });
  });

  test.each([
    ['text', 'just text'],
    ['a number', 7],
    ['nothing', undefined],
    ['an empty list', []],
    ['rows', [{ id: 1 }, { id: 2 }]],
    ['rows that have a type', [{ type: 'order', id: 1 }]],
    ['a row among blocks', [{ type: 'text', text: 'a' }, { id: 1 }]],
    ['an image that has no data', [{ type: 'image', mimeType: 'image/png' }]],
    [
      'an image elsewhere, which would have to be fetched',
      [{ type: 'image_url', image_url: 'https://a.test/b.png' }],
    ],
    ['a record with a field of that name', { content: 'text', id: 1 }],
  ])('is data and no content when it is %s', (_what, output) => {
    expect(contentOf(output)).toBeUndefined();
  });
});
