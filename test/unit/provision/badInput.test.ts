import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { REAL_PACE } from '../../../cli/n8n/pacing';
import { expectOneSentence } from '../../support/expectations';
import type { Fault } from '../../support/n8nApiDouble';
import { webhookNode } from '../../support/n8nApiDoubleClient';
import { runCli } from '../../support/runCli';
import { fileIn, surfaceOf } from './drifts';
import { Operator, OWNER } from './harness';

jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

interface Refused {
  readonly code: string;
  readonly message: string;
}

describe.each(['1.100.1', '2.41.1'] as const)('bad input on n8n %s', (release) => {
  let operator: Operator;
  beforeEach(async () => {
    operator = await Operator.start(release);
    operator.n8n.seedWorkflow({ name: 'A human workflow', active: true, nodes: [webhookNode('human')] });
    operator.n8n.rememberForeign();
  });
  afterEach(async () => {
    await operator.stop();
  });

  const expectUntouched = () => {
    expect(operator.n8n.writes).toEqual([]);
    expect(operator.n8n.foreignChanges()).toEqual([]);
  };

  /** Both commands refuse all of it before anything is written. */
  const expectRefusal = async (code: string, says: RegExp) => {
    for (const command of ['plan', 'apply']) {
      const error = (await operator.run(command).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )) as Refused | undefined;
      expect({ command, code: error?.code }).toEqual({ command, code });
      expect(error?.message).toMatch(says);
      for (const secret of operator.secrets) expect(error?.message).not.toContain(secret);
      expectUntouched();
    }
  };

  /** The first surface is refused with a sentence; the second one is planned, and applied all the same. */
  const expectFailedSurface = async (code: string, says: RegExp) => {
    const { code: exit, report } = await operator.json('plan');
    const [first, second] = report['surfaces'] as { action: string; error?: Refused }[];
    expect({ exit, action: first?.action, code: first?.error?.code, other: second?.action }).toEqual({
      ...{ exit: 1, action: 'failed', code, other: 'create' },
    });
    expectOneSentence(first?.error?.message ?? '');
    expect(first?.error?.message).toMatch(says);
    expectUntouched();
    expect(await operator.run('apply')).toMatchObject({ code: 1 });
    expect(operator.n8n.foreignChanges()).toEqual([]);
    const names = [...operator.n8n.store.workflows.values()].map(({ name }) => name);
    expect(names).toContain(`${OWNER}:web-app-prometheus`);
    const credentials = [...operator.n8n.store.credentials.values()].map(({ name }) => name);
    expect(credentials.filter((name) => name.startsWith(`${OWNER}:web-app-n8n `))).toEqual([]);
  };

  describe('of the operator file', () => {
    test('an unknown application is refused with those that there are', async () => {
      surfaceOf(operator)['application_id'] = 'web-app-nowhere';
      await expectRefusal('application_unknown', /web-app-nowhere.*web-app-prometheus/);
    });

    test.each<[string, (o: Operator) => unknown, RegExp]>([
      ['a tool more', (o) => (surfaceOf(o)['tools'] = ['n8n_delete_workflow']), /n8n_delete_workflow/],
      [
        'a tool more for one consumer',
        (o) => (surfaceOf(o)['consumer_tools'] = { 'client-claude': ['n8n_delete_workflow'] }),
        /n8n_delete_workflow/,
      ],
      ['a higher limit', (o) => (surfaceOf(o)['limits'] = { timeout_seconds: 20 }), /timeout_seconds 20/],
      [
        'a consumer that the contract does not admit',
        (o) => {
          o.draft.consumers.push({ id: 'client-other', token: `file:${o.secret('client-other')}` });
          surfaceOf(o)['consumers'] = ['client-other'];
        },
        /client-other/,
      ],
    ])('an override that widens by %s is refused', async (_name, widen, says) => {
      widen(operator);
      await expectRefusal('override_widens', says);
    });

    test('an unknown key is refused with its line', async () => {
      surfaceOf(operator)['include_all'] = true;
      await expectRefusal(
        'operator_file_invalid',
        /mcp-curated\.yml:\d+ surfaces\.0\.include_all: is not a known key/,
      );
    });

    test('an authentication without a secret is refused', async () => {
      delete (surfaceOf(operator)['upstream'] as Record<string, unknown>)['secret'];
      await expectRefusal('operator_file_invalid', /surfaces\.0\.upstream\.secret/);
    });

    test('a file that is not there is refused', async () => {
      const missing = fileIn(operator, 'missing.yml');
      await expect(runCli('apply', '--file', missing)).rejects.toMatchObject({
        code: 'operator_file_unreadable',
      });
      expectUntouched();
    });

    test('a folder of contracts that is not there is refused', async () => {
      Object.assign(operator.draft, { workflows: 'nowhere' });
      await expectRefusal('contract_invalid', /workflows in the operator file/);
    });

    test('a missing API key is refused', async () => {
      rmSync(fileIn(operator, 'api-key'));
      await expectRefusal('secret_unreadable', /api-key/);
    });
  });

  describe('of a secret', () => {
    test('that is not there stops its surface only', async () => {
      rmSync(fileIn(operator, 'web-app-n8n.upstream'));
      await expectFailedSurface('secret_unreadable', /web-app-n8n\.upstream cannot be read/);
    });

    test('that is empty stops its surface only', async () => {
      writeFileSync(fileIn(operator, 'web-app-n8n.upstream'), '\n');
      await expectFailedSurface('secret_unreadable', /empty/);
    });

    test('that everybody may read stops its surface only', async () => {
      chmodSync(fileIn(operator, 'web-app-n8n.upstream'), 0o644);
      await expectFailedSurface('secret_unreadable', /chmod 600/);
    });

    test('that no header can carry stops its surface only', async () => {
      operator.secret('web-app-n8n.upstream', 'two\nlines');
      await expectFailedSurface('credential_missing', /control character/);
    });

    test('that is a short token stops its surface only', async () => {
      operator.secret('short', 'hunter2hunter2');
      operator.draft.consumers.push({ id: 'client-cursor', token: 'file:short' });
      surfaceOf(operator)['consumers'] = ['client-cursor'];
      await expectFailedSurface('secret_too_short', /client-cursor is shorter than 32/);
    });

    test('that two consumers of a surface share is refused', async () => {
      operator.draft.consumers.push({ id: 'client-cursor', token: 'file:client-claude' });
      surfaceOf(operator)['consumers'] = ['client-claude', 'client-cursor'];
      await expectFailedSurface('token_shared', /client-claude and client-cursor/);
    });

    test('that two consumers share at different surfaces is refused', async () => {
      operator.draft.consumers.push({ id: 'client-cursor', token: 'file:client-claude' });
      surfaceOf(operator)['consumers'] = ['client-cursor'];
      const { code, report } = await operator.json('plan');
      expect(code).toBe(1);
      expect(JSON.stringify(report)).toContain('token_shared');
      expectUntouched();
    });
  });

  describe('of what people have in n8n', () => {
    test('two workflows of one name: none is touched', async () => {
      const tag = operator.n8n.store.addTag(OWNER);
      const named = { name: `${OWNER}:web-app-n8n`, tagIds: [tag.id] };
      const ids = [operator.n8n.seedWorkflow(named).id, operator.n8n.seedWorkflow(named).id];
      operator.n8n.rememberForeign();
      await expectFailedSurface('duplicate_resource', new RegExp(ids.join('.*')));
    });

    test('a human workflow with our name is not taken over', async () => {
      operator.n8n.seedWorkflow({ name: `${OWNER}:web-app-n8n` });
      operator.n8n.rememberForeign();
      await expectFailedSurface('name_taken', /neither the tag/);
    });

    test.each(['n8n-nodes-base.webhook', '@n8n/n8n-nodes-langchain.mcpTrigger'])(
      'the path of a human workflow with a %s is not taken over',
      async (type) => {
        const node = { ...webhookNode('web-app-n8n'), type };
        node.parameters = { path: 'web-app-n8n', httpMethod: 'POST' } as never;
        const human = operator.n8n.seedWorkflow({ name: 'Theirs', active: true, nodes: [node] });
        operator.n8n.rememberForeign();
        await expectFailedSurface('path_taken', new RegExp(human.id));
        expect(operator.n8n.store.served.get('web-app-n8n')).toBe(human.id);
      },
    );

    test('a copy of a managed workflow that a person made for themselves is left alone', async () => {
      await operator.run('apply');
      const { n8n } = operator;
      const [original] = [...n8n.store.workflows.values()].filter(({ name }) =>
        name.endsWith(':web-app-n8n'),
      );
      if (!original) throw new Error('There is no workflow.');
      const copy = structuredClone(original);
      n8n.seedWorkflow({ ...copy, id: 'copy', name: `${OWNER}:web-app-n8n copy`, tagIds: [], active: false });
      const before = n8n.store.snapshot().get('workflow copy');
      expect(await operator.run('apply')).toMatchObject({ code: 0 });
      expect(await operator.run('destroy', '--confirm', OWNER)).toMatchObject({ code: 0 });
      expect(n8n.store.snapshot().get('workflow copy')).toBe(before);
    });
  });

  describe('of n8n', () => {
    test('a pack that is not installed is said before anything is written', async () => {
      operator.n8n.credentialTypes.delete('mcpConsumersApi');
      operator.n8n.credentialTypes.delete('mcpUpstreamApi');
      await expectRefusal('pack_missing', /install the pack/);
    });

    test.each<[string, string, Fault]>([
      ['401', 'api_key_refused', { kind: 'status', status: 401 }],
      ['403', 'api_key_scope_missing', { kind: 'status', status: 403 }],
      ['404', 'not_found', { kind: 'status', status: 404, message: 'Not Found' }],
      ['405', 'method_not_supported', { kind: 'status', status: 405 }],
      ['429', 'rate_limited', { kind: 'status', status: 429 }],
      ['500', 'unavailable', { kind: 'status', status: 500 }],
      ['a page', 'not_the_public_api', { kind: 'html' }],
      ['half a JSON', 'not_the_public_api', { kind: 'half_json' }],
      ['a redirect', 'not_the_public_api', { kind: 'redirect' }],
      ['nothing', 'unreachable', { kind: 'cut', when: 'before' }],
      ['pages without an end', 'page_cursor_repeated', { kind: 'endless_cursor', fresh: true }],
      ['one page again and again', 'page_cursor_repeated', { kind: 'endless_cursor', fresh: false }],
    ])('that answers with %s is never taken for an empty one', async (_name, code, fault) => {
      operator.n8n.inject(fault, { method: 'GET', path: '/workflows', times: 100 });
      await expectRefusal(code, /./);
    });

    test('with small pages is read to the end: the workflow on the last one is found (C097)', async () => {
      await operator.run('apply');
      operator.n8n.inject({ kind: 'page_size', size: 1 }, { method: 'GET', times: 1000 });
      expect(await operator.run('apply')).toMatchObject({ code: 0 });
      expect(operator.n8n.writes).toEqual([]);
      expect(operator.n8n.requests.filter(({ path }) => path === '/workflows').length).toBeGreaterThan(2);
    });
  });
});

test('a key without a scope is refused with all that it lacks, before anything is written', async () => {
  const operator = await Operator.start('2.41.1');
  try {
    operator.n8n.scopes = ['workflow:list', 'credential:list', 'workflow:create', 'credential:create'];
    const refused = operator.run('apply');
    await expect(refused).rejects.toMatchObject({
      code: 'api_key_scope_missing',
      message: expect.stringContaining('workflow:activate, tag:list, workflowTags:update') as string,
    });
    expect(operator.n8n.writes).toEqual([]);
  } finally {
    await operator.stop();
  }
});

test('a key that is revoked in the middle of a run stops it: every surface says so, one request is refused', async () => {
  const operator = await Operator.start('2.41.1');
  try {
    operator.n8n.inject({ kind: 'status', status: 401 }, { method: 'POST', times: 100 });
    const { code, report } = await operator.json('apply');
    expect(code).toBe(1);
    const surfaces = report['surfaces'] as { error: Refused }[];
    expect(surfaces.map(({ error }) => error.code)).toEqual(['api_key_refused', 'api_key_refused']);
    expect(operator.n8n.writes).toEqual(['POST /credentials']);
  } finally {
    await operator.stop();
  }
});
