import { randomUUID } from 'node:crypto';

import { eventually } from '../support/editWorkflow';
import { untilExecutions } from '../support/executions';
import { activate, node, removeWorkflow } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import type { Listed, McpCaller } from '../support/mcpCaller';
import { newBearer } from '../support/publish';
import { rawHttp } from '../support/rawHttp';
import { provision, type ProvisionedSurfaces } from '../support/realUpstream';

const N8N = 'web-app-n8n';
/** The same n8n with a key that it does not know. */
const STRANGER = `${N8N}-stranger`;
const TAG = 'e2e-n8n-harbour';
const REPORTS = 7;
const RUNS = 5;
/** What stands in nodes and goes through executions. */
const PARAMETER = 'a-parameter-that-nobody-may-see';
const PAYLOAD = 'a-payload-that-nobody-may-see';

interface Execution {
  id: string | number;
  workflowId: string;
  mode: string;
  finished: boolean;
  status?: string;
}

describe.each(hosts())('a real n8n $version, asked through itself', (host) => {
  let surfaces: ProvisionedSurfaces;
  let caller: McpCaller;
  let tagId: string;
  /** Ids by name. */
  const ids: Record<string, string> = {};

  /** A workflow of the harbour that begins with a webhook and ends with the given node. */
  const create = async (name: string, last: ReturnType<typeof node>) => {
    const path = `${TAG}-${name.toLowerCase().replaceAll(' ', '-')}`;
    const options = { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} };
    const webhook = { ...node('Webhook', 'n8n-nodes-base.webhook', 2, options), webhookId: randomUUID() };
    const { id } = await host.api.post<{ id: string }>('/workflows', {
      name,
      nodes: [webhook, last],
      connections: { Webhook: { main: [[{ node: last.name, type: 'main', index: 0 }]] } },
      settings: { executionOrder: 'v1', saveDataSuccessExecution: 'all', saveDataErrorExecution: 'all' },
    });
    ids[name] = id;
    await host.api.put(`/workflows/${id}/tags`, [{ id: tagId }]);
    return path;
  };

  const run = async (path: string, id: string, times: number) => {
    await activate(host, id);
    const headers: [string, string][] = [['Content-Type', 'application/json']];
    const body = JSON.stringify({ note: PAYLOAD });
    for (let count = 0; count < times; count += 1) {
      // 2.x activates in the background.
      await eventually(async () => {
        expect((await rawHttp({ url: `${host.url}/webhook/${path}`, headers, body })).status).toBe(200);
      });
    }
    await untilExecutions(host, id, times);
  };

  beforeAll(async () => {
    tagId = (await host.api.post<{ id: string }>('/tags', { name: TAG })).id;
    const note = { assignments: { assignments: [{ name: 'n', type: 'string', value: PARAMETER }] } };
    const nothing = () => node('Note', 'n8n-nodes-base.set', 3.4, { mode: 'manual', ...note, options: {} });
    for (let index = 1; index <= REPORTS; index += 1)
      await create(`Harbour report ${String(index)}`, nothing());
    await run(await create('Tide alarm', nothing()), String(ids['Tide alarm']), RUNS);
    const stop = node('Give up', 'n8n-nodes-base.stopAndError', 1, { errorMessage: PARAMETER });
    await run(await create('Broken crane', stop), String(ids['Broken crane']), 2);
    const upstream = { base_url: host.url, authentication: 'header', name: 'X-N8N-API-KEY' };
    surfaces = await provision(host, 'e2e-n8n', [
      { contract: N8N, upstream, secret: host.apiKey },
      { contract: N8N, as: STRANGER, upstream, secret: newBearer() },
    ]);
    caller = surfaces.callers[N8N] as McpCaller;
  });
  afterAll(async () => {
    await surfaces.stop();
    for (const id of Object.values(ids)) await removeWorkflow(host, id);
    await host.api.request('DELETE', `/tags/${tagId}`);
  });

  it('lists the workflows of a tag to the end, and narrows them by name and state', async () => {
    const pages = await caller.pages<{ id: string; name: string; active: boolean; tags: object[] }>(
      'n8n_list_workflows',
      { tag: TAG, limit: 4 },
      'cursor',
    );
    expect(pages.map(({ returned, truncated }) => [returned, truncated])).toEqual([
      [4, true],
      [4, true],
      [REPORTS + 2 - 8, false],
    ]);
    const listed = pages.flatMap(({ items }) => items);
    expect(Object.fromEntries(listed.map(({ name, id }) => [name, id]))).toEqual(ids);
    for (const { tags } of listed) expect(tags).toEqual([{ name: TAG }]);
    const active = await caller.get<Listed>('n8n_list_workflows', { tag: TAG, active: true });
    expect(active.items.map(({ name }) => name).sort()).toEqual(['Broken crane', 'Tide alarm']);
    const named = await caller.get<Listed>('n8n_list_workflows', { name: 'Harbour report 3' });
    expect(named.items.map(({ id }) => id)).toEqual([ids['Harbour report 3']]);
    expect((await caller.get<Listed>('n8n_list_workflows', { tag: `${TAG}-none` })).returned).toBe(0);
    expect(JSON.stringify(pages)).not.toContain(PARAMETER);
  });

  it('summarizes a workflow by its nodes, without what stands in them', async () => {
    const { value, text } = await caller.call('n8n_get_workflow_summary', {
      workflow_id: ids['Broken crane'],
    });
    expect(value).toMatchObject({
      ...{ id: ids['Broken crane'], name: 'Broken crane', active: true, tags: [{ name: TAG }] },
      nodes: [
        { name: 'Webhook', type: 'n8n-nodes-base.webhook', typeVersion: 2 },
        { name: 'Give up', type: 'n8n-nodes-base.stopAndError', typeVersion: 1 },
      ],
    });
    for (const secret of [PARAMETER, 'connections', 'parameters', 'webhookId']) {
      expect(text).not.toContain(secret);
    }
    const missing = await caller.call('n8n_get_workflow_summary', { workflow_id: 'nobodyHasThisId1' });
    expect(missing.code).toBe('upstream_not_found');
  });

  it('lists executions of a workflow to the end, newest first, without what went through them', async () => {
    const pages = await caller.pages<Execution>(
      'n8n_list_executions',
      { workflow_id: ids['Tide alarm'], limit: 2 },
      'cursor',
    );
    expect(pages.map(({ returned, truncated }) => [returned, truncated])).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ]);
    const listed = pages.flatMap(({ items }) => items);
    const numbers = listed.map(({ id }) => Number(id));
    expect(numbers).toEqual([...numbers].sort((one, other) => other - one));
    for (const { workflowId, mode, finished } of listed) {
      expect({ workflowId, mode, finished }).toEqual({
        ...{ workflowId: ids['Tide alarm'], mode: 'webhook', finished: true },
      });
    }
    const told = JSON.stringify(pages);
    for (const secret of [PARAMETER, PAYLOAD]) expect(told).not.toContain(secret);
  });

  it('tells the failed executions from the others', async () => {
    const of = async (name: string, status: string) =>
      await caller.get<Listed>('n8n_list_executions', { workflow_id: ids[name], status });
    expect((await of('Broken crane', 'error')).returned).toBe(2);
    expect((await of('Broken crane', 'success')).returned).toBe(0);
    expect((await of('Tide alarm', 'error')).returned).toBe(0);
    expect((await of('Tide alarm', 'success')).returned).toBe(RUNS);
    expect(JSON.stringify(await of('Broken crane', 'error'))).not.toContain(PARAMETER);
  });

  it('is refused with a key that n8n does not know', async () => {
    const stranger = surfaces.callers[STRANGER] as McpCaller;
    const outcomes = await stranger.inTurn(
      ['n8n_list_workflows'],
      ['n8n_get_workflow_summary', { workflow_id: ids['Tide alarm'] }],
      ['n8n_list_executions'],
    );
    expect(outcomes.map(({ code }) => code)).toEqual(Array(3).fill('upstream_auth_failed'));
  });

  itKeepsTheLogClean(host, () => [...surfaces.operator.secrets]);
});
