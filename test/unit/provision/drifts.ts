import path from 'node:path';
import { NODE_TYPES } from '../../../core/contract/render';
import type { Json, NodeRow, WorkflowRow } from '../../support/n8nApiDouble/store';
import { OWNER, type Operator } from './harness';

export const TRIGGER = 'MCP Bearer Server Trigger';
export const NOTE = 'About this workflow';
export const SURFACE = 'web-app-n8n';

/** The managed workflow of the surface that drifts are tried on. */
export function managed({ n8n }: Operator): WorkflowRow {
  const found = [...n8n.store.workflows.values()].find(({ nodes }) =>
    nodes.some(({ type }) => type === NODE_TYPES.trigger),
  );
  if (!found) throw new Error('There is no managed workflow.');
  return found;
}

export function node(row: WorkflowRow, name: string): NodeRow & { parameters: Json } {
  const found = row.nodes.find((one) => one.name === name);
  if (!found) throw new Error(`There is no node ${name}.`);
  return found as NodeRow & { parameters: Json };
}

/** A person changes the ledger in the note. */
export function editLedger(row: WorkflowRow, edit: (text: string) => string): void {
  const { parameters } = node(row, NOTE);
  const before = String(parameters['content']);
  const after = edit(before);
  if (after === before) throw new Error('The edit changed nothing.');
  parameters['content'] = after;
}

export const credential = ({ n8n }: Operator, suffix: string) => {
  const name = `${OWNER}:${SURFACE} ${suffix}`;
  const found = [...n8n.store.credentials.values()].find((one) => one.name === name);
  if (!found) throw new Error(`There is no credential ${name}.`);
  return found;
};

export const surfaceOf = ({ draft }: Operator): Record<string, unknown> => {
  const [surface] = draft.surfaces;
  if (!surface) throw new Error('There is no surface.');
  return surface;
};

export const fileIn = ({ folder }: Operator, name: string) => path.join(folder, name);

export interface Drift {
  readonly name: string;
  /** A pattern of a field of the plan; each has to be shown. */
  readonly shown: readonly RegExp[];
  readonly happen: (operator: Operator) => void;
}

