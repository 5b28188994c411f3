import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { ensureHost } from '../hosts/install';
import { hosts } from '../support/hostsFixture';

/** Loads the installed trigger as the host does, and asks the host's own n8n-workflow how it would read its webhooks. */
const SCRIPT = `
  const [trigger] = process.argv.slice(1);
  const workflow = require('n8n-workflow');
  const { webhooks } = new (require(trigger).McpBearerServerTrigger)().description;
  const node = { parameters: { path: 'orders' } };
  console.log(JSON.stringify(webhooks.map((webhook) => ({
    native: workflow.webhookDescriptionIsNativelyResolvable?.(webhook) ?? null,
    path: workflow.resolveWebhookDescriptionField?.(node, webhook, 'path').value ?? webhook.path,
  }))));
`;

describe.each(hosts())('the webhooks of the trigger on n8n $version', (host) => {
  test('are resolved without the expression engine where the host can', async () => {
    const { dir, nodeBinary } = await ensureHost(host.version);
    const pack = join(host.userFolder, '.n8n', 'nodes', 'node_modules', 'n8n-nodes-mcp-curated');
    const trigger = join(pack, 'dist/nodes/McpBearerServerTrigger/McpBearerServerTrigger.node.js');
    const output = execFileSync(nodeBinary, ['-e', SCRIPT, trigger], {
      encoding: 'utf8',
      // Away from the checkout, whose own n8n-workflow would be found first.
      cwd: pack,
      env: { NODE_PATH: join(dir, 'node_modules') },
    });
    const isOld = host.version.startsWith('1.');
    const native = isOld ? null : true;
    const path = isOld ? '={{$parameter["path"]}}' : 'orders';
    expect(JSON.parse(output)).toEqual([
      { native, path },
      { native, path: `${path}/.well-known/oauth-protected-resource` },
    ]);
  });
});
