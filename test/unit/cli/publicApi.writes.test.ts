import { droppedSettingsNote } from '../../../cli/n8n/publicApi';
import { N8nApiDouble, RELEASES, type Release } from '../../support/n8nApiDouble';
import { clientOf, recordedPace, wanted } from '../../support/n8nApiDoubleClient';

let n8n: N8nApiDouble;
const start = async (release: Release = '2.41.1') => (n8n = await N8nApiDouble.start(release));
afterEach(async () => {
  await n8n.stop();
});

const bodies = (method: string) =>
  n8n.requests
    .filter((request) => request.method === method)
    .map(({ body }) => body as Record<string, unknown>);

const HUMAN_SETTINGS = {
  executionOrder: 'v1',
  callerPolicy: 'workflowsFromAList',
  callerIds: 'wfA,wfB',
  errorWorkflow: 'wfErr',
};

describe.each(RELEASES)('a write of a workflow on %s', (release) => {
  beforeEach(async () => await start(release));

  test('C089: an update sends exactly the four fields, whatever a read has shown', async () => {
    const row = n8n.seedWorkflow({ name: 'Orders MCP', ...active('orders') });
    const api = clientOf(n8n);
    const [listed] = await api.listWorkflows();
    if (!listed) throw new Error('nothing listed');
    await api.updateWorkflow(row.id, { ...listed, fieldOfTomorrow: 1 } as typeof listed, listed.settings);
    expect(bodies('PUT').map((body) => Object.keys(body))).toContainEqual([
      'name',
      'nodes',
      'connections',
      'settings',
    ]);
    for (const body of bodies('PUT')) expect(Object.keys(body)).toHaveLength(4);
  });

  test('C093: a create sends exactly the four fields; activation and tags have calls of their own', async () => {
    const api = clientOf(n8n);
    const file = { ...wanted('Orders MCP'), id: 'abc', active: false, tags: [{ name: 'mcp' }], meta: {} };
    const made = await api.createWorkflow(file);
    const tag = await api.createTag('mcp');
    expect(await api.setWorkflowTags(made.id, [tag.id])).toEqual([{ id: tag.id, name: 'mcp' }]);
    expect(await api.activateWorkflow(made.id)).toMatchObject({ id: made.id, active: true });
    expect(Object.keys(bodies('POST')[0] ?? {})).toEqual(['name', 'nodes', 'connections', 'settings']);
    expect((await api.listWorkflows())[0]).toMatchObject({ active: true, tags: [{ name: 'mcp' }] });
  });

  test('C091: settings that are not mentioned are sent along, as far as the release takes them', async () => {
    const row = n8n.seedWorkflow({ name: 'a', settings: { ...HUMAN_SETTINGS } });
    const written = await clientOf(n8n).updateWorkflow(row.id, wanted('a'), HUMAN_SETTINGS);
    const [first] = bodies('PUT');
    expect(first?.['settings']).toEqual(HUMAN_SETTINGS);
    if (release === '1.100.1') {
      expect(written.droppedSettings).toEqual(['callerIds', 'callerPolicy']);
      expect(row.settings).toEqual({ executionOrder: 'v1', errorWorkflow: 'wfErr' });
    } else {
      expect(written.droppedSettings).toEqual([]);
      expect(row.settings).toEqual(HUMAN_SETTINGS);
    }
  });

  test('C091: settings are looked up where the caller does not know them', async () => {
    const row = n8n.seedWorkflow({ name: 'a', settings: { timezone: 'Europe/Vienna' } });
    await clientOf(n8n).updateWorkflow(row.id, wanted('a'));
    expect(row.settings).toMatchObject({ timezone: 'Europe/Vienna', executionOrder: 'v1' });
  });

  test('settings that are refused are left out once, named, and not sent again', async () => {
    const api = clientOf(n8n);
    const settings = { executionOrder: 'v1', optionOfTomorrow: true };
    const first = await api.createWorkflow(wanted('one', 'one', settings));
    const second = await api.createWorkflow(wanted('two', 'two', settings));
    expect(first.droppedSettings).toEqual(['optionOfTomorrow']);
    expect(second.droppedSettings).toEqual(['optionOfTomorrow']);
    expect(n8n.requests.map(({ status }) => status)).toEqual([400, 200, 200]);
    expect(droppedSettingsNote(first.droppedSettings)).toContain('optionOfTomorrow');
  });

  test('a setting that the release does not know costs none that it knows', async () => {
    const settings = { executionOrder: 'v1', callerPolicy: 'none', optionOfTomorrow: true };
    const made = await clientOf(n8n).createWorkflow(wanted('one', 'one', settings));
    expect(n8n.store.workflows.get(made.id)?.settings).toEqual(
      release === '1.100.1' ? { executionOrder: 'v1' } : { executionOrder: 'v1', callerPolicy: 'none' },
    );
  });

  test('what is refused for another reason is told in the words of n8n, and not sent again', async () => {
    const broken = { ...wanted('a'), nodes: [{ ...wanted('a').nodes[0], nonsense: 1 }] };
    await expect(clientOf(n8n).createWorkflow(broken)).rejects.toMatchObject({
      code: 'rejected',
      status: 400,
      message: expect.stringContaining('request/body/nodes/0') as string,
    });
    expect(n8n.requests).toHaveLength(1);
  });

  test('tags survive an update', async () => {
    const tag = n8n.store.addTag('mcp');
    const row = n8n.seedWorkflow({ name: 'a', tagIds: [tag.id] });
    await clientOf(n8n).updateWorkflow(row.id, wanted('a'), {});
    expect(row.tagIds).toEqual([tag.id]);
  });

  test('nothing foreign changes when a workflow and a tag come and go', async () => {
    n8n.seedWorkflow({ name: 'human', ...active('human') });
    n8n.store.addTag('human');
    n8n.store.addCredential({ name: 'human', type: 'httpHeaderAuth', data: { name: 'a', value: 'b' } });
    n8n.rememberForeign();
    const api = clientOf(n8n);
    const { id } = await api.createWorkflow(wanted('mine'));
    await api.deleteTag((await api.createTag('mine')).id);
    await api.deleteWorkflow(id);
    expect(n8n.foreignChanges()).toEqual([]);
    expect((await api.listWorkflows()).map(({ name }) => name)).toEqual(['human']);
  });
});

