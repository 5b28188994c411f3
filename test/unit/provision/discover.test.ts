import { loadOperator } from '../../../cli/operator/load';
import { discover, type Pair } from '../../../cli/provision/discover';
import { makeBearer } from '../../../core/server/bearer';
import { Operator } from './harness';

let operator: Operator;
beforeEach(async () => {
  operator = await Operator.start('2.41.1');
  operator.draft.n8n['public_address'] = 'https://n8n.example.com/';
});
afterEach(async () => {
  await operator.stop();
});

const applied = async () => {
  expect(await operator.run('apply')).toMatchObject({ code: 0 });
};

async function found(...args: string[]): Promise<{ code: number; pairs: Pair[]; sha256: string }> {
  const { code, report } = await operator.json('discover', ...args);
  return { code, pairs: report['pairs'] as Pair[], sha256: report['snapshot'] as string };
}

const told = (pairs: readonly Pair[]) =>
  pairs.map(({ application_id, consumer, status, code }) =>
    [application_id, consumer, code ?? status].join(' '),
  );

/** All surfaces for one more consumer, of which the draft is given. */
function withConsumer(consumer: Record<string, unknown> & { id: string }): void {
  operator.draft.consumers.push(consumer);
  for (const surface of operator.draft.surfaces) {
    surface['consumers'] = [...(surface['consumers'] as string[]), consumer.id];
  }
}

describe('pairs', () => {
  test('are accepted where the surface admits the consumer and answers', async () => {
    await applied();
    const { code, pairs, sha256 } = await found('--strict');
    expect(code).toBe(0);
    expect(told(pairs)).toEqual([
      'web-app-n8n client-claude accepted',
      'web-app-n8n web-app-openwebui accepted',
      'web-app-prometheus client-claude accepted',
      'web-app-prometheus web-app-openwebui accepted',
    ]);
    expect(sha256).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(pairs[0]).toMatchObject({
      requested: true,
      endpoint: 'https://n8n.example.com/mcp/web-app-n8n',
      server: 'web-app-n8n@https://n8n.example.com',
      secret: { kind: 'file', path: 'client-claude' },
    });
    expect((await found()).sha256).toBe(sha256);
    const human = await operator.run('discover');
    expect(human.stdout).toContain('web-app-n8n -> client-claude: accepted\n');
    expect(human.stdout).toContain('4 accepted, 0 rejected.');
  });

  test('surface_disabled: nobody asked for it, so --strict is content', async () => {
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], enabled: false };
    await applied();
    const { code, pairs } = await found('--strict');
    expect(code).toBe(0);
    expect(told(pairs).slice(0, 2)).toEqual([
      'web-app-n8n client-claude surface_disabled',
      'web-app-n8n web-app-openwebui surface_disabled',
    ]);
    expect(pairs[0]).toMatchObject({ requested: false });
  });

  test('consumer_not_allowed: nobody asked for it either, and no tool is named', async () => {
    operator.draft.consumers.push({ id: 'client-cursor', token: `file:${operator.secret('cursor')}` });
    await applied();
    const { code, pairs } = await found('--strict', '--consumer', 'client-cursor');
    expect(code).toBe(0);
    expect(told(pairs)).toEqual([
      'web-app-n8n client-cursor consumer_not_allowed',
      'web-app-prometheus client-cursor consumer_not_allowed',
    ]);
    expect(pairs[0]).toMatchObject({ requested: false, tools: [] });
  });

  test.each([
    ['transport_unsupported', { transports: ['sse', 'stdio'] }],
    ['auth_unsupported', { auths: ['oidc'] }],
    ['credential_missing', { token: 'env:NO_SUCH_VARIABLE' }],
    ['credential_missing', { token: 'file:no-such-file' }],
    ['credential_missing', { expires_at: '2020-01-01T00:00:00Z' }],
  ])('%s: %j, and --strict fails', async (code, changes) => {
    await applied();
    withConsumer({ id: 'client-cursor', token: `file:${operator.secret('cursor')}`, ...changes });
    const lenient = await found('--consumer', 'client-cursor');
    expect(lenient.code).toBe(0);
    expect(told(lenient.pairs)).toEqual([
      `web-app-n8n client-cursor ${code}`,
      `web-app-prometheus client-cursor ${code}`,
    ]);
    expect((await found('--strict', '--consumer', 'client-cursor')).code).toBe(1);
    // Of the others nothing is to be said.
    expect((await found('--strict', '--consumer', 'client-claude')).code).toBe(0);
  });

  test('credential_missing: a bearer that is too short to be one', async () => {
    await applied();
    withConsumer({ id: 'client-cursor', token: `file:${operator.secret('cursor', 'short')}` });
    expect(told((await found('--consumer', 'client-cursor')).pairs)[0]).toContain('credential_missing');
  });

  test('endpoint_unreachable: not applied yet, no answer, or another answer', async () => {
    const notYet = await found('--strict');
    expect(notYet.code).toBe(1);
    expect(notYet.pairs[0]).toMatchObject({
      code: 'endpoint_unreachable',
      message: 'Nothing is served at the endpoint yet; run mcp-curated apply.',
    });
    await applied();
    const { credentials } = operator.n8n.store;
    for (const [id, { type }] of credentials) if (type === 'mcpConsumersApi') credentials.delete(id);
    expect((await found()).pairs[0]?.message).toBe(
      'The endpoint answers 503 instead of asking for a bearer.',
    );
    operator.draft.n8n['address'] = 'http://127.0.0.1:9';
    const nobody = await found('--strict');
    expect(nobody.code).toBe(1);
    expect(told(nobody.pairs)[0]).toBe('web-app-n8n client-claude endpoint_unreachable');
  });

  test('of a consumer of which only the hash is known are accepted: it has its bearer itself', async () => {
    operator.draft.consumers[0] = { id: 'client-claude', token_sha256: makeBearer().sha256 };
    await applied();
    const { code, pairs } = await found('--strict', '--consumer', 'client-claude');
    expect(code).toBe(0);
    expect(pairs[0]).toMatchObject({ status: 'accepted', secret: { kind: 'held_by_client' } });
    const { stdout, stderr } = await operator.run('discover', '--format', 'claude', '--reveal');
    expect(stdout).toContain('"Authorization": "Bearer ${bearer:client-claude}"');
    expect(stderr).toContain('put the secret there when you deploy');
  });

  test('stand in a snapshot that nobody can change', async () => {
    await applied();
    const address = operator.n8n.origin;
    const { snapshot } = await discover(await loadOperator(`${operator.folder}/mcp-curated.yml`), {
      address,
      publicAddress: address,
      signal: new AbortController().signal,
      now: Date.now(),
    });
    const [pair] = snapshot.pairs;
    expect(() => Object.assign(pair ?? {}, { status: 'rejected' })).toThrow(TypeError);
    expect(() => (snapshot.pairs as Pair[]).pop()).toThrow(TypeError);
    expect(() => (pair?.tools as string[]).push('x')).toThrow(TypeError);
  });

  test('are found without the API of n8n, and its endpoints are shown no bearer', async () => {
    await applied();
    operator.draft.n8n['api_key'] = 'env:NO_SUCH_VARIABLE';
    expect((await found('--strict')).code).toBe(0);
    expect(operator.n8n.requests).toEqual([]);
  });
});
