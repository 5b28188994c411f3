import type { IHookFunctions, Workflow } from 'n8n-workflow';
import { hostCredential } from '../../nodes/McpBearerServerTrigger/hostCredential';
import { bench, hookContext, node, TRIGGER } from './contexts';

const STORED = { consumersJson: '[]' };

describe('the credential of the trigger', () => {
  const on = () =>
    bench([node('Trigger', TRIGGER, { path: 'test' }, { mcpConsumersApi: 'consumers' })], {
      consumers: STORED,
    });

  it('is resolved in the workflow of the request, which has its isolate already, and sees nothing of the request', async () => {
    const asked: { workflow: Workflow; connectionInputData: unknown[] }[] = [];
    const workbench = on();
    const { credentialsHelper } = workbench.additionalData;
    const original = credentialsHelper.getDecrypted.bind(credentialsHelper);
    credentialsHelper.getDecrypted = async (...args: Parameters<typeof original>) => {
      asked.push(args[6] as (typeof asked)[number]);
      return await original(...args);
    };
    const context = hookContext(workbench, 'Trigger') as unknown as IHookFunctions;
    expect(await hostCredential(context, 'mcpConsumersApi')).toEqual(STORED);
    expect(asked.map(({ workflow }) => workflow === workbench.workflow)).toEqual([true]);
    expect(asked[0]?.connectionInputData).toEqual([]);
  });

  it('is asked for the published way where a host has no other', async () => {
    const context = { getCredentials: () => Promise.resolve(STORED) } as unknown as IHookFunctions;
    expect(await hostCredential(context, 'mcpConsumersApi')).toEqual(STORED);
  });

  it('fails as n8n fails when the node has none of that type', async () => {
    await expect(
      hostCredential(hookContext(on(), 'Trigger') as unknown as IHookFunctions, 'mcpUpstreamApi'),
    ).rejects.toThrow(/mcpUpstreamApi/);
  });
});
