import { type Host, startHost } from '../hosts/host';
import { hosts, packedTarball } from '../support/hostsFixture';
import { faultsIn } from '../support/logWatch';
import { callTool, codeOf, rpc } from '../support/mcpRequest';
import { ownApi, publishContract, untilServed } from '../support/publish';

/** With hosts of its own, since the others are shared by all suites. */
describe('a restart', () => {
  const versions = hosts().map(({ version }) => version);
  let started: Host[] = [];
  beforeAll(async () => {
    const tarball = packedTarball();
    const results = await Promise.allSettled(
      versions.map(async (version) => await startHost({ version, tarball, onProgress: () => undefined })),
    );
    started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(started).toHaveLength(versions.length);
  });
  afterAll(async () => {
    await Promise.all(
      started.map(async (host) => {
        await host.stop();
      }),
    );
  });

  it('loses nothing: the same surface answers the same bearer, and a session id of before is ignored (C057)', async () => {
    await Promise.all(
      started.map(async (host) => {
        const surface = await publishContract(host, {
          applicationId: 'web-app-n8n',
          slug: 'restart',
          upstream: ownApi(host),
        });
        const before = await rpc(surface, 'tools/list');
        await host.restart();
        await untilServed(surface);
        const after = await rpc(surface, 'tools/list', undefined, {
          headers: [['Mcp-Session-Id', 'of-before']],
        });
        expect([after.status, after.text]).toEqual([200, before.text]);
        expect(codeOf(await callTool(surface, 'n8n_list_workflows'))).toBe('ok');
        expect(faultsIn(host.logs())).toEqual([]);
        expect(host.logs()).not.toContain(surface.bearer);
      }),
    );
  });
});
