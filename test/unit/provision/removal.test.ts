import { REAL_PACE } from '../../../cli/n8n/pacing';
import { webhookNode } from '../../support/n8nApiDoubleClient';
import { managed, node, surfaceOf, TRIGGER } from './drifts';
import { Operator, OWNER } from './harness';

jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

describe.each(['1.100.1', '2.4', '2.41.1'] as const)('going out of service on n8n %s', (release) => {
  let operator: Operator;
  beforeEach(async () => {
    operator = await Operator.start(release);
    const { n8n } = operator;
    const tag = n8n.store.addTag('theirs');
    // A name that starts like one of ours, and a tag of ours on a workflow of theirs.
    n8n.store.addCredential({ name: `${OWNER}: shared`, type: 'httpHeaderAuth', data: {} });
    n8n.store.addCredential({ name: 'Consumers', type: 'mcpConsumersApi', data: {} });
    const nodes = [webhookNode('human')];
    n8n.seedWorkflow({ name: `${OWNER} notes`, active: true, nodes, tagIds: [tag.id] });
    n8n.rememberForeign();
    expect((await operator.run('apply')).code).toBe(0);
  });
  afterEach(async () => {
    expect(operator.n8n.foreignChanges()).toEqual([]);
    await operator.stop();
  });

  const credentials = () =>
    [...operator.n8n.store.credentials.values()]
      .map(({ name }) => name)
      .filter((name) => name.startsWith(`${OWNER}:web`))
      .sort();
  const workflows = () =>
    [...operator.n8n.store.workflows.values()]
      .map(({ name }) => name)
      .filter((name) => name.startsWith(`${OWNER}:`))
      .sort();
  const served = () => [...operator.n8n.store.served.keys()].sort();
  const prometheus = [`${OWNER}:web-app-prometheus consumers`, `${OWNER}:web-app-prometheus upstream`];

  test('a disabled surface loses its endpoint and its credentials, stays so, and works again when enabled', async () => {
    surfaceOf(operator)['enabled'] = false;
    const plan = await operator.run('plan');
    expect(plan.code).toBe(2);
    expect(plan.stdout).toContain('active: true -> false');
    const first = await operator.run('apply');
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain('1 to take out of service');
    expect(served()).toEqual(['human', 'web-app-prometheus']);
    expect(credentials()).toEqual(prometheus);
    expect(JSON.stringify(managed(operator).nodes)).not.toContain('mcpConsumersApi');

    expect(await operator.run('plan')).toMatchObject({ code: 0 });
    await operator.run('apply');
    expect(operator.n8n.writes).toEqual([]);

    surfaceOf(operator)['enabled'] = true;
    expect(await operator.run('apply')).toMatchObject({ code: 0 });
    expect(served()).toEqual(['human', 'web-app-n8n', 'web-app-prometheus']);
    expect(workflows()).toHaveLength(2);
    expect(credentials()).toHaveLength(4);
    expect(await operator.run('plan')).toMatchObject({ code: 0 });
  });

  test('a disabled surface that a person activates again is taken out of service again', async () => {
    surfaceOf(operator)['enabled'] = false;
    await operator.run('apply');
    const row = managed(operator);
    row.active = true;
    operator.n8n.store.served.set('web-app-n8n', row.id);
    expect(await operator.run('plan')).toMatchObject({ code: 2 });
    expect(await operator.run('apply')).toMatchObject({ code: 0 });
    expect(served()).toEqual(['human', 'web-app-prometheus']);
  });

  test('a disabled surface that a person has archived is taken out of service, and stays archived', async () => {
    const row = managed(operator);
    Object.assign(row, { isArchived: true, active: false, published: null });
    operator.n8n.store.served.delete('web-app-n8n');
    surfaceOf(operator)['enabled'] = false;
    expect(await operator.run('apply')).toMatchObject({ code: 0 });
    expect(credentials()).toEqual(prometheus);
    expect(await operator.run('plan')).toMatchObject({ code: 0 });
    expect(release === '2.4' ? workflows() : managed(operator).isArchived).toEqual(
      release === '2.4' ? [`${OWNER}:web-app-prometheus`] : true,
    );
  });

  test('a credential that a person chose for a disabled surface is left alone', async () => {
    const data = { consumers: { values: [] } };
    const mine = operator.n8n.store.addCredential({ name: 'Mine', type: 'mcpConsumersApi', data });
    const reference = { id: mine.id, name: mine.name };
    node(managed(operator), TRIGGER).credentials = { mcpConsumersApi: reference };
    surfaceOf(operator)['enabled'] = false;
    expect(await operator.run('apply')).toMatchObject({ code: 0 });
    expect(operator.n8n.store.credentials.get(mine.id)).toEqual(mine);
    expect(credentials()).toEqual(prometheus);
    expect(await operator.run('plan')).toMatchObject({ code: 0 });
  });

  test('a surface that the file does not name any more is taken out of service by apply and deleted by prune', async () => {
    operator.draft.surfaces.shift();
    expect(await operator.run('apply')).toMatchObject({ code: 0 });
    expect(served()).toEqual(['human', 'web-app-prometheus']);
    expect(credentials()).toEqual(prometheus);
    expect(workflows()).toHaveLength(2);
    const pruned = await operator.run('prune');
    expect(pruned).toMatchObject({ code: 0, stdout: 'web-app-n8n: removed\n' });
    expect(workflows()).toEqual([`${OWNER}:web-app-prometheus`]);
    expect((await operator.run('prune')).stdout).toBe('There is nothing to remove.\n');
    expect(operator.n8n.writes).toEqual([]);
    expect(await operator.run('plan')).toMatchObject({ code: 0 });
  });

  test('its path is free for another surface in the same run', async () => {
    operator.draft.owner = 'acme-mcp';
    const row = managed(operator);
    // The application had another name when the workflow was made.
    row.name = `${OWNER}:web-app-before`;
    const note = row.nodes.find(({ name }) => name === 'About this workflow')?.parameters ?? {};
    note['content'] = String(note['content']).replace(
      '"application_id": "web-app-n8n"',
      '"application_id": "web-app-before"',
    );
    expect(await operator.run('apply')).toMatchObject({ code: 0 });
    expect(served()).toEqual(['human', 'web-app-n8n', 'web-app-prometheus']);
    expect(workflows()).toHaveLength(3);
    expect(await operator.run('prune')).toMatchObject({ code: 0 });
    expect(workflows()).toHaveLength(2);
    expect(await operator.run('plan')).toMatchObject({ code: 0 });
  });

  test('destroy asks for the owner once more, then removes everything of it, the tag too', async () => {
    await expect(operator.run('destroy')).rejects.toThrow(`--confirm ${OWNER}`);
    await expect(operator.run('destroy', '--confirm', 'other')).rejects.toThrow(`--confirm ${OWNER}`);
    expect(operator.n8n.writes).toEqual([]);
    expect(await operator.run('destroy', '--confirm', OWNER)).toMatchObject({ code: 0 });
    expect({ workflows: workflows(), credentials: credentials(), served: served() }).toEqual({
      ...{ workflows: [], credentials: [], served: ['human'] },
    });
    expect([...operator.n8n.store.tags.values()].map(({ name }) => name)).toEqual(['theirs']);
  });

  test('destroy keeps the tag while a workflow of somebody else carries it', async () => {
    const [tag] = [...operator.n8n.store.tags.values()].filter(({ name }) => name === OWNER);
    operator.n8n.seedWorkflow({ name: 'Theirs', tagIds: [tag?.id ?? ''] });
    expect(await operator.run('destroy', '--confirm', OWNER)).toMatchObject({ code: 0 });
    expect([...operator.n8n.store.tags.values()].map(({ name }) => name)).toContain(OWNER);
  });

  test('destroy removes credentials that an interrupted run has left without a workflow', async () => {
    operator.n8n.store.addCredential({
      name: `${OWNER}:web-app-n8n upstream`,
      type: 'mcpUpstreamApi',
      data: {},
    });
    expect(await operator.run('destroy', '--confirm', OWNER)).toMatchObject({ code: 0 });
    expect(credentials()).toEqual([]);
  });

  test('an interrupted destroy is finished by the next one', async () => {
    for (let nth = 1; nth <= 6; nth += 1) {
      operator.n8n.inject({ kind: 'cut', when: 'after' }, { method: 'DELETE', nth, times: 4 });
      await operator.run('destroy', '--confirm', OWNER).catch(() => undefined);
      operator.n8n.forget();
    }
    expect(await operator.run('destroy', '--confirm', OWNER)).toMatchObject({ code: 0 });
    expect({ workflows: workflows(), credentials: credentials(), served: served() }).toEqual({
      ...{ workflows: [], credentials: [], served: ['human'] },
    });
  });
});
