import { langchainTool } from '../../nodes/shared/langchainTool';

// The layout of n8n's Docker image on 1.x: a community package cannot resolve the host's LangChain.
jest.mock('node:module', () => ({
  createRequire: () => () => {
    throw new Error("Cannot find module '@langchain/core/tools'");
  },
}));

const descriptor = {
  name: 'find_order',
  description: 'Finds an order.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' } },
    required: ['id'],
    additionalProperties: false,
  },
};

describe('a tool on a host whose LangChain cannot be resolved', () => {
  const tool = langchainTool(descriptor, (args) => Promise.resolve(JSON.stringify(args)));

  test('works with the bundled class', async () => {
    expect([tool.name, tool.description, tool.schema]).toEqual([
      'find_order',
      'Finds an order.',
      descriptor.inputSchema,
    ]);
    expect(await tool.invoke({ id: 'A1' })).toBe('{"id":"A1"}');
  });

  test.each([
    ['alone', { id: 5 }],
    ['in a tool call', { type: 'tool_call', id: 'call_1', name: 'find_order', args: { id: 5 } }],
  ])('hands arguments that do not fit to its own validation: %s', async (_form, input) => {
    expect(await tool.invoke(input)).toBe('{"id":5}');
  });

  test('does not hide what goes wrong otherwise', async () => {
    const broken = langchainTool(descriptor, () => Promise.reject(new Error('a defect')));
    await expect(broken.invoke({ id: 'A1' })).rejects.toThrow('a defect');
  });
});
