import { askedOf, templateFaults, type TemplateNode } from '../../../core/contract/templateCheck';

const http = (name: string, parameters: Record<string, unknown>): TemplateNode => ({
  name,
  type: 'n8n-nodes-base.httpRequestTool',
  parameters,
});
const query = (...parameters: { name: string; value: string }[]) => ({ queryParameters: { parameters } });

describe('the check of templates of n8n’s own nodes', () => {
  it('lets a fixed GET pass whose values a model fills', () => {
    const node = http('list_lines', {
      method: 'GET',
      url: '{base_url}/api/lines',
      ...query(
        { name: 'order', value: "={{ $fromAI('order','order number','string') }}" },
        {
          name: 'page',
          value: "={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('page', `page number`, 'number') }}",
        },
      ),
    });
    expect(templateFaults([node])).toEqual([]);
    expect([...askedOf(node).values()]).toEqual([
      { key: 'order', description: 'order number', type: 'string' },
      { key: 'page', description: 'page number', type: 'number' },
    ]);
  });

  it('C123: refuses a statement that a model writes', () => {
    const node = {
      name: 'query_orders',
      type: 'n8n-nodes-base.postgresTool',
      parameters: { operation: 'executeQuery', query: "={{ $fromAI('sql') }}" },
    };
    expect(templateFaults([node]).join('\n')).toMatch(/query_orders: .*bound values only, never a statement/);
  });

  it('C125: names every node whose method or address a model chooses, or that writes', () => {
    const faults = templateFaults([
      http('Call ERP', { method: "={{ $fromAI('method') }}", url: "={{ $fromAI('url') }}" }),
      http('Touch', { method: 'POST', url: 'https://erp.example.test/api/orders' }),
    ]);
    expect(faults).toContain('Call ERP: the method must be fixed');
    expect(faults).toContainEqual(expect.stringMatching(/^Call ERP: the address must be fixed/));
    expect(faults).toContainEqual(expect.stringMatching(/^Touch: the method must be GET or HEAD/));
  });

  it('C125: lets a POST pass that was reviewed as a search', () => {
    const node = http('Search', { method: 'POST', url: 'https://erp.example.test/api/search' });
    expect(templateFaults([node], 'The handler only reads: orders/search.ts')).toEqual([]);
  });

  it('C127: refuses one key with two meanings and names node and key; the same twice is allowed', () => {
    const field = (type: string, about: string) => `={{ $fromAI('Field_Value','${about}','${type}') }}`;
    const twice = (first: string, second: string) =>
      http('find_gift', {
        url: 'https://erp.example.test/gifts',
        ...query({ name: 'a', value: first }, { name: 'b', value: second }),
      });
    expect(templateFaults([twice(field('string', 'age group'), field('number', 'max price'))])).toEqual([
      'find_gift: the key Field_Value is used twice with different meanings',
    ]);
    expect(templateFaults([twice(field('string', 'age group'), field('string', 'age group'))])).toEqual([]);
  });

  it.each([
    ['an address that begins with a value', "={{ $fromAI('host') }}/api"],
    ['a host with a value in it', "=https://{{ encodeURIComponent($fromAI('host')) }}.example.test/"],
    ['a value that is not encoded', "={base_url}/rooms/{{ $fromAI('room') }}"],
    ['an address by expression', '={{ $json.url }}'],
    ['plain HTTP', 'http://erp.example.test/api'],
    ['a query in the address', 'https://erp.example.test/api?admin=1'],
    ['a user in the address', 'https://root:pw@erp.example.test/api'],
    ['no address', ''],
  ])('refuses %s', (_what, url) => {
    expect(templateFaults([http('tool', { url })])).toContainEqual(
      expect.stringMatching(/address must be fixed/),
    );
  });

  it('lets one encoded value stand in the path', () => {
    const url =
      "={base_url}/v1/rooms/{{ encodeURIComponent($fromAI('room_id', 'Id of the room', 'string')) }}/assets";
    expect(templateFaults([http('tool', { url })])).toEqual([]);
  });

  it.each([
    ['a header', { headerParameters: { parameters: [{ name: 'x-user', value: "={{ $fromAI('user') }}" }] } }],
    ['a free body', { jsonBody: "={{ $fromAI('body') }}" }],
    [
      'the name of a parameter',
      { queryParameters: { parameters: [{ name: "={{ $fromAI('n') }}", value: 'x' }] } },
    ],
    ['code around a value', query({ name: 'a', value: "={{ $fromAI('a') + $env.SECRET }}" })],
    ['workflow data', query({ name: 'a', value: '={{ $json.a }}' })],
  ])('refuses an expression in %s', (_what, parameters) => {
    const faults = templateFaults([http('tool', { url: 'https://erp.example.test/api', ...parameters })]);
    expect(faults).toContainEqual(expect.stringMatching(/^tool: .* must be fixed text/));
  });

  it.each([
    'n8n-nodes-base.executeCommand',
    '@n8n/n8n-nodes-langchain.toolCode',
    '@n8n/n8n-nodes-langchain.mcpClientTool',
    'n8n-nodes-acme.anything',
  ])('refuses a node that nobody has reviewed: %s', (type) => {
    expect(templateFaults([{ name: 'tool', type, parameters: {} }])).toEqual([
      `tool: nodes of type ${type} are not reviewed for templates`,
    ]);
  });
});
