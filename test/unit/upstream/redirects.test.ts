import { json, redirect, UpstreamDouble } from '../../support/upstreamDouble';
import { orderById, prepare, SECRET, useHarness } from './harness';

const harness = useHarness();
const page = prepare({
  operation: orderById,
  response: { ...orderById.response, redirect: 'same_path_template' },
});
const ASKED = '/api/orders/a1/lines';
const NORMAL = '/api/orders/A1/lines';

describe('the one redirect that a contract may allow', () => {
  it.each([301, 302, 303, 307, 308])(
    'is followed once to the same origin and path template (%d)',
    async (status) => {
      harness()
        .upstream.on(ASKED, redirect(NORMAL, status))
        .on(NORMAL, json({ id: 'A1' }));
      expect((await harness().call(page, { id: 'a1' })).structured).toEqual({ id: 'A1' });
      expect(harness().upstream.requests.map(({ path }) => path)).toEqual([ASKED, NORMAL]);
      expect(harness().upstream.lastRequest.headers).toMatchObject({ authorization: `Bearer ${SECRET}` });
    },
  );

  it('may be written as a whole address or relative to the request', async () => {
    for (const location of [`${harness().upstream.origin}${NORMAL}`, '../A1/lines']) {
      harness()
        .upstream.on(ASKED, redirect(location))
        .on(NORMAL, json({ id: 'A1' }));
      expect((await harness().call(page, { id: 'a1' })).structured).toEqual({ id: 'A1' });
    }
  });

  it('keeps our own query, whatever upstream puts into it', async () => {
    harness()
      .upstream.on(ASKED, redirect(`${NORMAL}?admin=1`))
      .on(NORMAL, json({ id: 'A1' }));
    const credential = { authentication: 'query', name: 'key', secret: 'abcdef' } as const;
    await harness().call(page, { id: 'a1' }, { credential });
    expect(harness().upstream.lastRequest.query).toBe('?key=abcdef');
  });

  it('is not followed a second time', async () => {
    harness().upstream.on('*', redirect(NORMAL));
    expect((await harness().failure(page, { id: 'a1' })).code).toBe('upstream_redirect_refused');
    expect(harness().upstream.requests).toHaveLength(2);
  });

  it.each([
    ['another path', '/admin'],
    ['a longer path', '/api/orders/A1/lines/all'],
    ['a shorter path', '/api/orders/lines'],
    ['an empty slot', '/api/orders//lines'],
    ['a path that climbs', '/api/orders/../../admin/lines'],
    ['an encoded separator in the slot', '/api/orders/..%2f..%2fadmin/lines'],
    ['an encoded backslash in the slot', '/api/orders/a%5cb/lines'],
    ['another scheme', 'ftp://127.0.0.1/api/orders/A1/lines'],
    ['a host without scheme', '//evil.test/api/orders/A1/lines'],
    ['a script', 'javascript:alert(1)'],
    ['no address at all', 'http://'],
  ])('is refused to %s', async (_what, location) => {
    harness()
      .upstream.on(ASKED, redirect(location))
      .on('*', json({ id: 'A1' }));
    expect((await harness().failure(page, { id: 'a1' })).code).toBe('upstream_redirect_refused');
    expect(harness().upstream.requests).toHaveLength(1);
  });

  it('never shows our credential to another host', async () => {
    const other = await UpstreamDouble.start();
    other.on('*', json({ id: 'A1' }));
    const { origin } = other;
    harness().upstream.on(ASKED, redirect(`${origin}${NORMAL}`));
    const failure = await harness().failure(page, { id: 'a1' });
    await other.stop();
    expect(failure.code).toBe('upstream_redirect_refused');
    expect(failure.message).not.toContain(origin);
    expect(other.requests).toEqual([]);
  });

  it('is not followed with a user in its address', async () => {
    const location = harness().upstream.origin.replace('//', '//u:p@') + NORMAL;
    harness().upstream.on(ASKED, redirect(location));
    expect((await harness().failure(page, { id: 'a1' })).code).toBe('upstream_redirect_refused');
  });

  it('stays behind the path of the base address', async () => {
    const credential = { baseUrl: `${harness().upstream.origin}/app` };
    harness()
      .upstream.on(`/app${ASKED}`, redirect(NORMAL))
      .on('*', json({ id: 'A1' }));
    expect((await harness().failure(page, { id: 'a1' }, { credential })).code).toBe(
      'upstream_redirect_refused',
    );
  });

  it('is refused where the contract does not allow it', async () => {
    harness()
      .upstream.on(ASKED, redirect(NORMAL))
      .on(NORMAL, json({ id: 'A1' }));
    const strict = prepare({ operation: orderById });
    expect((await harness().failure(strict, { id: 'a1' })).code).toBe('upstream_redirect_refused');
    expect(harness().upstream.requests).toHaveLength(1);
  });
});
