import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { NODE_TYPES, type RenderedWorkflow } from '../../core/contract/render';
import { removeWorkflow } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, listTools, rpc } from '../support/mcpRequest';
import { nodeTypeDescriptions } from '../support/nodeTypeDescriptions';
import { grantsOf, ownApi, untilServed } from '../support/publish';

/** The checked-in files, as a person imports them; their paths are used by nobody else. */
const IMPORTS = ['web-app-prometheus', 'web-app-n8n'];
const SETTABLE = new Set<string>([NODE_TYPES.trigger, NODE_TYPES.readTool]);

const read = (applicationId: string) =>
  JSON.parse(
    readFileSync(join(__dirname, '..', '..', 'workflows', applicationId, 'workflow.json'), 'utf8'),
  ) as RenderedWorkflow;

describe.each(hosts())('importing by hand on n8n $version', (host) => {
  const ids: string[] = [];
  const bearers: string[] = [];
  afterAll(async () => {
    await Promise.all(
      ids.map(async (id) => {
        await removeWorkflow(host, id);
      }),
    );
  });
  const create = async ({ name, nodes, connections, settings }: RenderedWorkflow) => {
    const workflow = await host.api.post<RenderedWorkflow & { id: string }>('/workflows', {
      name,
      nodes,
      connections,
      settings,
    });
    ids.push(workflow.id);
    return workflow;
  };

  it.each(IMPORTS)(
    'takes workflows/%s/workflow.json unchanged, and only credentials are missing',
    async (id) => {
      const file = read(id);
      const workflow = await create(file);
      const stored = await host.api.get<RenderedWorkflow>(`/workflows/${workflow.id}`);
      expect(stored.nodes).toEqual(
        file.nodes.map((node) => expect.objectContaining({ parameters: node.parameters }) as object),
      );
      expect(stored.connections).toEqual(file.connections);

      const types = await nodeTypeDescriptions(host);
      const missing = stored.nodes.flatMap((node) => {
        const type = types.find(
          ({ name, version }) => name === node.type && [version].flat().includes(node.typeVersion),
        );
        expect([node.name, type?.name]).toEqual([node.name, node.type]);
        const properties = type?.properties ?? [];
        // What a node does not say is what its property starts with.
        const isShown = (options: { show?: Record<string, unknown[]> } = {}) =>
          Object.entries(options.show ?? {}).every(([other, values]) =>
            values.includes(node.parameters[other] ?? properties.find(({ name }) => name === other)?.default),
          );
        for (const { name, required, displayOptions } of properties) {
          if (required && isShown(displayOptions) && SETTABLE.has(node.type))
            expect(node.parameters[name]).toBeTruthy();
        }
        return (type?.credentials ?? [])
          .filter(
            ({ name, required, displayOptions }) =>
              required && isShown(displayOptions) && node.credentials?.[name] === undefined,
          )
          .map(({ name }) => name);
      });
      const tools = stored.nodes.filter(({ type }) => type === NODE_TYPES.readTool).length;
      expect(missing.filter((name) => name === 'mcpConsumersApi')).toHaveLength(1);
      expect(missing.filter((name) => name === 'mcpUpstreamApi')).toHaveLength(tools);
      expect(missing).toHaveLength(tools + 1);
    },
  );

  it('does not serve before the credentials are chosen', async () => {
    const workflow = await create({ ...read('web-app-prometheus'), name: 'e2e-import-open' });
    const { status } = await host.api.request('POST', `/workflows/${workflow.id}/activate`);
    expect(status).toBe(400);
    const answer = await rpc(
      { url: host.mcpUrl('web-app-prometheus'), bearer: 'x'.repeat(43) },
      'tools/list',
    );
    expect([401, 404, 503]).toContain(answer.status);
  });

  it('serves after nothing but the two credentials was chosen', async () => {
    const file = read('web-app-n8n');
    const tools = ['n8n_list_workflows', 'n8n_list_executions'];
    const { rows, bearers: made } = grantsOf([{ id: 'client-claude' }], tools);
    bearers.push(made.bearer);
    const credential = async (type: string, data: object) => {
      const { id, name } = await host.api.post<{ id: string; name: string }>('/credentials', {
        name: `e2e-import ${type}`,
        type,
        data,
      });
      return { [type]: { id, name } };
    };
    const consumers = await credential('mcpConsumersApi', {
      consumers: { values: rows.map((row) => ({ ...row, tools: row.tools.join('\n') })) },
    });
    const upstream = await credential('mcpUpstreamApi', ownApi(host));
    const workflow = await create({
      ...file,
      name: 'e2e-import-complete',
      nodes: file.nodes.map((node) => {
        if (node.type === NODE_TYPES.trigger) return { ...node, credentials: consumers };
        return node.type === NODE_TYPES.readTool ? { ...node, credentials: upstream } : node;
      }),
    });
    await host.api.post(`/workflows/${workflow.id}/activate`);
    const endpoint = { url: host.mcpUrl('web-app-n8n'), bearer: made.bearer };
    await untilServed(endpoint);
    expect((await listTools(endpoint)).map(({ name }) => name)).toEqual(tools);
    expect(codeOf(await callTool(endpoint, 'n8n_list_workflows'))).toBe('ok');
    expect(codeOf(await callTool(endpoint, 'n8n_get_workflow_summary', { workflow_id: workflow.id }))).toBe(
      'tool_unknown',
    );
    await removeWorkflow(host, workflow.id);
    for (const { id } of [...Object.values(consumers), ...Object.values(upstream)]) {
      await host.api.request('DELETE', `/credentials/${id}`);
    }
  });

  itKeepsTheLogClean(host, () => bearers);
});
