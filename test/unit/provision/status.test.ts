import type { StatusRow } from '../../../cli/provision/status';
import { RELEASES } from '../../support/n8nApiDouble';
import { Operator, OWNER } from './harness';

let operator: Operator;
afterEach(async () => {
  await operator.stop();
});

async function status(): Promise<{ code: number; rows: StatusRow[] }> {
  const { code, report } = await operator.json('status');
  return { code, rows: report['managed'] as StatusRow[] };
}

const applied = async () => {
  expect(await operator.run('apply')).toMatchObject({ code: 0 });
};

describe.each(RELEASES)('status on n8n %s', (release) => {
  beforeEach(async () => {
    operator = await Operator.start(release);
  });

  test('tells what is there and that nothing drifts, and writes nothing', async () => {
    Object.assign(operator.draft.consumers[0] ?? {}, { expires_at: '2030-01-31T00:00:00Z' });
    operator.draft.n8n['public_address'] = 'https://n8n.example.com';
    await applied();
    const { code, rows } = await status();
    expect(operator.n8n.writes).toEqual([]);
    expect(code).toBe(0);
    expect(rows).toHaveLength(2);
    const [row] = rows;
    expect(row).toMatchObject({
      application_id: 'web-app-n8n',
      kind: 'surface',
      workflow: expect.any(String) as string,
      active: true,
      endpoint: 'https://n8n.example.com/mcp/web-app-n8n',
      consumers: [
        { id: 'client-claude', expires_at: '2030-01-31T00:00:00Z' },
        { id: 'web-app-openwebui', expires_at: null },
      ],
      drift: false,
      error: null,
    });
    expect(row?.contract.deployed).toMatch(/^sha256:/);
    expect(row?.contract.deployed).toBe(row?.contract.current);
    const { stdout } = await operator.run('status');
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(stdout).toMatch(
      /^web-app-n8n: active, workflow \w+; https:\/\/n8n\.example\.com\/mcp\/web-app-n8n; contract sha256:[0-9a-f]{12}; consumers client-claude until 2030-01-31T00:00:00Z, web-app-openwebui; drift no$/m,
    );
    for (const secret of operator.secrets) expect(stdout).not.toContain(secret);
  });

  test('tells drift: not there, edited by hand, another contract, not in the file any more', async () => {
    expect((await status()).rows.map(({ workflow, drift }) => [workflow, drift])).toEqual([
      [null, true],
      [null, true],
    ]);
    await applied();
    for (const row of operator.n8n.store.workflows.values()) {
      if (row.name !== `${OWNER}:web-app-n8n`) continue;
      for (const node of row.nodes)
        if (node.parameters?.['path'] !== undefined) node.parameters['path'] = 'x';
    }
    expect((await status()).rows.map(({ drift }) => drift)).toEqual([true, false]);

    await applied();
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], tools: ['n8n_list_workflows'] };
    const [tightened] = (await status()).rows;
    expect(tightened?.drift).toBe(true);
    expect(tightened?.contract.deployed).not.toBe(tightened?.contract.current);

    operator.draft.surfaces.shift();
    const { code, rows } = await status();
    expect(code).toBe(0);
    expect(rows.map((row) => [row.application_id, row.kind, row.drift])).toEqual([
      ['web-app-prometheus', 'surface', false],
      ['web-app-n8n', 'unnamed', true],
    ]);
    expect((await operator.run('status')).stdout).toContain('web-app-n8n (not in the operator file): active');
  });

  test('a surface that is out of service is told as such, and does not drift', async () => {
    await applied();
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], enabled: false };
    await applied();
    const [row] = (await status()).rows;
    expect(row).toMatchObject({ active: false, consumers: [], drift: false });
  });
});

test('a surface of which nothing can be told hides no other, and exits 1', async () => {
  operator = await Operator.start('2.41.1');
  await applied();
  const surface = operator.draft.surfaces[0] as { upstream: Record<string, unknown> };
  surface.upstream = { ...surface.upstream, secret: 'env:NO_SUCH_VARIABLE' };
  const { code, rows } = await status();
  expect(code).toBe(1);
  expect(rows.map(({ drift, error }) => [drift, error?.code])).toEqual([
    [null, 'secret_unreadable'],
    [false, undefined],
  ]);
  expect(rows[0]).toMatchObject({ active: true });
  expect((await operator.run('status')).stdout).toContain('drift unknown: secret_unreadable: ');
});

test('a client that is not there yet drifts, and a disabled one that is not there does not show', async () => {
  operator = await Operator.start('2.41.1');
  await applied();
  operator.draft.clients = ['flow-example', 'flow-later'].map((id) => ({
    id,
    kind: 'call',
    enabled: id === 'flow-example',
    provider: {
      endpoint: 'https://mcp.example.com/mcp',
      server: 'example@https://mcp.example.com',
      authentication: 'none',
    },
    tools: [`example_list@sha256:${'0'.repeat(64)}`],
  }));
  const { rows } = await status();
  expect(rows.slice(2)).toMatchObject([
    { application_id: 'flow-example', kind: 'client', workflow: null, drift: true, error: null },
  ]);
});

test('a client whose secret cannot be read says why its drift cannot be told', async () => {
  operator = await Operator.start('2.41.1');
  await applied();
  operator.draft.clients = [
    {
      id: 'flow-example',
      kind: 'call',
      enabled: true,
      provider: {
        endpoint: 'https://mcp.example.com/mcp',
        server: 'example@https://mcp.example.com',
        authentication: 'bearer',
        secret: 'file:secrets/nowhere',
      },
      tools: [`example_list@sha256:${'0'.repeat(64)}`],
    },
  ];
  const { rows } = await status();
  expect(rows.slice(2)).toMatchObject([
    { application_id: 'flow-example', kind: 'client', drift: null, error: { code: 'secret_unreadable' } },
  ]);
});

test('nothing managed is said in a line', async () => {
  operator = await Operator.start('2.41.1');
  operator.draft.surfaces = [];
  expect(await operator.run('status')).toMatchObject({ code: 0, stdout: 'Nothing is managed here.\n' });
});
