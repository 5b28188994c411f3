import { setTimeout as sleep } from 'node:timers/promises';

import { TRIGGER_NODE_NAME } from '../../core/contract/render';
import type { AttachedHost } from '../hosts/host';
import { editWorkflow, eventually } from '../support/editWorkflow';
import { expectRefusal } from '../support/expectations';
import {
  activate,
  codeTool,
  createHandMade,
  publishHandMade,
  type HandMadeWishes,
} from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, rpc, textOf } from '../support/mcpRequest';
import {
  newBearer,
  ownApi,
  publishContract,
  sha256Hex,
  untilServed,
  type TestSurface,
} from '../support/publish';

const answering = (slug: string, text: string): HandMadeWishes => ({
  slug,
  tools: [codeTool('find_order', `return '${text}';`)],
  toolNames: ['find_order'],
});
const ask = async (surface: TestSurface) => await callTool(surface, 'find_order', { id: '1' });

describe.each(hosts())('the life of a surface on n8n $version', (host: AttachedHost) => {
  const made: TestSurface[] = [];
  const secrets: string[] = [];
  afterAll(async () => {
    await Promise.all(
      made.map(async (surface) => {
        await surface.remove();
      }),
    );
  });
  const keep = (surface: TestSurface) => {
    made.push(surface);
    return surface;
  };

  it('stops serving when the workflow is deactivated, and serves again when it is activated', async () => {
    const surface = keep(await publishHandMade(host, answering('life-switch', 'here')));
    await host.api.post(`/workflows/${surface.workflowId}/deactivate`);
    await eventually(async () => {
      const answer = await rpc(surface, 'tools/list');
      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain('find_order');
    });
    await activate(host, surface.workflowId);
    await untilServed(surface);
    expect(textOf(await ask(surface))).toBe('here');
  });

  it('never mixes two workflows with the same path: one serves, under its own bearers only', async () => {
    const first = keep(await publishHandMade(host, answering('life-first', 'first')));
    const second = keep(await createHandMade(host, answering('life-second', 'second')));
    await editWorkflow(host, second.workflowId, ({ nodes }) => {
      const trigger = nodes.find(({ name }) => name === TRIGGER_NODE_NAME);
      if (trigger) trigger.parameters['path'] = 'e2e-life-first';
    });
    await host.api.request('POST', `/workflows/${second.workflowId}/activate`);
    const answers = await Promise.all([ask(first), ask({ ...first, bearer: second.bearer })]);
    // 1.100.1 gives the path to the newer workflow, 2.x leaves it to the older one.
    const [served, refused] = host.version.startsWith('1.') ? [1, 0] : [0, 1];
    expect(answers[served]?.status).toBe(200);
    expect(textOf(answers[served] ?? answers[0])).toBe(served === 0 ? 'first' : 'second');
    expect(answers[refused]?.status).toBe(401);
  });

  it('is not published over a path that somebody else serves, and leaves nothing behind', async () => {
    const surface = keep(await publishHandMade(host, answering('life-taken', 'mine')));
    const attempt = publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'life-taken',
      upstream: ownApi(host),
    });
    await expect(attempt).rejects.toThrow(/Another workflow serves \/mcp\/e2e-life-taken/);
    expect(textOf(await ask(surface))).toBe('mine');
    const { data } = await host.api.get<{ data: { name: string }[] }>('/workflows?limit=250');
    expect(data.map(({ name }) => name)).not.toContain('e2e-life-taken:web-app-n8n');
  });

  it('knows consumers by name: expired, not admitted by the contract, and one with two bearers', async () => {
    const surface = keep(
      await publishContract(host, {
        applicationId: 'web-app-n8n',
        slug: 'life-consumers',
        upstream: ownApi(host),
        consumers: [{ id: 'client-inspector' }, { id: 'client-stranger' }],
      }),
    );
    const stranger = { ...surface, bearer: surface.bearers['client-stranger'] ?? '' };
    expectRefusal(await rpc(stranger, 'tools/list'), { status: 403, code: 'consumer_not_allowed' });

    const [old, next, late] = [newBearer(), newBearer(), newBearer()];
    secrets.push(old, next, late);
    const rows = [
      {
        id: 'client-inspector',
        tokenSha256: sha256Hex(old),
        secondTokenSha256: sha256Hex(next),
        tools: 'find_order',
      },
      { id: 'client-cursor', tokenSha256: sha256Hex(late), expiresAt: '2020-01-01', tools: 'find_order' },
    ];
    const { id, name } = await host.api.post<{ id: string; name: string }>('/credentials', {
      name: 'e2e-life-rotation',
      type: 'mcpConsumersApi',
      data: { consumers: { values: rows } },
    });
    const rotating = keep(await createHandMade(host, answering('life-rotation', 'both')));
    await editWorkflow(host, rotating.workflowId, ({ nodes }) => {
      const trigger = nodes.find((node) => node.name === TRIGGER_NODE_NAME);
      if (trigger) trigger.credentials = { mcpConsumersApi: { id, name } };
    });
    await activate(host, rotating.workflowId);
    await untilServed({ ...rotating, bearer: old });
    for (const bearer of [old, next]) expect(textOf(await ask({ ...rotating, bearer }))).toBe('both');
    expectRefusal(await ask({ ...rotating, bearer: late }), { status: 401, code: 'bearer_expired' });
    await host.api.request('DELETE', `/credentials/${id}`);
    // A surface whose credential is gone refuses everybody and says why only to the operator.
    await eventually(async () => {
      expectRefusal(await ask({ ...rotating, bearer: old }), { status: 503, code: 'surface_unconfigured' });
    });
  });

  it('ends a call that takes too long, and keeps its place until the tool has really ended', async () => {
    const surface = keep(
      await publishHandMade(host, {
        ...answering('life-slow', ''),
        tools: [
          codeTool(
            'find_order',
            "if (query.id === 'slow') await new Promise((r) => setTimeout(r, 3000)); return 'done';",
          ),
        ],
        limits: { timeout_seconds: 1, concurrent_requests: 1 },
      }),
    );
    expectRefusal(await callTool(surface, 'find_order', { id: 'slow' }), {
      status: 200,
      code: 'tool_timeout',
    });
    let quick = await callTool(surface, 'find_order', { id: 'quick' });
    expectRefusal(quick, { status: 429, code: 'too_many_requests' });
    for (let tries = 0; quick.status === 429 && tries < 50; tries++) {
      await sleep(200);
      quick = await callTool(surface, 'find_order', { id: 'quick' });
    }
    expect(textOf(quick)).toBe('done');
  });

  itKeepsTheLogClean(host, () => [...secrets, ...made.flatMap(({ bearers }) => Object.values(bearers))]);
});