/** What happens inside n8n. */
export const IN_N8N: readonly Drift[] = [
  {
    name: 'a person changes a parameter of the trigger',
    shown: [/^nodes\.MCP Bearer Server Trigger\.parameters\.recording$/],
    happen: (o) => (node(managed(o), TRIGGER).parameters['recording'] = 'none'),
  },
  {
    name: 'a person changes the definition of a tool',
    shown: [/^nodes\.n8n_list_workflows\.parameters\.definition$/],
    happen: (o) => (node(managed(o), 'n8n_list_workflows').parameters['definition'] = '{}'),
  },
  {
    name: 'a person changes the text of the note',
    shown: [/^nodes\.About this workflow\.parameters\.content$/],
    happen: (o) => {
      editLedger(managed(o), (text) => text.replace('read only', 'read and write'));
    },
  },
  {
    name: 'a person makes a tool go on after errors',
    shown: [/\.onError$/, /\.retryOnFail$/],
    happen: (o) =>
      Object.assign(node(managed(o), 'n8n_list_workflows'), {
        onError: 'continueRegularOutput',
        retryOnFail: true,
      }),
  },
  {
    name: 'a person disables a tool',
    shown: [/n8n_list_workflows\.disabled$/],
    happen: (o) => (node(managed(o), 'n8n_list_workflows').disabled = true),
  },
  {
    name: 'a person disconnects a tool',
    shown: [/^connections\.n8n_list_workflows$/],
    happen: (o) => delete managed(o).connections['n8n_list_workflows'],
  },
  {
    name: 'a person deletes a tool',
    shown: [/^nodes\.n8n_list_workflows$/, /^connections\.n8n_list_workflows$/],
    happen: (o) => {
      const row = managed(o);
      row.nodes = row.nodes.filter(({ name }) => name !== 'n8n_list_workflows');
      delete row.connections['n8n_list_workflows'];
    },
  },
  {
    name: 'a person deletes the note',
    shown: [/^nodes\.About this workflow$/, /^ledger$/],
    happen: (o) => {
      const row = managed(o);
      row.nodes = row.nodes.filter(({ name }) => name !== NOTE);
    },
  },
  {
    name: 'a person connects a tool of their own to the trigger',
    shown: [/^nodes\.Everything$/],
    happen: (o) => {
      const row = managed(o);
      row.nodes.push({ id: 'x', name: 'Everything', type: 'n8n-nodes-base.httpRequestTool', parameters: {} });
      row.connections['Everything'] = { ai_tool: [[{ node: TRIGGER, type: 'ai_tool', index: 0 }]] };
    },
  },
  {
    name: 'a person adds another trigger of the pack',
    shown: [/^nodes\.Second door$/],
    happen: (o) => {
      const row = managed(o);
      row.nodes.push({ ...structuredClone(node(row, TRIGGER)), name: 'Second door' });
    },
  },
  {
    name: 'a person chooses another credential for the trigger',
    shown: [/credentials\.mcpConsumersApi$/],
    happen: (o) => {
      const data = { consumers: { values: [] } };
      const { id, name } = o.n8n.store.addCredential({ name: 'Mine', type: 'mcpConsumersApi', data });
      o.n8n.rememberForeign();
      managed(o);
      node(managed(o), TRIGGER).credentials = { mcpConsumersApi: { id, name } };
    },
  },
  {
    name: 'a person changes a setting of ours',
    shown: [/^settings\.executionOrder$/],
    happen: (o) => (managed(o).settings['executionOrder'] = 'v0'),
  },
  { name: 'the workflow is deactivated', shown: [/^active$/], happen: deactivated },
  {
    name: 'the workflow is archived',
    shown: [/^archived$/, /^active$/],
    happen: (o) => {
      deactivated(o);
      managed(o).isArchived = true;
    },
  },
  {
    name: 'the workflow is renamed',
    shown: [/^name$/],
    happen: (o) => (managed(o).name = 'Our n8n for agents'),
  },
  {
    name: 'the workflow is renamed to what looks like another application',
    shown: [/^name$/],
    happen: (o) => (managed(o).name = `${OWNER}:web-app-other`),
  },
  { name: 'the tag is taken off', shown: [/^tags$/], happen: (o) => (managed(o).tagIds = []) },
  {
    name: 'the ledger is deleted',
    shown: [/^ledger$/, /^consumers credential$/, /^upstream credential$/],
    happen: (o) => {
      editLedger(managed(o), (text) => text.slice(0, text.indexOf('### Ledger')));
    },
  },
  {
    name: 'the ledger is edited into what is no JSON',
    shown: [/^ledger$/],
    happen: (o) => {
      editLedger(managed(o), (text) => text.replace('"version"', 'version'));
    },
  },
  {
    name: 'the ledger names another application',
    shown: [/^ledger$/],
    happen: (o) => {
      editLedger(managed(o), (text) =>
        text.replace('"application_id": "web-app-n8n"', '"application_id": "web-app-x"'),
      );
    },
  },
  {
    name: 'the ledger names another address',
    shown: [/^ledger$/],
    happen: (o) => {
      editLedger(managed(o), (text) => text.replace('https://web-app-n8n.example.com', 'https://b.example'));
    },
  },
  {
    name: 'the ledger names another contract',
    shown: [/^contract$/],
    happen: (o) => {
      editLedger(managed(o), (text) =>
        text.replace(/"contract": "sha256:[0-9a-f]{64}"/, `"contract": "sha256:${'0'.repeat(64)}"`),
      );
    },
  },
  {
    name: 'the ledger names a credential that is not there',
    shown: [/^consumers credential$/],
    happen: (o) => {
      const { id } = credential(o, 'consumers');
      editLedger(managed(o), (text) => text.replace(`"id": "${id}"`, '"id": "nowhere"'));
    },
  },
  {
    name: 'a fingerprint in the ledger is edited',
    shown: [/^upstream secret$/],
    happen: (o) => {
      editLedger(managed(o), (text) => {
        const at = text.lastIndexOf('scrypt$');
        return `${text.slice(0, at)}nothing$${text.slice(at + 7)}`;
      });
    },
  },
];

function deactivated({ n8n }: Operator): void {
  for (const [id, row] of n8n.store.workflows) {
    if (!row.name.startsWith(OWNER)) continue;
    row.active = false;
    row.published = null;
    for (const [served, owner] of n8n.store.served) if (owner === id) n8n.store.served.delete(served);
  }
}

