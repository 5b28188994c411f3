import { attribute } from '../../bench/server/profile';
import type { CpuProfile } from '../../support/nodeInspector';

const frame = (id: number, functionName: string, url: string, children: number[] = []) => ({
  id,
  callFrame: { functionName, url },
  children,
});

/** n8n calls us, we call Node, and we call n8n, which calls a package of its own. */
const profile: CpuProfile = {
  nodes: [
    frame(1, '(root)', '', [2, 7, 8]),
    frame(2, 'executeWebhook', 'file:///host/node_modules/n8n/dist/webhooks.js', [3]),
    frame(3, 'serve', 'file:///home/.n8n/nodes/node_modules/n8n-nodes-mcp-curated/dist/trigger.js', [4, 5]),
    frame(4, 'update', 'node:internal/crypto/hash'),
    frame(5, 'getCredentials', 'file:///host/node_modules/n8n-core/dist/context.js', [6]),
    frame(6, 'query', 'file:///host/node_modules/@n8n/typeorm/driver.js'),
    frame(7, '(idle)', ''),
    frame(8, '(garbage collector)', ''),
  ],
  samples: [2, 3, 4, 5, 6, 7, 8],
  timeDeltas: [10, 10, 10, 10, 10, 1_000, 50],
};

describe('whose code the CPU time of a host went to', () => {
  const { owners, ours } = attribute(profile);
  const shareOf = (wanted: string) => owners.find(({ owner }) => owner === wanted)?.share;

  it('counts what Node does for us as ours, and what n8n does for us as theirs', () => {
    expect(shareOf('ours')).toBeCloseTo(0.2);
    expect(ours).toEqual([{ name: 'serve', share: expect.closeTo(0.2) as number }]);
    expect([shareOf('n8n'), shareOf('n8n-core'), shareOf('@n8n/typeorm')]).toEqual([0.1, 0.1, 0.1]);
  });

  it('leaves idle time out', () => {
    expect(shareOf('garbage collection')).toBeCloseTo(0.5);
    expect(owners.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });
});
