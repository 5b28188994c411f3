import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../support/runCli';

describe('mcp-curated new-adapter', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-adapter-'));
  const file = path.join(folder, 'web-app-shop', 'contract.yml');
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const scaffold = async (id: string, ...operations: string[]) =>
    await runCli(
      'new-adapter',
      id,
      ...['--workflows', folder, '--name', 'Shop', '--app-version', '2.1.0'],
      ...['--source', 'https://github.com/acme/shop/tree/v2.1.0'],
      ...['--operation', ...operations],
    );

  test('writes a contract in which lint finds nothing but what a person has to decide', async () => {
    const done = await scaffold(
      'web-app-shop',
      'shop_list_orders=GET /api/orders?per_page&page&orderState',
      'shop_get_order=GET /api/orders/{order_id}',
    );
    expect(done).toMatchObject({ code: 0 });
    expect(done.stdout.split('\n')[0]).toMatch(/^written: .*web-app-shop\/contract\.yml$/);
    const { code, stderr } = await runCli('render', '--pin', '--workflows', folder, '--only', 'web-app-shop');
    expect(code).toBe(1);
    const reasons = stderr.trim().split('\n');
    expect(reasons.length).toBeGreaterThan(3);
    for (const reason of reasons) expect(reason).toMatch(/contract\.yml:\d+ \S+: still says TODO$/);
  });

  test('is rendered as soon as every TODO is replaced', async () => {
    const text = readFileSync(file, 'utf8')
      .replace(
        /"?TODO: which dedicated[^\n]*/,
        'A user of its own with the role reader; upstream cannot limit fields.',
      )
      .replace(
        /"?TODO: what it returns[^\n]*/g,
        'Returns orders with id and name. Use it to find an order; 25 per call.',
      )
      .replace(/"?TODO: what [^\n]*/g, 'What this is, in words of the application.')
      .replace(/: "?TODO"?$/gm, ': Name');
    writeFileSync(file, text.replace(/_sha256: Name/g, '_sha256: TODO'));
    const { code, stdout, stderr } = await runCli(
      'render',
      '--pin',
      '--workflows',
      folder,
      '--only',
      'web-app-shop',
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('workflow.json');
    const { definition } =
      (
        JSON.parse(readFileSync(path.join(folder, 'web-app-shop', 'workflow.json'), 'utf8')) as {
          nodes: { parameters: { definition?: string } }[];
        }
      ).nodes[2]?.parameters ?? {};
    expect(JSON.parse(definition ?? '{}')).toMatchObject({
      operation: {
        name: 'shop_list_orders',
        request: {
          arguments: {
            limit: { in: 'query', as: 'per_page' },
            page: { in: 'query', as: 'page' },
            order_state: { in: 'query', as: 'orderState' },
          },
        },
        pagination: { style: 'page', size_argument: 'limit', position_argument: 'page' },
      },
    });
  });

  test.each([
    ['an application that is there already', 'web-app-shop', 'shop_list=GET /orders', /is there already/],
    ['a name that is no application id', 'Web_App', 'shop_list=GET /orders', /is no application id/],
    ['a write', 'web-app-other', 'shop_make=POST /orders', /is no operation such as/],
    ['a name that is no tool', 'web-app-other', 'List=GET /orders', /is no operation such as/],
    ['another host', 'web-app-other', 'shop_list=GET https://evil.test/', /is no operation such as/],
  ])('refuses %s and writes nothing', async (_what, id, operation, message) => {
    await expect(scaffold(id, operation)).rejects.toThrow(message);
    expect(existsSync(path.join(folder, 'web-app-other'))).toBe(false);
  });
});
