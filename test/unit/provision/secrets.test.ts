import { REAL_PACE } from '../../../cli/n8n/pacing';
import type { Fault } from '../../support/n8nApiDouble';
import { surfaceOf } from './drifts';
import { Operator, OWNER } from './harness';

jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

/** Everything that looks different once it is encoded. */
const AWKWARD = 'pä$$ w"rd/+&%=\\ ~0123456789abcdef';

/** A secret as it may stand in a text. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const withoutEnds = bytes.toString('base64').replace(/=+$/, '').slice(0, -2);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
    bytes.toString('hex'),
    withoutEnds,
    withoutEnds.replaceAll('+', '-').replaceAll('/', '_'),
    Buffer.from(`mcp:${secret}`).toString('base64'),
  ];
}

describe.each(['1.100.1', '2.41.1'] as const)('on n8n %s no secret, in no form, is', (release) => {
  let operator: Operator;
  beforeEach(async () => {
    operator = await Operator.start(release);
    operator.secret('web-app-n8n.upstream', AWKWARD);
    const upstream = surfaceOf(operator)['upstream'] as Record<string, unknown>;
    Object.assign(upstream, { authentication: 'basic', name: 'mcp' });
  });
  afterEach(async () => {
    await operator.stop();
  });

  const expectNone = (text: string) => {
    for (const secret of operator.secrets) {
      for (const form of formsOf(secret)) expect(text).not.toContain(form);
    }
  };

  /** Runs a command, whatever comes of it, and returns all that it says. */
  const said = async (...args: [string, ...string[]]) => {
    try {
      const { stdout, stderr } = await operator.run(...args);
      return stdout + stderr;
    } catch (thrown) {
      const texts: string[] = [];
      for (let error = thrown; error instanceof Error; error = error.cause) {
        texts.push(error.message, error.stack ?? '', JSON.stringify(error));
      }
      return texts.join('\n');
    }
  };
  const inN8n = () =>
    JSON.stringify([[...operator.n8n.store.workflows.values()], [...operator.n8n.store.tags.values()]]);

  test('in what the commands say, in the workflows and in the ledger', async () => {
    const texts = [await said('plan'), await said('apply'), await said('apply')];
    texts.push(JSON.stringify((await operator.json('plan')).report), inN8n());
    operator.secret('client-claude');
    operator.secret('web-app-n8n.upstream', `${AWKWARD}!`);
    texts.push(await said('plan'), JSON.stringify((await operator.json('plan')).report), await said('apply'));
    texts.push(inN8n(), await said('prune'), await said('destroy', '--confirm', OWNER));
    expectNone(texts.join('\n'));
  });

  test('in what it says of an n8n that repeats what it was sent', async () => {
    const echo = (message: string): Fault => ({ kind: 'status', status: 400, message });
    const hex = Buffer.from(AWKWARD).toString('hex');
    const base64 = Buffer.from(AWKWARD).toString('base64');
    for (const form of [AWKWARD, JSON.stringify(AWKWARD), encodeURIComponent(AWKWARD), base64, hex]) {
      // The second credential is the one that holds it.
      operator.n8n.inject(echo(`No: ${form}`), { method: 'POST', path: '/credentials', nth: 2 });
      const text = await said('apply');
      expect(text).toContain('rejected');
      expectNone(text);
      operator.n8n.forget();
      await said('destroy', '--confirm', OWNER);
    }
    operator.n8n.inject(echo(`No: ${operator.n8n.apiKey}`), { times: 9 });
    expectNone(await said('apply'));
  });

  test('in the credential of the consumers: it holds hashes', async () => {
    await said('apply');
    const held = [...operator.n8n.store.credentials.values()].filter(
      ({ type }) => type === 'mcpConsumersApi',
    );
    expect(held).toHaveLength(2);
    expectNone(JSON.stringify(held));
  });
});