function active(path: string) {
  const { nodes, connections } = wanted(path);
  return { nodes, connections, active: true };
}

describe('a path that another workflow serves', () => {
  test.each(RELEASES.filter((release) => release !== '1.100.1'))(
    'is refused on %s with the words of n8n, and stays with the other',
    async (release) => {
      await start(release);
      const human = n8n.seedWorkflow({ name: 'human', ...active('orders') });
      const api = clientOf(n8n);
      const { id } = await api.createWorkflow(wanted('mine', 'orders'));
      await expect(api.activateWorkflow(id)).rejects.toMatchObject({
        code: release === '2.41.1' ? 'conflict' : 'rejected',
        message: expect.stringContaining('There is a conflict with one of the webhooks.') as string,
      });
      expect(n8n.store.served.get('orders')).toBe(human.id);
    },
  );

  test('is taken over on 1.100.1 without a word', async () => {
    await start('1.100.1');
    n8n.seedWorkflow({ name: 'human', ...active('orders') });
    const api = clientOf(n8n);
    const { id } = await api.createWorkflow(wanted('mine', 'orders'));
    expect(await api.activateWorkflow(id)).toMatchObject({ active: true });
    expect(n8n.store.served.get('orders')).toBe(id);
  });
});

describe('archived workflows', () => {
  test('are brought back where the release can', async () => {
    await start('2.41.1');
    const row = n8n.seedWorkflow({ name: 'a', isArchived: true });
    const api = clientOf(n8n);
    await expect(api.updateWorkflow(row.id, wanted('a'), {})).rejects.toThrow('archived');
    expect(await api.unarchiveWorkflow(row.id)).toBe('done');
    expect(row.isArchived).toBe(false);
    expect(await api.unarchiveWorkflow(row.id)).toBe('done');
    expect(await api.archiveWorkflow(row.id)).toBe('done');
    expect(row.isArchived).toBe(true);
  });

  test.each(RELEASES.filter((release) => release !== '2.41.1'))('stay as they are on %s', async (release) => {
    await start(release);
    const row = n8n.seedWorkflow({ name: 'a', isArchived: true });
    expect(await clientOf(n8n).unarchiveWorkflow(row.id)).toBe('unsupported');
    expect(await clientOf(n8n).archiveWorkflow(row.id)).toBe('unsupported');
    expect(row.isArchived).toBe(true);
  });
});

