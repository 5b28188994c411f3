import { randomBytes } from 'node:crypto';
import { PolicyError } from '../../../core/policy/errors';
import { upstreamAccess } from '../../../core/upstream/access';
import { forConsumer, forTest } from '../../../core/upstream/consumerSecret';

const secretOf = () => randomBytes(16).toString('hex');
const [shared, own, others] = [secretOf(), secretOf(), secretOf()];

const credential = {
  baseUrl: 'https://app.example.com',
  authentication: 'bearer' as const,
  secret: shared,
  consumerSecrets: JSON.stringify({ 'client-claude': own, 'client-cursor': others }),
};

function refusal(run: () => unknown): PolicyError {
  try {
    run();
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('secrets by consumer', () => {
  test('a call is made with the secret of its consumer and no other', () => {
    const access = upstreamAccess(forConsumer(credential, 'client-claude'));
    expect(access.headers).toEqual({ authorization: `Bearer ${own}` });
    expect(access.secrets).toContain(own);
    expect(JSON.stringify(access)).not.toContain(shared);
    expect(JSON.stringify(access)).not.toContain(others);
  });

  test.each([
    ['a consumer without a secret', 'client-openwebui'],
    ['an agent inside n8n', null],
    ['a name that every object has', 'constructor'],
  ])('%s makes no call, although there is a shared secret', (_who, consumer) => {
    const error = refusal(() => forConsumer(credential, consumer));
    expect(error.code).toBe('consumer_secret_missing');
    expect(error.message).not.toMatch(/client-claude|client-cursor/);
  });

  test('the account goes with the secret, where an application wants both', () => {
    const consumerSecrets = JSON.stringify({ 'client-claude': { name: 'ada', secret: own } });
    const basic = { ...credential, authentication: 'basic' as const, name: 'service', consumerSecrets };
    const access = upstreamAccess(forConsumer(basic, 'client-claude'));
    expect(access.account).toBe('ada');
    expect(access.headers['authorization']).toBe(`Basic ${Buffer.from(`ada:${own}`).toString('base64')}`);
  });

  test('without a map everybody uses the one secret', () => {
    for (const consumer of ['client-claude', null]) {
      expect(forConsumer({ ...credential, consumerSecrets: ' ' }, consumer).secret).toBe(shared);
    }
  });

  test.each(['{', '[]', '{}', '"text"', '{"client-claude":""}', '{"Client":"x"}', '{"client-claude":5}'])(
    'a map that cannot be used stops every call: %s',
    (consumerSecrets) => {
      const error = refusal(() => forConsumer({ ...credential, consumerSecrets }, 'client-claude'));
      expect(error.code).toBe('credential_missing');
    },
  );

  test('the connection is tested with the shared secret, else with the first of the map', () => {
    expect(forTest(credential).secret).toBe(shared);
    expect(forTest({ ...credential, secret: '' }).secret).toBe(own);
  });
});
