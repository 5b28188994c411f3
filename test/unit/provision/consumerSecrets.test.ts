import { REAL_PACE } from '../../../cli/n8n/pacing';
import { forConsumer, type ConsumersUpstreamCredential } from '../../../core/upstream/consumerSecret';
import { RELEASES } from '../../support/n8nApiDouble';
import { surfaceOf } from './drifts';
import { Operator } from './harness';
import { Reconciler } from './reconciler';

jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

let operator: Operator;
afterEach(async () => {
  await operator.stop();
});

describe.each(RELEASES)('secrets by consumer on n8n %s', (release) => {
  let reconciler: Reconciler;
  beforeEach(async () => {
    operator = await Operator.start(release);
    operator.draft.surfaces.splice(1);
    reconciler = new Reconciler(operator);
  });

  const give = (...ids: readonly string[]) => {
    const consumer_secrets = Object.fromEntries(
      ids.map((id) => [id, `file:${operator.secret(`${id}.upstream`)}`]),
    );
    Object.assign(surfaceOf(operator)['upstream'] as object, { consumer_secrets });
  };
  const stored = () =>
    [...operator.n8n.store.credentials.values()].find(({ type }) => type === 'mcpUpstreamApi')
      ?.data as unknown as ConsumersUpstreamCredential;

  test('reach the credential and nothing else, and a second run writes nothing', async () => {
    give('client-claude');
    await reconciler.heal();
    expect(operator.secrets).toContain(forConsumer(stored(), 'client-claude').secret);
    expect(() => forConsumer(stored(), 'web-app-openwebui')).toThrow('no secret of this consumer');
    const workflows = JSON.stringify([...operator.n8n.store.workflows.values()]);
    for (const secret of operator.secrets) expect(workflows).not.toContain(secret);
  });

  test('that change show as a changed secret, and whose there are by name', async () => {
    give('client-claude');
    await reconciler.heal();
    operator.secret('client-claude.upstream');
    expect((await reconciler.changes()).map(({ field }) => field)).toEqual(['upstream secret']);
    give('client-claude', 'web-app-openwebui');
    await reconciler.reload();
    expect(await reconciler.changes()).toEqual([
      {
        ...{ field: 'upstream.secret_consumers', from: 'client-claude' },
        to: 'client-claude, web-app-openwebui',
      },
    ]);
    await reconciler.heal();
  });

  test('of somebody who may not call the surface are refused before anything is sent', async () => {
    give('client-elsewhere');
    await expect(reconciler.reload()).rejects.toThrow('not one of the consumers of this surface');
    expect(operator.n8n.requests).toEqual([]);
  });
});
