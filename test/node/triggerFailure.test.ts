import type { IWebhookFunctions } from 'n8n-workflow';
import { McpBearerServerTrigger } from '../../nodes/McpBearerServerTrigger/McpBearerServerTrigger.node';

describe('whatever fails inside the trigger', () => {
  test('is answered by the trigger and never by n8n, and the log holds its kind alone', async () => {
    const sent: unknown[] = [];
    const logged: string[] = [];
    const context = {
      getResponseObject: () => ({
        headersSent: false,
        destroyed: false,
        removeHeader: () => undefined,
        writeHead: (...args: unknown[]) => sent.push(args),
        end: (body: string) => sent.push(JSON.parse(body)),
      }),
      getRequestObject: () => {
        throw new TypeError('cannot read /srv/secret at host.internal');
      },
      getWorkflow: () => ({ id: 'workflow-1' }),
      getNode: () => ({ id: 'node-1' }),
      getWebhookName: () => 'default',
      logger: {
        info: (line: string) => logged.push(line),
        warn: (line: string) => logged.push(line),
      },
    };
    const outcome = await new McpBearerServerTrigger().webhook.call(context as unknown as IWebhookFunctions);
    expect(outcome).toEqual({ noWebhookResponse: true });
    expect(sent[0]).toMatchObject([500, { 'content-type': 'application/json' }]);
    expect(sent[1]).toMatchObject({ error: { data: { code: 'internal_error' } } });
    expect(JSON.stringify([sent, logged])).not.toMatch(/secret|host\.internal/);
    expect(logged).toEqual([
      expect.stringMatching(/^mcp_audit .*"code":"internal_error"/),
      expect.stringMatching(/^mcp_cause [0-9a-f-]{36} TypeError$/),
    ]);
  });
});
