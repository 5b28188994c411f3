import { REAL_PACE } from '../../../cli/n8n/pacing';
import { credentialFaults } from '../../../cli/provision/credentialFaults';
import { N8nApiDouble } from '../../support/n8nApiDouble';
import type { Json } from '../../support/n8nApiDouble/store';
import { webhookNode } from '../../support/n8nApiDoubleClient';
import { credential, managed, node, surfaceOf, TRIGGER } from './drifts';
import { Operator, OWNER } from './harness';
import { Reconciler } from './reconciler';

jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

/** Failures that people reported of other tools; the ids are those of the collection of open cases. */
describe.each(['1.100.1', '2.41.1'] as const)('reported elsewhere, on n8n %s', (release) => {
  let operator: Operator;
  let reconciler: Reconciler;
  beforeEach(async () => {
    operator = await Operator.start(release);
    operator.draft.surfaces.splice(1);
    reconciler = new Reconciler(operator);
  });
  afterEach(async () => {
    await operator.stop();
  });

  const sent = (method: string, path: RegExp) =>
    operator.n8n.requests.filter((one) => one.method === method && path.test(one.path));
  const changed = async () => {
    operator.secret('web-app-n8n.upstream');
    operator.n8n.forget();
    return await reconciler.apply();
  };

  test('C089 an update sends name, nodes, connections and settings, and nothing that was read', async () => {
    await reconciler.apply();
    Object.assign(managed(operator), { meta: { a: 1 }, staticData: { b: 2 }, pinData: { c: [] } });
    node(managed(operator), TRIGGER).parameters['recording'] = 'none';
    operator.n8n.forget();
    await reconciler.apply();
    const [put] = sent('PUT', /^\/workflows\/[^/]+$/);
    expect(Object.keys(put?.body as object).sort()).toEqual(['connections', 'name', 'nodes', 'settings']);
  });

  test('C091 an update keeps settings that it does not mention', async () => {
    await reconciler.apply();
    managed(operator).settings['errorWorkflow'] = 'wfErr';
    if (release === '2.41.1') {
      Object.assign(managed(operator).settings, { callerPolicy: 'workflowsFromAList', callerIds: 'wfA,wfB' });
    }
    const before = { ...managed(operator).settings };
    node(managed(operator), TRIGGER).parameters['recording'] = 'none';
    operator.n8n.forget();
    await reconciler.apply();
    expect(sent('PUT', /^\/workflows\/[^/]+$/)[0]?.body).toMatchObject({ settings: before });
  });

  test('C093 a new workflow is sent without active and tags; they have calls of their own', async () => {
    await reconciler.apply();
    const [post] = sent('POST', /^\/workflows$/);
    expect(Object.keys(post?.body as object).sort()).toEqual(['connections', 'name', 'nodes', 'settings']);
    expect(sent('POST', /\/activate$/)).toHaveLength(1);
    expect(sent('PUT', /\/tags$/)).toHaveLength(1);
  });

  test('C095 a second run writes nothing, whatever n8n adds and in which order it answers', async () => {
    await reconciler.apply();
    Object.assign(managed(operator).settings, {
      callerPolicy: 'workflowsFromSameOwner',
      availableInMCP: false,
    });
    for (const one of managed(operator).nodes) {
      const entries = Object.entries(one).reverse();
      for (const key of Object.keys(one)) Reflect.deleteProperty(one, key);
      Object.assign(one, Object.fromEntries(entries));
    }
    await reconciler.heal();
  });

  test('C099 two workflows of one name: nothing is written, and the message names both', async () => {
    await reconciler.apply();
    const { id, ...copy } = structuredClone(managed(operator));
    const other = operator.n8n.seedWorkflow({ ...copy, active: false });
    operator.n8n.forget();
    const [applied] = await reconciler.apply();
    expect(applied?.error?.code).toBe('duplicate_resource');
    for (const one of [id, other.id]) expect(applied?.error?.message).toContain(one);
    expect(operator.n8n.writes).toEqual([]);
  });

  test('C101 a web page is not "no workflows"; a base address may end in a slash or in the prefix', async () => {
    operator.n8n.inject({ kind: 'html' }, { times: 9 });
    await expect(reconciler.apply()).rejects.toMatchObject({ code: 'not_the_public_api' });
    expect(operator.n8n.writes).toEqual([]);
    operator.n8n.forget();
    await reconciler.apply();
    for (const suffix of ['/', '/api/v1', '/api/v1/']) {
      operator.draft.n8n['address'] = `${operator.n8n.origin}${suffix}`;
      expect(await operator.run('apply')).toMatchObject({ code: 0 });
      expect(operator.n8n.writes).toEqual([]);
    }
  });

  test('C104 nothing in the operator file is an id: against another instance it finds what is there by its name', async () => {
    await reconciler.apply();
    const other = await N8nApiDouble.start(release);
    try {
      operator.draft.n8n['address'] = other.origin;
      expect(await operator.run('apply')).toMatchObject({ code: 0 });
      expect(other.store.workflows.size).toBe(1);
      other.requests.length = 0;
      expect(await operator.run('apply')).toMatchObject({ code: 0 });
      expect(other.writes).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  test('C105 an activation that n8n refuses is said with its words and the path; the next run activates and no more', async () => {
    const message = 'URL path already taken by another workflow';
    operator.n8n.inject({ kind: 'status', status: 400, message }, { path: /activate$/ });
    const [applied] = await reconciler.apply();
    expect(applied?.error).toMatchObject({ code: 'not_active' });
    expect(applied?.error?.message).toContain('was made, and is not active at /mcp/web-app-n8n');
    expect(applied?.error?.message).toContain(message);
    operator.n8n.forget();
    expect((await reconciler.apply())[0]?.error).toBeNull();
    expect(operator.n8n.writes).toEqual([`POST /workflows/${managed(operator).id}/activate`]);
  });

  test('C107 the trigger has a webhook id, and the same one on each run', async () => {
    await reconciler.apply();
    const first = node(managed(operator), TRIGGER)['webhookId'];
    expect(first).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    await changed();
    expect(node(managed(operator), TRIGGER)['webhookId']).toBe(first);
    node(managed(operator), TRIGGER)['webhookId'] = undefined;
    await reconciler.heal();
    expect(node(managed(operator), TRIGGER)['webhookId']).toBe(first);
  });

  test('C111 a workflow that n8n cannot start is failed with its words and not tried again; the next one is made', async () => {
    operator.draft.surfaces.push(operator.surface('web-app-prometheus'));
    const message = 'Workflow has no node to start the workflow';
    operator.n8n.inject({ kind: 'status', status: 400, message }, { path: /activate$/ });
    const [first, second] = await reconciler.apply();
    expect(first?.error?.message).toContain(`${OWNER}:web-app-n8n was made, and is not active`);
    expect(first?.error?.message).toContain(message);
    expect(second?.error).toBeNull();
    expect(sent('POST', /activate$/)).toHaveLength(2);
  });

  test('C112 a credential that its schema does not take is named by its fields, before anything is written', async () => {
    const type = operator.n8n.credentialTypes.get('mcpUpstreamApi') as Json;
    operator.n8n.credentialTypes.set('mcpUpstreamApi', {
      ...type,
      allOf: [
        {
          if: { properties: { authentication: { enum: ['bearer'] } }, required: ['authentication'] },
          then: { required: ['keySecret'] },
        },
      ],
    });
    const [applied] = await reconciler.apply();
    expect(applied?.error).toMatchObject({ code: 'credential_incomplete' });
    expect(applied?.error?.message).toContain('keySecret is missing');
    for (const secret of operator.secrets) expect(applied?.error?.message).not.toContain(secret);
    expect(operator.n8n.writes).toEqual([]);
  });

  test('C116 a workflow carries the ids of our credentials; an id that a person put there is put right', async () => {
    await reconciler.apply();
    const { id, name } = credential(operator, 'upstream');
    node(managed(operator), 'n8n_list_workflows').credentials = {
      mcpUpstreamApi: { id: 'REPLACE_ME', name },
    };
    await reconciler.heal();
    expect(node(managed(operator), 'n8n_list_workflows').credentials).toEqual({
      mcpUpstreamApi: { id, name },
    });
    expect(operator.n8n.store.credentials.size).toBe(2);
  });
});

test('C109 a version that was saved and does not run is published, and an error if it still does not run', async () => {
  const operator = await Operator.start('2.41.1');
  try {
    operator.draft.surfaces.splice(1);
    const reconciler = new Reconciler(operator);
    await reconciler.apply();
    managed(operator).versionId = 'v10';
    expect(await reconciler.changes()).toEqual([
      { field: 'active version', from: 'an older one', to: 'what is saved' },
    ]);
    operator.n8n.forget();
    await reconciler.apply();
    expect(operator.n8n.writes).toEqual([`POST /workflows/${managed(operator).id}/activate`]);

    managed(operator).versionId = 'v11';
    const { id, name, nodes, connections, settings } = managed(operator);
    const stale = {
      id,
      name,
      nodes,
      connections,
      settings,
      active: true,
      versionId: 'v11',
      activeVersionId: 'v9',
    };
    operator.n8n.inject(
      { kind: 'answer', reply: { status: 200, body: stale } },
      { path: /activate$|^\/workflows\/\w+$/, times: 2 },
    );
    expect((await reconciler.apply())[0]?.error).toMatchObject({ code: 'not_published' });
  } finally {
    await operator.stop();
  }
});

test('C114 where credentials can be listed and changed, none is ever added: the one that is there is changed', async () => {
  const operator = await Operator.start('2.41.1');
  try {
    operator.draft.surfaces.splice(1);
    const reconciler = new Reconciler(operator);
    const { id } = operator.n8n.store.addCredential({
      name: `${OWNER}:web-app-n8n upstream`,
      type: 'mcpUpstreamApi',
      data: {},
    });
    await reconciler.apply();
    operator.secret('web-app-n8n.upstream');
    operator.n8n.forget();
    await reconciler.apply();
    expect(operator.n8n.writes.filter((write) => write.includes('/credentials'))).toEqual([
      `PATCH /credentials/${id}`,
    ]);
    expect(operator.n8n.store.credentials.size).toBe(2);
  } finally {
    await operator.stop();
  }
});

test('C119 where credentials cannot be listed the ledger says which is ours; a key that may not list them is told so', async () => {
  const old = await Operator.start('1.100.1');
  const young = await Operator.start('2.41.1');
  try {
    surfaceOf(old)['recording'] = 'none';
    expect(await old.run('apply')).toMatchObject({ code: 0 });
    surfaceOf(old)['recording'] = 'all';
    expect(await old.run('apply')).toMatchObject({ code: 0 });
    expect(old.n8n.writes.filter((write) => write.includes('/credentials'))).toEqual([]);

    young.n8n.scopes = ['workflow:list'];
    await expect(young.run('apply')).rejects.toMatchObject({
      code: 'api_key_scope_missing',
      message: expect.stringContaining('credential:list') as string,
    });
    expect(young.n8n.writes).toEqual([]);
  } finally {
    await old.stop();
    await young.stop();
  }
});

test('the schema of a credential is checked by field, and no value is ever named', () => {
  const schema = {
    additionalProperties: false,
    properties: { authType: { enum: ['token', 'key'] }, account: {}, keyId: {}, keySecret: {} },
    required: ['account'],
    allOf: [
      { if: { properties: { authType: { enum: ['key'] } } }, then: { required: ['keyId', 'keySecret'] } },
    ],
  };
  const faults = credentialFaults(schema, { authType: 'key', account: 'a1', keyId: 'k-77' });
  expect(faults).toEqual(['keySecret is missing']);
  expect(credentialFaults(schema, { authType: 'x', account: 'a1', more: 1 })).toEqual([
    'authType is none of its choices',
    'more is unknown',
  ]);
});

test('a path that a human workflow takes over on 1.x is seen by the next plan', async () => {
  const operator = await Operator.start('1.100.1');
  try {
    operator.draft.surfaces.splice(1);
    const reconciler = new Reconciler(operator);
    await reconciler.apply();
    const theirs = webhookNode('web-app-n8n');
    Object.assign(theirs.parameters, { httpMethod: 'POST' });
    const human = operator.n8n.seedWorkflow({ name: 'Theirs', active: true, nodes: [theirs] });
    operator.n8n.rememberForeign();
    const plan = await reconciler.plan();
    expect(plan.surfaces[0]?.error).toMatchObject({ code: 'path_taken' });
    expect(plan.surfaces[0]?.error?.message).toContain(human.id);
    expect(operator.n8n.foreignChanges()).toEqual([]);
  } finally {
    await operator.stop();
  }
});