/** What a person does to a credential; a release that cannot list them does not show it. */
export const OF_CREDENTIALS: readonly Drift[] = [
  {
    name: 'the credential of the consumers is deleted',
    shown: [/^consumers credential$/],
    happen: (o) => o.n8n.store.credentials.delete(credential(o, 'consumers').id),
  },
  {
    name: 'the credential of the upstream is deleted',
    shown: [/^upstream credential$/],
    happen: (o) => o.n8n.store.credentials.delete(credential(o, 'upstream').id),
  },
  {
    name: 'a credential is renamed',
    shown: [/^upstream credential name$/],
    happen: (o) => (credential(o, 'upstream').name = 'Key of the other team'),
  },
  {
    name: 'a second credential has the name of ours',
    shown: [/^left over upstream credential$/],
    happen: (o) => {
      const { name, type, data } = credential(o, 'upstream');
      o.n8n.store.addCredential({ name, type, data });
    },
  },
];

/** What the operator changes. */
export const OF_OPERATOR: readonly Drift[] = [
  {
    name: 'the secret of the upstream',
    shown: [/^upstream secret$/],
    happen: (o) => o.secret(`${SURFACE}.upstream`),
  },
  {
    name: 'the secret of the upstream to one for each consumer',
    shown: [/^upstream\.secret_consumers$/],
    happen: (o) =>
      Object.assign(surfaceOf(o)['upstream'] as object, {
        consumer_secrets: { 'client-claude': `file:${o.secret('claude.upstream')}` },
      }),
  },
  {
    name: 'the bearer of a consumer',
    shown: [/^consumers secret$/],
    happen: (o) => o.secret('client-claude'),
  },
  {
    name: 'the bearer of one consumer and the expiry of another',
    shown: [/^consumers\.web-app-openwebui\.expires_at$/, /^consumers secret$/],
    happen: (o) => {
      o.secret('client-claude');
      Object.assign(o.draft.consumers[1] ?? {}, { expires_at: '2099-01-01T00:00:00Z' });
    },
  },
  {
    name: 'an expiry',
    shown: [/^consumers\.client-claude\.expires_at$/],
    happen: (o) => Object.assign(o.draft.consumers[0] ?? {}, { expires_at: '2099-01-01T00:00:00Z' }),
  },
  {
    name: 'a tenant',
    shown: [/^consumers\.client-claude\.tenant$/],
    happen: (o) => Object.assign(o.draft.consumers[0] ?? {}, { tenant: 'north' }),
  },
  {
    name: 'the rate of a consumer',
    shown: [/^consumers\.client-claude\.requests_per_minute$/],
    happen: (o) => Object.assign(o.draft.consumers[0] ?? {}, { requests_per_minute: 600 }),
  },
  {
    name: 'the concurrency of a consumer and the bearer of another',
    shown: [/^consumers\.client-claude\.concurrent_calls$/, /^consumers secret$/],
    happen: (o) => {
      o.secret('web-app-openwebui');
      Object.assign(o.draft.consumers[0] ?? {}, { concurrent_calls: 2 });
    },
  },
  {
    name: 'the tools of a consumer',
    shown: [/^consumers\.client-claude\.tools$/],
    happen: (o) => (surfaceOf(o)['consumer_tools'] = { 'client-claude': ['n8n_list_workflows'] }),
  },
  {
    name: 'a consumer more',
    shown: [/^consumers\.client-cursor\.tools$/],
    happen: (o) => {
      o.draft.consumers.push({ id: 'client-cursor', token: `file:${o.secret('client-cursor')}` });
      surfaceOf(o)['consumers'] = ['client-claude', 'web-app-openwebui', 'client-cursor'];
    },
  },
  {
    name: 'a consumer less',
    shown: [/^consumers\.client-claude\.tools$/],
    happen: (o) => (surfaceOf(o)['consumers'] = ['web-app-openwebui']),
  },
  {
    name: 'the address of the upstream',
    shown: [/^upstream\.base_url$/],
    happen: (o) => ((surfaceOf(o)['upstream'] as Json)['base_url'] = 'https://elsewhere.example.com'),
  },
  {
    name: 'the authentication of the upstream',
    shown: [/^upstream\.authentication$/, /^upstream\.name$/],
    happen: (o) =>
      Object.assign(surfaceOf(o)['upstream'] as Json, { authentication: 'header', name: 'X-Api-Key' }),
  },
  {
    name: 'fewer tools, which is another contract',
    shown: [/^contract$/, /\.parameters\.surface$/],
    happen: (o) => (surfaceOf(o)['tools'] = ['n8n_list_workflows']),
  },
  {
    name: 'a lower limit, which is another contract',
    shown: [/^contract$/, /\.parameters\.definition$/],
    happen: (o) => (surfaceOf(o)['limits'] = { timeout_seconds: 5 }),
  },
  {
    name: 'the recording',
    shown: [/\.parameters\.recording$/],
    happen: (o) => (surfaceOf(o)['recording'] = 'all'),
  },
];
