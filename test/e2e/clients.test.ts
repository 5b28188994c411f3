import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { surfaceOf } from '../../core/contract/surface';
import { hosts } from '../support/hostsFixture';
import { inspectorCli } from '../support/inspector';
import { itKeepsTheLogClean } from '../support/logWatch';
import type { ListedTool, ToolResult } from '../support/mcpRequest';
import { newBearer, ownApi, publishContract, readContract, type TestSurface } from '../support/publish';

interface Connected {
  list(): Promise<ListedTool[]>;
  call(name: string, args: Record<string, string>): Promise<ToolResult>;
  /** What the client learned of the server at the beginning, where it tells. */
  server():
    { name: string | undefined; instructions: string | undefined; protocol: string | undefined } | undefined;
  close(): Promise<void>;
}

type Connect = (url: string, bearer: string) => Promise<Connected>;

const INFO = { name: 'e2e', version: '1.0.0' };
const initOf = (bearer: string) => ({ requestInit: { headers: { Authorization: `Bearer ${bearer}` } } });

const sdkV1: Connect = async (url, bearer) => {
  const client = new ClientV1(INFO);
  const transport = new TransportV1(new URL(url), initOf(bearer));
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools as unknown as ListedTool[],
    call: async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
    server: () => ({
      name: client.getServerVersion()?.name,
      instructions: client.getInstructions(),
      protocol: transport.protocolVersion,
    }),
    close: async () => {
      await client.close();
    },
  };
};

const sdkV2 =
  (mode: 'legacy' | 'auto' | { pin: string }): Connect =>
  async (url, bearer) => {
    const client = new ClientV2(INFO, { versionNegotiation: { mode } });
    await client.connect(new TransportV2(new URL(url), initOf(bearer)));
    return {
      list: async () => (await client.listTools()).tools as unknown as ListedTool[],
      call: async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
      server: () => ({
        name: client.getServerVersion()?.name,
        instructions: client.getInstructions(),
        protocol: client.getNegotiatedProtocolVersion(),
      }),
      close: async () => {
        await client.close();
      },
    };
  };

const inspector =
  (protocolEra: 'legacy' | 'modern'): Connect =>
  async (url, bearer) => {
    const config = { url, protocolEra, headers: { Authorization: `Bearer ${bearer}` } };
    const run = async (args: string[]) => {
      const { exitCode, json, error, stderr } = await inspectorCli(args, { config });
      if (exitCode !== 0 || json === undefined) {
        throw Object.assign(new Error(error?.message ?? stderr), { code: error?.status ?? error?.code });
      }
      return (json as { result?: unknown }).result ?? json;
    };
    return await Promise.resolve({
      list: async () => ((await run(['--method', 'tools/list'])) as { tools: ListedTool[] }).tools,
      call: async (name, args) => {
        const given = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
        return (await run(['--method', 'tools/call', '--tool-name', name, ...given])) as ToolResult;
      },
      server: () => undefined,
      close: () => Promise.resolve(),
    });
  };

const CLIENTS: { client: string; connect: Connect; protocol: string }[] = [
  { client: 'SDK v1', connect: sdkV1, protocol: '2025-11-25' },
  { client: 'SDK v2 as a 2025-era client', connect: sdkV2('legacy'), protocol: '2025-11-25' },
  { client: 'SDK v2 pinned to 2026-07-28', connect: sdkV2({ pin: '2026-07-28' }), protocol: '2026-07-28' },
  { client: 'SDK v2 negotiating', connect: sdkV2('auto'), protocol: '2026-07-28' },
  { client: 'Inspector CLI', connect: inspector('legacy'), protocol: '' },
  { client: 'Inspector CLI in the 2026 era', connect: inspector('modern'), protocol: '' },
];

describe.each(hosts())('real clients on n8n $version', (host) => {
  let surface: TestSurface;
  const wrong = newBearer();

  beforeAll(async () => {
    surface = await publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'clients',
      upstream: ownApi(host),
    });
  });
  afterAll(async () => {
    await surface.remove();
  });

  describe.each(CLIENTS)('$client', ({ connect, protocol }) => {
    let connected: Connected;
    beforeAll(async () => {
      connected = await connect(surface.url, surface.bearer);
    });
    afterAll(async () => {
      await connected.close();
    });

    it('learns who answers, in the newest protocol revision that both speak', async () => {
      const contract = await readContract('web-app-n8n');
      const server = connected.server();
      if (server) {
        expect(server).toEqual({ name: 'web-app-n8n', instructions: contract.instructions.trim(), protocol });
      }
    });

    it('lists exactly the three tools of the contract, with all that a model can see of them', async () => {
      const { tools } = surfaceOf(await readContract('web-app-n8n'));
      const listed = await connected.list();
      expect(listed.map(({ name }) => name)).toEqual([
        'n8n_list_workflows',
        'n8n_get_workflow_summary',
        'n8n_list_executions',
      ]);
      for (const [index, { descriptor }] of tools.entries()) expect(listed[index]).toMatchObject(descriptor);
    });

    it('finds the managed workflow, and learns nothing of parameters and credentials', async () => {
      const [list, summary] = await Promise.all([
        connected.call('n8n_list_workflows', { name: surface.workflowName }),
        connected.call('n8n_get_workflow_summary', { workflow_id: surface.workflowId }),
      ]);
      expect(list.structuredContent).toMatchObject({
        items: [{ id: surface.workflowId, name: surface.workflowName, active: true }],
        returned: 1,
        truncated: false,
        next: null,
      });
      const structured = summary.structuredContent as { nodes: Record<string, unknown>[] };
      expect(structured.nodes).toHaveLength(5);
      for (const node of structured.nodes) {
        expect(Object.keys(node).filter((key) => key !== 'disabled')).toEqual([
          'name',
          'type',
          'typeVersion',
        ]);
      }
      const shown = JSON.stringify([list, summary]);
      for (const hidden of [
        '"parameters',
        '"credentials',
        'contract_sha256',
        'mcpConsumersApi',
        'webhookId',
      ]) {
        expect(shown).not.toContain(hidden);
      }
    });

    it('is refused with 401 under a wrong bearer', async () => {
      const attempt = async () => {
        const stranger = await connect(surface.url, wrong);
        await stranger.list().finally(async () => {
          await stranger.close();
        });
      };
      await expect(attempt()).rejects.toThrow(/401|[Uu]nauthorized|bearer is not known/);
    });
  });

  itKeepsTheLogClean(host, () => [surface.bearer, wrong]);
});
