import { parse } from 'yaml';
import { serverAccess } from '../../../core/client/access';
import { parseAllowlist } from '../../../core/client/allowlist';
import { ListingCache } from '../../../core/client/listingCache';
import { ToolServer } from '../../../core/client/toolServer';
import { makeBearer } from '../../../core/server/bearer';
import { Operator, OWNER } from './harness';

let operator: Operator;
beforeEach(async () => {
  operator = await Operator.start('2.41.1');
  operator.draft.n8n['public_address'] = 'https://n8n.example.com/';
});
afterEach(async () => {
  await operator.stop();
});

const applied = async () => {
  expect(await operator.run('apply')).toMatchObject({ code: 0 });
};

describe('configurations', () => {
  /** One consumer for each client, with its bearer in the environment. */
  const CLIENTS = {
    'open-webui': 'web-app-openwebui',
    flowise: 'web-app-flowise',
    claude: 'client-claude',
    cursor: 'client-cursor',
    openclaw: 'web-app-openclaw',
    hermes: 'web-app-hermes',
    n8n: 'web-app-n8n',
    json: 'client-inspector',
  };
  const variableOf = (id: string) => `${id.toUpperCase().replaceAll('-', '_')}_TOKEN`;

  beforeEach(async () => {
    for (const surface of operator.draft.surfaces) surface['consumers'] = Object.values(CLIENTS);
    operator.draft.consumers = Object.values(CLIENTS).map((id) => {
      const { token } = makeBearer();
      operator.secrets.push(token);
      process.env[variableOf(id)] = token;
      return { id, token: `env:${variableOf(id)}` };
    });
    await applied();
  });
  afterEach(() => {
    for (const id of Object.values(CLIENTS)) Reflect.deleteProperty(process.env, variableOf(id));
  });

  const rendered = async (format: keyof typeof CLIENTS, ...args: string[]) =>
    await operator.run('discover', '--format', format, ...args);
  const url = 'https://n8n.example.com/mcp/web-app-n8n';
  const tools = ['n8n_list_workflows', 'n8n_get_workflow_summary', 'n8n_list_executions'];

  test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])(
    'for %s hold a reference, and with --reveal the bearer of that one consumer',
    async (format) => {
      const variable = variableOf(CLIENTS[format]);
      const plain = await rendered(format);
      expect(plain.code).toBe(0);
      expect(plain.stdout).toMatch(new RegExp(`\\$\\{(?:env:)?${variable}\\}`));
      for (const secret of operator.secrets) expect(plain.stdout + plain.stderr).not.toContain(secret);
      const json = await operator.json('discover', '--format', format);
      for (const secret of operator.secrets) expect(JSON.stringify(json)).not.toContain(secret);

      const revealed = await rendered(format, '--reveal', '--consumer', CLIENTS[format]);
      const shown = operator.secrets.filter((secret) => revealed.stdout.includes(secret));
      expect(shown).toEqual([process.env[variable]]);
      expect(revealed.stderr).toBe('');
    },
  );

  test('Open WebUI: one connection for each surface, granted to the group of that surface only', async () => {
    const { stdout, stderr } = await rendered('open-webui');
    const { TOOL_SERVER_CONNECTIONS: connections } = JSON.parse(stdout) as {
      TOOL_SERVER_CONNECTIONS: object[];
    };
    expect(connections).toHaveLength(2);
    expect(connections[0]).toEqual({
      type: 'mcp',
      url,
      path: '',
      auth_type: 'bearer',
      headers: null,
      key: '${env:WEB_APP_OPENWEBUI_TOKEN}',
      config: {
        enable: true,
        function_name_filter_list: tools.join(','),
        access_grants: [
          { principal_type: 'group', principal_id: '${group:roles/web-app-n8n/mcp}', permission: 'read' },
        ],
      },
      info: { id: 'web-app-n8n', name: 'n8n', description: expect.stringContaining('Read-only') as string },
    });
    expect(stderr).toContain('does not resolve ${env:WEB_APP_OPENWEBUI_TOKEN}');
  });

  test('Flowise: the entry that its registry takes, marked as managed, and the tools that it must show', async () => {
    const { custom_mcp_servers: entries } = JSON.parse((await rendered('flowise')).stdout) as {
      custom_mcp_servers: object[];
    };
    expect(entries[0]).toEqual({
      entry: {
        name: `${OWNER}:web-app-n8n`,
        serverUrl: url,
        authType: 'CUSTOM_HEADERS',
        authConfig: { headers: { Authorization: 'Bearer ${env:WEB_APP_FLOWISE_TOKEN}' } },
      },
      expected_tools: tools,
    });
  });

  test('Claude and Cursor: mcpServers, each with the reference that it resolves', async () => {
    const claude = await rendered('claude');
    expect(JSON.parse(claude.stdout)).toMatchObject({
      mcpServers: {
        'web-app-n8n': { type: 'http', url, headers: { Authorization: 'Bearer ${CLIENT_CLAUDE_TOKEN}' } },
      },
    });
    const cursor = await rendered('cursor');
    expect(JSON.parse(cursor.stdout)).toMatchObject({
      mcpServers: { 'web-app-n8n': { url, headers: { Authorization: 'Bearer ${env:CLIENT_CURSOR_TOKEN}' } } },
    });
    expect(claude.stderr + cursor.stderr).toBe('');
  });

  test('OpenClaw and Hermes: the exact tools are their filter', async () => {
    const openClaw = await rendered('openclaw');
    expect(JSON.parse(openClaw.stdout)).toMatchObject({
      mcp: {
        servers: {
          'web-app-n8n': {
            url,
            transport: 'streamable-http',
            headers: { Authorization: 'Bearer ${WEB_APP_OPENCLAW_TOKEN}' },
            toolFilter: { include: tools },
          },
        },
      },
    });
    const hermes = await rendered('hermes');
    expect(parse(hermes.stdout)).toMatchObject({
      mcp_servers: {
        'web-app-n8n': {
          url,
          headers: { Authorization: 'Bearer ${env:WEB_APP_HERMES_TOKEN}' },
          tools: { include: tools, resources: false, prompts: false },
        },
      },
    });
    expect(openClaw.stderr + hermes.stderr).toBe('');
  });

  test('OpenClaw substitutes upper-case names only, and that is said', async () => {
    process.env['openclaw_token'] = process.env[variableOf('web-app-openclaw')];
    const consumer = operator.draft.consumers.find(({ id }) => id === 'web-app-openclaw');
    Object.assign(consumer ?? {}, { token: 'env:openclaw_token' });
    const { stdout, stderr } = await rendered('openclaw');
    Reflect.deleteProperty(process.env, 'openclaw_token');
    expect(stdout).toContain('Bearer ${env:openclaw_token}');
    expect(stderr).toContain('does not resolve ${env:openclaw_token}');
  });

  test('n8n: a credential, the server and the pins, with which our own client connects', async () => {
    Reflect.deleteProperty(operator.draft.n8n, 'public_address');
    const { stdout } = await rendered('n8n', '--reveal');
    const { clients } = JSON.parse(stdout) as {
      clients: {
        credential: { name: string; type: string; data: Parameters<typeof serverAccess>[0] };
        server: string;
        tools: string[];
        catalogue_pin: string;
      }[];
    };
    const [client] = clients;
    if (!client) throw new Error('nothing was rendered');
    expect(client.credential).toMatchObject({ name: `${OWNER}:web-app-n8n`, type: 'mcpAllowlistClientApi' });
    const settings = { timeoutSeconds: 5, responseBytes: 1e6, listAgeSeconds: 0, compareEveryCall: false };
    const log = { warn: () => undefined, debug: () => undefined };
    const server = new ToolServer(serverAccess(client.credential.data), settings, log, new ListingCache());
    const { server: pinned, tools: pins, catalogue_pin: catalogue } = client;
    const allowlist = parseAllowlist({ server: pinned, tools: pins, catalogue });
    const { usable, blocked } = await server.verified(allowlist, new AbortController().signal);
    await server.close();
    expect(blocked).toEqual([]);
    expect(usable.map(({ descriptor }) => descriptor.name).sort()).toEqual([...tools].sort());
  });

  test('plain JSON: every accepted pair of every consumer', async () => {
    const { connections } = JSON.parse((await rendered('json')).stdout) as {
      connections: { consumer: string }[];
    };
    expect(connections).toHaveLength(2 * Object.keys(CLIENTS).length);
    expect(connections[0]).toMatchObject({
      name: `${OWNER}:web-app-n8n`,
      transport: 'streamable_http',
      url,
      server: 'web-app-n8n@https://n8n.example.com',
    });
  });

  test('leave out what was rejected, and say so on stderr', async () => {
    operator.draft.surfaces[1] = { ...operator.draft.surfaces[1], enabled: true };
    const { served } = operator.n8n.store;
    served.delete('web-app-prometheus');
    const { code, stdout, stderr } = await rendered('cursor');
    expect(code).toBe(0);
    expect(Object.keys((JSON.parse(stdout) as { mcpServers: object }).mcpServers)).toEqual(['web-app-n8n']);
    expect(stderr).toContain('web-app-prometheus -> client-cursor: rejected: endpoint_unreachable: ');
    expect((await rendered('cursor', '--strict')).code).toBe(1);
  });

  test('a secret in a file is shown as such, for whoever deploys to put it there', async () => {
    const consumer = operator.draft.consumers.find(({ id }) => id === 'client-cursor');
    Object.assign(consumer ?? {}, { token: `file:${operator.secret('web-app-n8n.cursor')}` });
    const { stdout, stderr } = await rendered('cursor');
    expect(stdout).toContain('Bearer ${file:web-app-n8n.cursor}');
    expect(stdout).not.toContain(operator.folder);
    expect(stderr).toContain('does not resolve ${file:web-app-n8n.cursor}');
  });

  test.each([
    ['--reveal without a format', ['--reveal'], 'reveal_without_format'],
    ['a consumer that nobody knows', ['--consumer', 'client-nobody'], 'consumer_unknown'],
    [
      'two consumers for one client',
      ['--format', 'cursor', '--consumer', 'client-cursor', 'client-claude'],
      'consumer_ambiguous',
    ],
  ])('%s is refused', async (_what, args, code) => {
    await expect(operator.run('discover', ...args)).rejects.toMatchObject({ code });
  });

  test('a format whose consumer the file does not have is refused with what there is', async () => {
    operator.draft.consumers = operator.draft.consumers.filter(({ id }) => id === 'client-claude');
    for (const surface of operator.draft.surfaces) surface['consumers'] = ['client-claude'];
    await expect(rendered('cursor')).rejects.toMatchObject({
      code: 'consumer_unknown',
      message: expect.stringContaining('Consumers: client-claude.') as string,
    });
  });
});
