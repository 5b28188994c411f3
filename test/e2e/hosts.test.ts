import { hosts } from '../support/hostsFixture';

/** Proves the harness that every other end-to-end suite stands on. */
describe.each(hosts())('n8n $version', (host) => {
  it('answers the public API to the key that was made', async () => {
    await expect(host.api.get('/workflows?limit=1')).resolves.toMatchObject({
      data: expect.any(Array) as unknown[],
    });
  });

  it.each([
    ['no key', null],
    ['a wrong key', 'not-a-key'],
  ])('refuses the public API with %s', async (_name, key) => {
    const response = await host.api.request('GET', '/workflows', { key });
    expect(response.status).toBe(401);
  });

  it('knows the nodes of the packed pack under the names that templates use', async () => {
    await expect(host.nodeTypes()).resolves.toEqual(
      expect.arrayContaining([
        'n8n-nodes-mcp-curated.mcpReadTool',
        'n8n-nodes-mcp-curated.mcpBearerServerTrigger',
      ]),
    );
  });

  it('is the version that it says it is, and logs where a suite can read it', () => {
    expect(host.logs()).toContain(`Version: ${host.version}`);
  });

  it('keeps the key out of the log', () => {
    expect(host.logs()).not.toContain(host.apiKey);
  });
});
