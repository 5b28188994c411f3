import { REAL_PACE } from '../../../cli/n8n/pacing';
import { parseConsumers } from '../../../core/server/consumers';
import { RELEASES } from '../../support/n8nApiDouble';
import { Operator } from './harness';
import { Reconciler } from './reconciler';

jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

let operator: Operator;
afterEach(async () => {
  await operator.stop();
});

describe.each(RELEASES)('the limits of consumers on n8n %s', (release) => {
  let reconciler: Reconciler;
  const limits = { requests_per_minute: 600, concurrent_calls: 2 };
  beforeEach(async () => {
    operator = await Operator.start(release);
    operator.draft.surfaces.splice(1);
    reconciler = new Reconciler(operator);
  });

  const stored = () =>
    [...operator.n8n.store.credentials.values()].find(({ type }) => type === 'mcpConsumersApi')?.data;

  test('reach the credential of the surface, and a second run writes nothing', async () => {
    Object.assign(operator.draft.consumers[0] ?? {}, limits);
    await reconciler.heal();
    const [claude, openwebui] = parseConsumers(stored());
    expect(claude).toMatchObject({ id: 'client-claude', requestsPerMinute: 600, concurrentCalls: 2 });
    expect(openwebui).toMatchObject({ requestsPerMinute: null, concurrentCalls: null });
  });

  test('leave no trace where there are none, so that what an earlier release wrote is no drift', async () => {
    await reconciler.heal();
    expect(Object.keys((stored() as { consumers: { values: object[] } }).consumers.values[0] ?? {})).toEqual([
      ...['id', 'tokenSha256', 'secondTokenSha256', 'tools', 'expiresAt', 'tenant'],
    ]);
    const note = JSON.stringify([...operator.n8n.store.workflows.values()]);
    expect(note).not.toMatch(/requests_per_minute|concurrent_calls/);
  });

  test('can be taken away again, which a plan shows by name', async () => {
    Object.assign(operator.draft.consumers[0] ?? {}, limits);
    await reconciler.heal();
    operator.draft.consumers[0] = {
      ...operator.draft.consumers[0],
      ...{ requests_per_minute: undefined, concurrent_calls: undefined },
    };
    await reconciler.reload();
    expect(await reconciler.changes()).toEqual([
      { field: 'consumers.client-claude.requests_per_minute', from: '600', to: '(absent)' },
      { field: 'consumers.client-claude.concurrent_calls', from: '2', to: '(absent)' },
    ]);
    await reconciler.heal();
    expect(parseConsumers(stored())[0]).toMatchObject({ requestsPerMinute: null, concurrentCalls: null });
  });

  test.each([{ requests_per_minute: 0 }, { concurrent_calls: 1.5 }, { requests_per_minute: 'many' }])(
    'are refused before anything is sent: %p',
    async (wrong) => {
      Object.assign(operator.draft.consumers[0] ?? {}, wrong);
      await expect(reconciler.reload()).rejects.toMatchObject({ code: 'operator_file_invalid' });
      expect(operator.n8n.requests).toEqual([]);
    },
  );
});
