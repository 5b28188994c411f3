import type { AttachedHost } from '../hosts/host';
import { activate, node, removeWorkflow } from './handMade';

export interface HumanObjects {
  /** Everything that n8n tells of them and does not change by itself, as text. */
  snapshot(): Promise<string>;
  remove(): Promise<void>;
}

/** The name of a person's workflow that begins like those of an owner. */
export const notOurs = (owner: string): string => `${owner}:notes`;

/** The person whose it is, with what n8n counts of them, and a number that 2.x writes after it has published. */
const CHANGED_BY_N8N = new Set(['user', 'triggerCount']);

/**
 * What a person has made beside the things that an owner manages: an active webhook that uses a credential and carries a
 * tag, a workflow whose name begins like those of the owner, and a credential that does so, too.
 */
export async function makeHumanObjects(host: AttachedHost, owner: string): Promise<HumanObjects> {
  const create = async (path: string, body: object) =>
    await host.api.post<{ id: string; name: string }>(path, body);
  const name = `${owner}-human`;
  const tag = await create('/tags', { name });
  const credential = await create('/credentials', {
    name: `${owner}:web-app-n8n`,
    type: 'httpHeaderAuth',
    data: { name: 'X-Human', value: 'human-secret' },
  });
  const webhook = {
    ...node('Webhook', 'n8n-nodes-base.webhook', 2, { httpMethod: 'GET', path: name, options: {} }),
    webhookId: name,
  };
  const request = {
    ...node('Request', 'n8n-nodes-base.httpRequest', 4.2, {
      url: 'http://127.0.0.1:9/',
      authentication: 'genericCredentialType',
      genericAuthType: 'httpHeaderAuth',
    }),
    credentials: { httpHeaderAuth: { id: credential.id, name: credential.name } },
  };
  const settings = { executionOrder: 'v1', saveManualExecutions: false };
  const served = await create('/workflows', {
    name,
    nodes: [webhook, request],
    connections: { Webhook: { main: [[{ node: 'Request', type: 'main', index: 0 }]] } },
    settings,
  });
  const idle = await create('/workflows', {
    name: notOurs(owner),
    nodes: [node('Start', 'n8n-nodes-base.manualTrigger', 1)],
    connections: {},
    settings,
  });
  await host.api.put(`/workflows/${served.id}/tags`, [{ id: tag.id }]);
  await activate(host, served.id);
  const ids = [served.id, idle.id];
  return {
    snapshot: async () => {
      const list = await host.api.get<{ data: { id: string }[] }>('/workflows?limit=250');
      const tags = await host.api.get<{ data: { id: string }[] }>('/tags?limit=250');
      const { body } = await host.rest('GET', `/rest/credentials/${credential.id}?includeData=true`);
      const workflows = await Promise.all(ids.map(async (id) => await host.api.get(`/workflows/${id}`)));
      const everything = {
        workflows,
        listed: list.data.filter(({ id }) => ids.includes(id)),
        tag: tags.data.find(({ id }) => id === tag.id),
        credential: (body as { data: unknown }).data,
      };
      return JSON.stringify(everything, (key, value: unknown) => (CHANGED_BY_N8N.has(key) ? null : value), 2);
    },
    remove: async () => {
      for (const id of ids) await removeWorkflow(host, id);
      await host.api.request('DELETE', `/credentials/${credential.id}`);
      await host.api.request('DELETE', `/tags/${tag.id}`);
    },
  };
}
