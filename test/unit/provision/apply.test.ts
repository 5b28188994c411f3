import { RELEASES } from '../../support/n8nApiDouble';
import { Operator, OWNER } from './harness';

describe.each(RELEASES)('apply on n8n %s', (release) => {
  let operator: Operator;
  beforeEach(async () => {
    operator = await Operator.start(release);
  });
  afterEach(async () => {
    await operator.stop();
  });

  test('makes the surfaces, and a second run writes nothing and says so', async () => {
    const first = await operator.run('apply');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('web-app-n8n: create\nweb-app-prometheus: create\n2 to create');
    const names = [...operator.n8n.store.workflows.values()].map(({ name }) => name);
    expect(names.sort()).toEqual([`${OWNER}:web-app-n8n`, `${OWNER}:web-app-prometheus`]);

    const second = await operator.run('apply');
    expect(operator.n8n.writes).toEqual([]);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    const third = await operator.run('apply');
    expect(third.stdout).toBe(second.stdout);
    expect(third.stdout).toContain('2 unchanged');
    expect((await operator.run('plan')).code).toBe(0);
  });

  test('leaves no secret in n8n but where it belongs, and none in its output', async () => {
    const { stdout, stderr } = await operator.run('apply');
    const workflows = JSON.stringify([...operator.n8n.store.workflows.values()]);
    for (const secret of operator.secrets) {
      expect(stdout + stderr).not.toContain(secret);
      expect(workflows).not.toContain(secret);
    }
  });
});
