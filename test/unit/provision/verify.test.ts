import { makeBearer } from '../../../core/server/bearer';
import { Operator } from './harness';
import { failures, told, verifiedBy } from './verifying';

let operator: Operator;
beforeEach(async () => {
  operator = await Operator.start('2.41.1');
});
afterEach(async () => {
  await operator.stop();
});

const verified = async (...args: string[]) => await verifiedBy(operator, ...args);

const applied = async () => {
  expect(await operator.run('apply')).toMatchObject({ code: 0 });
};

describe('surfaces as they should be', () => {
  test('pass every check: handshake, names, pins, a read, and who is refused', async () => {
    operator.draft.consumers.push({ id: 'client-cursor', token: `file:${operator.secret('cursor')}` });
    await applied();
    const { code, checks } = await verified();
    expect(failures(checks)).toEqual([]);
    expect(code).toBe(0);
    for (const id of ['web-app-n8n', 'web-app-prometheus']) {
      const both = ['client-claude passed', 'web-app-openwebui passed'];
      expect(told(checks, 'handshake', id)).toEqual(both);
      expect(told(checks, 'tool_names', id)).toEqual(both);
      expect(told(checks, 'tool_pins', id)).toEqual(both);
      expect(told(checks, 'read', id)).toEqual(['client-claude passed']);
      expect(told(checks, 'upstream_credential', id)).toEqual(['client-claude passed']);
      expect(told(checks, 'no_bearer_refused', id)).toEqual(['- passed']);
      expect(told(checks, 'wrong_bearer_refused', id)).toEqual(['- passed']);
      expect(told(checks, 'foreign_bearer_refused', id)).toEqual(['client-cursor passed']);
      expect(told(checks, 'redaction', id)).toEqual(['client-claude skipped nothing_to_redact']);
    }
  });

  test('are looked at without the API of n8n and without a key for it', async () => {
    await applied();
    operator.draft.n8n['api_key'] = 'env:NO_SUCH_VARIABLE';
    expect((await verified()).code).toBe(0);
    expect(operator.n8n.requests).toEqual([]);
  });

  test('are told to a person line by line, and no bearer is in any output', async () => {
    await applied();
    const human = await operator.run('verify', '--only', 'web-app-n8n');
    expect(human.stdout).toContain('web-app-n8n\n  passed handshake client-claude: ');
    expect(human.stdout).not.toContain('web-app-prometheus');
    expect(human.stdout).toMatch(/^\d+ passed, 0 failed, \d+ skipped\.$/m);
    const json = await operator.json('verify');
    for (const secret of operator.secrets) {
      expect(human.stdout + human.stderr + JSON.stringify(json)).not.toContain(secret);
    }
  });

  test('show a consumer its own tools only, and that is what is compared', async () => {
    const [surface] = operator.draft.surfaces;
    Object.assign(surface ?? {}, { consumer_tools: { 'client-claude': ['n8n_list_executions'] } });
    await applied();
    const { checks } = await verified('--only', 'web-app-n8n');
    expect(failures(checks)).toEqual([]);
    const names = checks.filter(({ check }) => check === 'tool_names').map(({ message }) => message);
    expect(names).toEqual([
      'Exactly n8n_list_executions.',
      'Exactly n8n_list_workflows, n8n_get_workflow_summary, n8n_list_executions.',
    ]);
  });

  test('an unknown application id is an error, not an empty report', async () => {
    await applied();
    await expect(operator.run('verify', '--only', 'web-app-nothing')).rejects.toMatchObject({
      code: 'application_unknown',
    });
  });
});

describe('consumers', () => {
  test('of which only the hash is known are skipped with a reason, never passed', async () => {
    const { sha256 } = makeBearer();
    operator.draft.consumers[0] = { id: 'client-claude', token_sha256: sha256 };
    await applied();
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(0);
    expect(told(checks, 'bearer')).toEqual(['client-claude skipped bearer_unknown']);
    expect(told(checks, 'handshake')).toEqual(['web-app-openwebui passed']);
  });

  test('none of which can be tried leave the read skipped', async () => {
    operator.draft.consumers = ['client-claude', 'web-app-openwebui'].map((id) => ({
      id,
      token_sha256: makeBearer().sha256,
    }));
    await applied();
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(0);
    expect(told(checks, 'read')).toEqual(['- skipped no_session']);
    expect(told(checks, 'foreign_bearer_refused')).toEqual(['- skipped no_other_bearer']);
  });

  test('whose bearer cannot be read are a failure that names the reference', async () => {
    await applied();
    operator.draft.consumers[0] = { id: 'client-claude', token: 'file:gone' };
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(1);
    expect(told(checks, 'bearer')).toEqual(['client-claude failed secret_unreadable']);
  });

  test('whose bearer no header can carry fail alone', async () => {
    operator.secret('client-claude', '✓'.repeat(40));
    await applied();
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(1);
    expect(told(checks, 'handshake')).toEqual([
      'client-claude failed credential_missing',
      'web-app-openwebui passed',
    ]);
  });

  test('whose bearer has expired must be refused', async () => {
    Object.assign(operator.draft.consumers[0] ?? {}, { expires_at: '2020-01-01T00:00:00Z' });
    await applied();
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(0);
    expect(told(checks, 'expired_bearer_refused')).toEqual(['client-claude passed']);
    expect(told(checks, 'handshake')).toEqual(['web-app-openwebui passed']);
  });

  test('whose expired bearer is still let in are a failure', async () => {
    await applied();
    Object.assign(operator.draft.consumers[0] ?? {}, { expires_at: '2020-01-01T00:00:00Z' });
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(1);
    expect(told(checks, 'expired_bearer_refused')).toEqual(['client-claude failed expired_bearer_accepted']);
  });

  test('with one bearer for each surface are refused with that of another one', async () => {
    for (const id of ['web-app-n8n', 'web-app-prometheus']) operator.secret(`${id}.claude`);
    operator.draft.consumers[0] = { id: 'client-claude', token: 'file:{application_id}.claude' };
    await applied();
    const { code, checks } = await verified();
    expect(code).toBe(0);
    expect(told(checks, 'foreign_bearer_refused')).toEqual(['client-claude passed']);
    const [check] = checks.filter((one) => one.check === 'foreign_bearer_refused');
    expect(check?.message).toBe('The bearer of client-claude at web-app-prometheus is answered 401.');
  });

  test('that were taken off a surface and are still let in are a failure', async () => {
    await applied();
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], consumers: ['web-app-openwebui'] };
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(1);
    expect(told(checks, 'foreign_bearer_refused')).toEqual(['client-claude failed foreign_bearer_accepted']);
  });
});
