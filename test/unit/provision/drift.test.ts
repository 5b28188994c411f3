import { REAL_PACE } from '../../../cli/n8n/pacing';
import { Operator } from './harness';
import {
  credential,
  IN_N8N,
  managed,
  node,
  NOTE,
  OF_CREDENTIALS,
  OF_OPERATOR,
  TRIGGER,
  type Drift,
} from './drifts';
import { Reconciler } from './reconciler';

jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

describe.each(['1.100.1', '2.41.1'] as const)('drift on n8n %s', (release) => {
  let operator: Operator;
  let reconciler: Reconciler;
  beforeEach(async () => {
    operator = await Operator.start(release);
    operator.draft.surfaces.splice(1);
    reconciler = new Reconciler(operator);
    await reconciler.apply();
  });
  afterEach(async () => {
    await operator.stop();
  });

  const credentials = () => [...operator.n8n.store.credentials.values()].map(({ name }) => name).sort();
  const OURS = ['acme-mcp:web-app-n8n consumers', 'acme-mcp:web-app-n8n upstream'];

  const expectShown = async ({ shown }: Drift) => {
    const changes = await reconciler.changes();
    const fields = changes.map(({ field }) => field);
    for (const pattern of shown) expect(fields).toContainEqual(expect.stringMatching(pattern));
    const texts = JSON.stringify(changes);
    for (const secret of operator.secrets) expect(texts).not.toContain(secret);
  };

  const expectSettled = () => {
    expect(operator.n8n.foreignChanges().filter((what) => what.startsWith('credential'))).toEqual([]);
    expect(credentials().filter((name) => name !== 'Mine')).toEqual(OURS);
    expect([...operator.n8n.store.workflows.values()].map(({ name }) => name)).toEqual([
      'acme-mcp:web-app-n8n',
    ]);
    expect([...operator.n8n.store.served.keys()]).toEqual(['web-app-n8n']);
  };

  test.each(IN_N8N)('is shown and healed when $name', async (drift) => {
    drift.happen(operator);
    await expectShown(drift);
    await reconciler.heal();
    expectSettled();
  });

  test.each(OF_OPERATOR)('is shown and healed after a change of $name', async (drift) => {
    drift.happen(operator);
    await reconciler.reload();
    await expectShown(drift);
    await reconciler.heal();
    expectSettled();
  });

  if (release === '2.41.1') {
    test.each(OF_CREDENTIALS)('is shown and healed when $name', async (drift) => {
      drift.happen(operator);
      await expectShown(drift);
      await reconciler.heal();
      expectSettled();
    });
  } else {
    test('of a deleted credential is not seen without a list; deleting the ledger makes it anew', async () => {
      operator.n8n.store.credentials.delete(credential(operator, 'consumers').id);
      expect(await reconciler.changes()).toEqual([]);
      const note = node(managed(operator), NOTE).parameters;
      note['content'] = 'mine';
      await reconciler.heal();
      expectSettled();
    });
  }

  test('of what a person may add is none, and a write leaves it as it is', async () => {
    const row = managed(operator);
    node(row, TRIGGER)['position'] = [9, 9];
    node(row, 'n8n_list_workflows')['notes'] = 'used by the night shift';
    Object.assign(node(row, NOTE).parameters, { width: 900, color: 4 });
    row.settings['errorWorkflow'] = 'wfErr';
    row.settings['timezone'] = 'Europe/Berlin';
    row.tagIds.push(operator.n8n.store.addTag('night-shift').id);
    const sheet = { id: 's', name: 'Audit sheet', type: 'n8n-nodes-base.set', parameters: { a: 1 } };
    const agent = { id: 'a', name: 'Agent', type: '@n8n/n8n-nodes-langchain.agent', parameters: {} };
    const tool = { id: 't', name: 'Its tool', type: 'n8n-nodes-base.httpRequestTool', parameters: {} };
    row.nodes.push(sheet, agent, tool);
    row.connections[TRIGGER] = { main: [[{ node: 'Audit sheet', type: 'main', index: 0 }]] };
    row.connections['Audit sheet'] = { main: [[{ node: 'Agent', type: 'main', index: 0 }]] };
    row.connections['Its tool'] = { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] };
    expect(await reconciler.changes()).toEqual([]);

    operator.secret('web-app-n8n.upstream');
    await reconciler.heal();
    const after = managed(operator);
    expect(after.nodes).toEqual(expect.arrayContaining([sheet, agent, tool]));
    expect(after.connections).toMatchObject({
      [TRIGGER]: { main: [[{ node: 'Audit sheet' }]] },
      'Audit sheet': { main: [[{ node: 'Agent' }]] },
      'Its tool': { ai_tool: [[{ node: 'Agent' }]] },
    });
    expect(node(after, TRIGGER)['position']).toEqual([9, 9]);
    expect(node(after, 'n8n_list_workflows')['notes']).toBe('used by the night shift');
    expect(node(after, NOTE).parameters).toMatchObject({ width: 900, color: 4 });
    expect(after.settings).toMatchObject({ errorWorkflow: 'wfErr', timezone: 'Europe/Berlin' });
    expect(after.tagIds).toHaveLength(2);
  });

  test('of the order of consumers and tools in the operator file is none', async () => {
    const [surface = {}] = operator.draft.surfaces;
    surface['consumers'] = ['web-app-openwebui', 'client-claude'];
    operator.draft.consumers.reverse();
    await reconciler.reload();
    expect(await reconciler.changes()).toEqual([]);
  });
});

test.each(['2.4', '2.14'] as const)(
  'n8n %s does not give an archived workflow back: a new one takes over what a person added, and the old one goes',
  async (release) => {
    const operator = await Operator.start(release);
    try {
      operator.draft.surfaces.splice(1);
      const reconciler = new Reconciler(operator);
      await reconciler.apply();
      const before = managed(operator);
      before.nodes.push({ id: 's', name: 'Audit sheet', type: 'n8n-nodes-base.set', parameters: {} });
      Object.assign(before, { isArchived: true, active: false, published: null });
      operator.n8n.store.served.clear();
      await reconciler.heal();
      const after = managed(operator);
      expect(after.id).not.toBe(before.id);
      expect(operator.n8n.store.workflows.size).toBe(1);
      expect(operator.n8n.store.credentials.size).toBe(2);
      expect(after.nodes.map(({ name }) => name)).toContain('Audit sheet');
    } finally {
      await operator.stop();
    }
  },
);
