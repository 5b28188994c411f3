import type { Adapter } from '../../../core/contract/schema';
import { json } from '../../support/upstreamDouble';
import { orderById, prepare, SECRET, useHarness } from './harness';

const harness = useHarness();

const adapter: Adapter = {
  type: 'openapi_allowlist',
  upstream_api_version: 'v1',
  specification_sha256: `sha256:${'0'.repeat(64)}`,
  authentication: { kind: 'session', name: 'User', secret: 'Password', optional: false },
  test_path: '/',
  session: {
    path: '/api/auth',
    body: { format: 'json', content: { user: { $value: 'account' }, password: { $value: 'secret' } } },
    token: '/session/sid',
    header: { name: 'x-sid', text: 'sid {token}' },
    lifetime_seconds: 600,
  },
};

const prepared = prepare({ adapter, operation: orderById });
const credential = { authentication: 'session' as const, name: 'reader' };
const call = async (options: { now?: number; name?: string } = {}) => {
  const { now, name = 'reader' } = options;
  return await harness().call(
    prepared,
    { id: '1' },
    { credential: { ...credential, name }, ...(now === undefined ? {} : { now }) },
  );
};
const paths = () => harness().upstream.requests.map(({ method, path }) => `${method} ${path}`);
const ORDER = 'GET /api/orders/1/lines';
let counter = 0;
const signsIn = (...answers: ReturnType<typeof json>[]) =>
  harness()
    .upstream.on('/api/auth', ...answers)
    .on('/api/orders/1/lines', json({ id: 1 }));

// Every test has an account of its own: tokens outlive a test.
const someone = () => `reader-${String(counter++)}`;

describe('a session', () => {
  it('signs in with the credential once and sends the token from then on', async () => {
    signsIn(json({ session: { sid: 'abc' } }));
    const name = someone();
    await call({ name });
    await call({ name });
    expect(paths()).toEqual(['POST /api/auth', ORDER, ORDER]);
    const [signIn, first] = harness().upstream.requests;
    expect(JSON.parse(signIn?.body ?? '')).toEqual({ user: name, password: SECRET });
    expect(first?.headers['x-sid']).toBe('sid abc');
    expect(JSON.stringify(first?.headers)).not.toContain(SECRET);
  });

  it('is made once however many calls wait for it', async () => {
    signsIn(json({ session: { sid: 'abc' } }));
    const name = someone();
    await Promise.all([call({ name }), call({ name }), call({ name })]);
    expect(paths().filter((path) => path === 'POST /api/auth')).toHaveLength(1);
  });

  it('is made anew when its time is over', async () => {
    signsIn(json({ session: { sid: 'one' } }), json({ session: { sid: 'two' } }));
    const name = someone();
    await call({ name, now: 1_000 });
    await call({ name, now: 1_599 });
    await call({ name, now: 1_601 });
    expect(paths()).toEqual(['POST /api/auth', ORDER, ORDER, 'POST /api/auth', ORDER]);
    expect(harness().upstream.lastRequest.headers['x-sid']).toBe('sid two');
  });

  it('is made anew once when upstream has forgotten it', async () => {
    signsIn(json({ session: { sid: 'one' } }), json({ session: { sid: 'two' } }));
    harness().upstream.on('/api/orders/1/lines', json({ error: 'who?' }, 401), json({ id: 1 }));
    const { structured } = await call({ name: someone() });
    expect(structured).toEqual({ id: 1 });
    expect(paths()).toEqual(['POST /api/auth', ORDER, 'POST /api/auth', ORDER]);
  });

  it('that upstream never takes is not tried without end', async () => {
    signsIn(json({ session: { sid: 'one' } }));
    harness().upstream.on('/api/orders/1/lines', json({ error: 'who?' }, 401));
    await expect(call({ name: someone() })).rejects.toMatchObject({ code: 'upstream_auth_failed' });
    expect(paths()).toEqual(['POST /api/auth', ORDER, 'POST /api/auth', ORDER]);
  });

  it.each([
    ['a refusal', json({ error: `wrong password ${SECRET}` }, 401), 'upstream_auth_failed'],
    ['another shape', json({ session: null }), 'upstream_auth_failed'],
    ['a token that is no header', json({ session: { sid: 'a\r\nb: c' } }), 'upstream_auth_failed'],
    ['too many sign-ins', json({}, 429), 'upstream_rate_limited'],
    ['a fault', json({}, 503), 'upstream_unavailable'],
    ['a redirect', json({}, 302, { location: 'https://evil.test/' }), 'upstream_auth_failed'],
  ])('that cannot be made because of %s asks for nothing', async (_what, answer, code) => {
    signsIn(answer);
    const failure = await harness().failure(
      prepared,
      { id: '1' },
      { credential: { ...credential, name: someone() } },
    );
    expect(failure).toMatchObject({ code });
    expect(failure.message).not.toContain(SECRET);
    expect(paths()).toEqual(['POST /api/auth']);
  });

  it('is tried again by the next call after it could not be made', async () => {
    signsIn(json({}, 503), json({ session: { sid: 'abc' } }));
    const name = someone();
    await expect(call({ name })).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect((await call({ name })).structured).toEqual({ id: 1 });
  });

  it('is not shared by two accounts', async () => {
    signsIn(json({ session: { sid: 'one' } }), json({ session: { sid: 'two' } }));
    await call({ name: someone() });
    await call({ name: someone() });
    expect(harness().upstream.lastRequest.headers['x-sid']).toBe('sid two');
  });
});
