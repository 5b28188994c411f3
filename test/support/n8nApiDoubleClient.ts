import { N8nPublicApi, type N8nApiOptions } from '../../cli/n8n/publicApi';
import type { N8nApiDouble } from './n8nApiDouble';

/** A pace that waits for nothing and remembers for how long it should have. */
export function recordedPace(random = 0) {
  const slept: number[] = [];
  const pace = {
    slept,
    now: () => Date.UTC(2026, 0, 1),
    random: () => random,
    sleep: (ms: number, signal?: AbortSignal) => {
      slept.push(ms);
      signal?.throwIfAborted();
      return Promise.resolve();
    },
  };
  return pace;
}

/** A client of the double that never waits. */
export function clientOf(n8n: N8nApiDouble, options: N8nApiOptions = {}): N8nPublicApi {
  return new N8nPublicApi(n8n.origin, n8n.apiKey, { pace: recordedPace(), ...options });
}

/** A node with a webhook path, as activation wants one. */
export function webhookNode(path: string) {
  return {
    id: `node-${path}`,
    name: 'Webhook',
    type: 'n8n-nodes-base.webhook',
    typeVersion: 2,
    position: [0, 0],
    webhookId: `hook-${path}`,
    parameters: { path },
  };
}

/** What makes a workflow of the given name that can be activated. */
export function wanted(name: string, path = name, settings: object = { executionOrder: 'v1' }) {
  return { name, nodes: [webhookNode(path)], connections: {}, settings };
}
