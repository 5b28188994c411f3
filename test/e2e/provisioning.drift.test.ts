import { NOTE_NODE_NAME, TRIGGER_NODE_NAME, type WorkflowNode } from '../../core/contract/render';
import type { AttachedHost } from '../hosts/host';
import { editWorkflow } from '../support/editWorkflow';
import { expectRefusal } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { rpc } from '../support/mcpRequest';
import type { OperatorOnHost } from '../support/operatorOnHost';
import { PROMETHEUS, READ, TwoSurfaces, UPSTREAM } from '../support/twoSurfaces';

const OWNER = 'e2e-drift';

// One life of an installation: each test leaves the surfaces as the operator file says.
describe.each(hosts())('drift of surfaces on n8n $version', (host: AttachedHost) => {
  const isOld = host.version.startsWith('1.');
  let surfaces: TwoSurfaces;
  let operator: OperatorOnHost;

  beforeAll(async () => {
    surfaces = await TwoSurfaces.start(host, OWNER);
    ({ operator } = surfaces);
  });
  afterAll(async () => {
    await surfaces.stop();
  });

  const id = async () => await operator.workflowId(PROMETHEUS);
  const changeNode = async (name: string, change: (node: WorkflowNode) => void) => {
    await editWorkflow(host, await id(), ({ nodes }) => {
      const node = nodes.find((one) => one.name === name);
      if (node) change(node);
    });
  };
  const changeNote = async (content: string) => {
    await changeNode(NOTE_NODE_NAME, ({ parameters }) => {
      parameters['content'] = content;
    });
  };
  const archive = async (workflow: string) => {
    // 2.x is still publishing what was healed a moment ago, and refuses meanwhile.
    let status = 409;
    for (let tries = 0; status === 409 && tries < 100; tries += 1) {
      ({ status } = await host.api.request('POST', `/workflows/${workflow}/archive`));
    }
    expect(status).toBe(200);
  };
  /** `plan` names each of the fields, `apply` heals them, and then there is nothing left to say. */
  const heals = async (...fields: string[]) => {
    const { code, stdout } = await operator.run('plan');
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.not.stringContaining('failed') as string });
    expect(operator.proxy.writes).toEqual([]);
    for (const field of fields) expect(stdout).toContain(`\n  ${field}: `);
    const applied = await operator.run('apply');
    expect(applied.stdout).not.toContain('failed');
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    await surfaces.expectSettled();
  };

  it('sees and heals what a person has done to a managed workflow', async () => {
    const workflow = await id();
    await changeNode(READ, ({ parameters }) => {
      parameters['definition'] = String(parameters['definition']).replace('/api/v1/targets', '/api/v1/admin');
    });
    await heals(`nodes.${READ}.parameters.definition`);

    await host.api.post(`/workflows/${workflow}/deactivate`);
    await editWorkflow(host, workflow, (edited) => {
      edited.name = 'My workflow 7';
    });
    await heals('active', 'name');

    await host.api.put(`/workflows/${workflow}/tags`, []);
    await heals('tags');

    // n8n refuses to run that and saves it all the same; on 1.100.1 nothing is served then.
    await changeNode(TRIGGER_NODE_NAME, (node) => {
      delete node.credentials;
    });
    await heals(`nodes.${TRIGGER_NODE_NAME}.credentials.mcpConsumersApi`);

    await changeNote('nothing to see here');
    await heals('ledger');

    if (!isOld) {
      await archive(workflow);
      await heals('archived', 'active');
    }
    expect(await id()).toBe(workflow);
  });

  it('heals a deleted credential, where n8n tells that it is gone', async () => {
    const { credentials } = await operator.managed();
    const consumers = credentials.find(({ name }) => name === `${OWNER}:${PROMETHEUS} consumers`);
    await host.api.delete(`/credentials/${String(consumers?.id)}`);
    if (isOld) {
      // It cannot list credentials: only verify sees it, and a lost ledger is what makes apply write a new one.
      expect((await operator.run('plan')).code).toBe(0);
      expectRefusal(await rpc(operator.endpoint(PROMETHEUS), 'tools/list'), {
        status: 503,
        code: 'surface_unconfigured',
      });
      expect(await operator.run('verify')).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('surface_unconfigured') as string,
      });
      await changeNote('');
    }
    await heals('consumers credential');
  });

  it('sees and heals a changed contract', async () => {
    await operator.changeContract(PROMETHEUS, (text) => text.replace('31 days at most', '4 weeks at most'));
    await heals('contract', `nodes.${TRIGGER_NODE_NAME}.parameters.surface`);
  });

  it('sees and heals a changed secret, address and list of consumers, secrets only as changed', async () => {
    const { accepted, prometheus } = surfaces;
    accepted.add(operator.secret(UPSTREAM));
    expect(await surfaces.read()).not.toBe('ok');
    await heals('upstream secret');

    const cursor = operator.endpoint(PROMETHEUS, 'client-cursor');
    prometheus.consumers = ['client-claude'];
    prometheus.upstream['test_path'] = '/-/healthy';
    await heals('consumers.client-cursor.tools', 'upstream.test_path', 'contract');
    expectRefusal(await rpc(cursor, 'tools/list'), { status: 401, code: 'bearer_invalid' });

    prometheus.consumers = ['client-claude', 'client-cursor'];
    await heals('consumers.client-cursor.tools');
    expect((await rpc(cursor, 'tools/list')).status).toBe(200);
  });

  it('has printed and stored no secret', async () => {
    const stored = await host.api.get(`/workflows/${await id()}`);
    const everything = [...operator.printed, JSON.stringify(stored), host.logs()].join('\n');
    expect(operator.leaksIn(everything)).toEqual([]);
  });

  itKeepsTheLogClean(host, () => [...operator.secrets]);
});