test('a published workflow is not deleted on 2.41.1: conflict, until it is unpublished', async () => {
  await start('2.41.1');
  const row = n8n.seedWorkflow({ name: 'a', ...active('a') });
  const api = clientOf(n8n);
  await expect(api.deleteWorkflow(row.id)).rejects.toMatchObject({ code: 'conflict' });
  await api.deactivateWorkflow(row.id);
  await expect(api.deleteWorkflow(row.id)).rejects.toMatchObject({ code: 'conflict' });
  await api.deleteWorkflow(row.id);
  expect(n8n.store.workflows.size).toBe(0);
});

test('a workflow that is not there is undefined when read, and an error when written', async () => {
  await start();
  const api = clientOf(n8n);
  expect(await api.getWorkflow('nope')).toBeUndefined();
  await expect(api.updateWorkflow('nope', wanted('a'), {})).rejects.toMatchObject({ code: 'not_found' });
  await expect(api.deleteWorkflow('nope')).rejects.toMatchObject({ code: 'not_found' });
});

test.each(['', '.', '..'])('an id that would lead to another address is refused: "%s"', async (id) => {
  await start();
  await expect(clientOf(n8n).deleteWorkflow(id)).rejects.toThrow('id of n8n is missing');
  expect(n8n.requests).toEqual([]);
});

test('an id is one segment of the path, whatever is in it', async () => {
  await start();
  await expect(clientOf(n8n).deleteWorkflow('../tags/x?y#z')).rejects.toMatchObject({ code: 'not_found' });
  expect(n8n.requests.map(({ path }) => path)).toEqual(['/workflows/..%2Ftags%2Fx%3Fy%23z']);
});

describe('a create whose answer is lost', () => {
  const lost = [
    ['the connection ends before', { kind: 'cut', when: 'before' }, 0],
    ['the connection ends after', { kind: 'cut', when: 'after' }, 1],
    ['500 after it was done', { kind: 'status', status: 500, handled: true }, 1],
    ['504 of a proxy', { kind: 'html', status: 504 }, 0],
    ['half a JSON', { kind: 'half_json' }, 1],
  ] as const;

  test.each(lost)('is outcome_unknown and sent once: %s', async (_what, fault, made) => {
    await start();
    n8n.inject(fault);
    const error = clientOf(n8n).createWorkflow(wanted('mine'));
    await expect(error).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(n8n.writes).toEqual(['POST /workflows']);
    expect(n8n.store.workflows.size).toBe(made);
  });

  test.each(lost)('is outcome_unknown for a credential and a tag too: %s', async (_what, fault) => {
    await start();
    n8n.inject(fault, { times: 2 });
    const api = clientOf(n8n);
    await expect(api.createTag('mine')).rejects.toMatchObject({ code: 'outcome_unknown' });
    const credential = api.createCredential('c', 'httpHeaderAuth', {});
    await expect(credential).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(n8n.writes).toHaveLength(2);
  });

  test('is outcome_unknown when the answer has another shape', async () => {
    await start();
    n8n.inject({ kind: 'answer', reply: { status: 200, body: { ok: true } } });
    await expect(clientOf(n8n).createWorkflow(wanted('mine'))).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
  });

  test('is told apart from one that was refused, and from one that never left', async () => {
    await start();
    const api = clientOf(n8n);
    n8n.inject({ kind: 'status', status: 429 });
    await expect(api.createTag('x')).rejects.toMatchObject({ code: 'rate_limited' });
    n8n.inject({ kind: 'html' });
    await expect(api.createTag('x')).rejects.toMatchObject({ code: 'not_the_public_api' });
    const gone = await N8nApiDouble.start('2.41.1');
    const away = clientOf(gone, { pace: recordedPace() });
    await gone.stop();
    await expect(away.createTag('x')).rejects.toMatchObject({ code: 'unreachable' });
  });
});
