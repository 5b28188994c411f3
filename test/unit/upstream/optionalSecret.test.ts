import { randomUUID } from 'node:crypto';
import { upstreamAccess } from '../../../core/upstream/access';
import { placeValues } from '../../../core/upstream/values';

const request = {
  arguments: { text: { in: 'template' as const } },
  bound: { key: { from: 'secret' as const, in: 'template' as const, as: 'key' } },
};
const caller = { consumer: null, tenant: null };
const baseUrl = 'https://upstream.test';

it('sends the secret in the body where the operator gave one', () => {
  const secret = randomUUID();
  const access = upstreamAccess({ baseUrl, authentication: 'body', secret });
  const { template } = placeValues(request, 'translate', { text: 'Hello' }, caller, access);
  expect(Object.fromEntries(template)).toEqual({ text: 'Hello', key: secret });
});

it('leaves the secret out of the body where the operator chose no authentication', () => {
  const access = upstreamAccess({ baseUrl, authentication: 'none' });
  const { template } = placeValues(request, 'translate', { text: 'Hello' }, caller, access);
  expect(Object.fromEntries(template)).toEqual({ text: 'Hello' });
});
