import type { PolicyError } from '../../../core/policy/errors';
import {
  body,
  drop,
  dropMidway,
  endless,
  gzipped,
  hang,
  html,
  json,
  redirect,
  stall,
  withContentLength,
  type Answer,
} from '../../support/upstreamDouble';
import { httpRequest, orderById, prepare, SECRET, useHarness } from './harness';

const harness = useHarness();
const orders = prepare();
const ROWS = { rows: [{ id: 1, name: 'a' }] };

/** One sentence to act on, without upstream's address, our credential or anything that upstream sent. */
function expectPresentable({ message, cause: _cause, ...shown }: PolicyError): void {
  expect(message).toMatch(/^[A-Z][^\n]*\.$/);
  for (const hidden of [
    harness().upstream.origin,
    '127.0.0.1',
    SECRET,
    'BODY',
    'evil.test',
    'undici',
    'node_modules',
  ]) {
    expect([message, JSON.stringify(shown)].join()).not.toContain(hidden);
  }
}

describe('an upstream that misbehaves', () => {
  it.each<[what: string, answer: Answer, code: string]>([
    ['redirects to a path', redirect('/login?BODY'), 'upstream_redirect_refused'],
    ['redirects to another host', redirect('https://evil.test/BODY', 301), 'upstream_redirect_refused'],
    ['redirects without saying where', body('BODY', { status: 307 }), 'upstream_redirect_refused'],
    ['says that nothing changed', body('', { status: 304 }), 'upstream_redirect_refused'],
    ['drops the connection', drop, 'upstream_unreachable'],
    ['drops the connection in the middle of the body', dropMidway, 'upstream_unreachable'],
    ['answers with HTML', html(), 'upstream_not_json'],
    ['answers with HTML that calls itself JSON', body('<p>BODY</p>'), 'upstream_not_json'],
    ['answers with half of a JSON text', body('{"rows":[{"id":1,"name":"BODY'), 'upstream_not_json'],
    ['answers with nothing', body(''), 'upstream_not_json'],
    ['answers without a type', body('{"rows":[]}', { type: '' }), 'upstream_not_json'],
    ['answers with text', body('{"rows":[]}', { type: 'text/plain' }), 'upstream_not_json'],
    ['compresses although nobody asked', gzipped(ROWS), 'upstream_not_json'],
    ['never stops answering', endless, 'response_too_large'],
    ['announces more than the limit', withContentLength('{"rows":[]}', 65_537), 'response_too_large'],
    ['announces less than it sends', withContentLength('{"rows":[],"BODY":"BODY"}', 5), 'upstream_not_json'],
    [
      'nests deeper than any record',
      body(`{"rows":[{"name":${'['.repeat(20_000)}${']'.repeat(20_000)}}]}`),
      'upstream_unexpected_shape',
    ],
    ['refuses the credential', json({ message: 'BODY' }, 401), 'upstream_auth_failed'],
    ['forbids the record', json({ message: 'BODY' }, 403), 'upstream_auth_failed'],
    ['does not know the record', json({ message: 'BODY' }, 404), 'upstream_not_found'],
    ['has removed the record', json({ message: 'BODY' }, 410), 'upstream_not_found'],
    ['asks for fewer requests', json({ message: 'BODY' }, 429), 'upstream_rate_limited'],
    ['refuses with HTML', html(400), 'upstream_rejected'],
    ['refuses without a reason', json({ error: 'BODY' }, 400), 'upstream_rejected'],
    ['refuses with a reason that is no text', json({ message: { BODY: 1 } }, 422), 'upstream_rejected'],
    ['refuses with a status nobody expects', json({ message: 'is odd' }, 418), 'upstream_rejected'],
    ['fails', json({ message: 'BODY' }, 500), 'upstream_unavailable'],
    ['is behind a broken proxy', html(502), 'upstream_unavailable'],
    ['is down', html(503), 'upstream_unavailable'],
  ])(
    '%s: the caller gets its code and one sentence, and the next call works',
    async (_what, answer, code) => {
      harness().upstream.on('*', answer, json(ROWS));
      const failure = await harness().failure(orders, {});
      expect(failure.code).toBe(code);
      expectPresentable(failure);
      await expect(harness().call(orders, {})).resolves.toMatchObject({ structured: { returned: 1 } });
    },
  );

  it('is not there: the caller gets a code and one sentence', async () => {
    const failure = await harness().failure(orders, {}, { credential: { baseUrl: 'http://127.0.0.1:1' } });
    expect(failure.code).toBe('upstream_unreachable');
    expectPresentable(failure);
  });

  it('has a name that does not exist: the caller gets a code and one sentence', async () => {
    const failure = await harness().failure(
      orders,
      {},
      { credential: { baseUrl: 'http://evil.test.invalid' } },
    );
    expect(failure.code).toBe('upstream_unreachable');
    expectPresentable(failure);
  });

  it('is a metadata address: nothing is asked', async () => {
    const failure = await harness().failure(orders, {}, { credential: { baseUrl: 'http://2852039166/' } });
    expect(failure.code).toBe('upstream_address_refused');
    expectPresentable(failure);
  });
});

describe('what upstream says about a request that it refuses', () => {
  const refusedWith = async (message: string, changes = {}) => {
    harness().upstream.on('*', json({ message }, 400));
    return (await harness().failure(prepare(changes), {})).message;
  };

  it('is shown where the contract says so', async () => {
    expect(await refusedWith('parse error: unexpected ")"')).toContain('parse error: unexpected ")"');
  });

  it('is hidden where the contract does not', async () => {
    const message = await refusedWith('parse error', { operation: { errors: { message: null } } });
    expect(message).toBe('Upstream refused the request as invalid.');
  });

  it('is one line of bounded length', async () => {
    const message = await refusedWith(`a\r\nmcp_audit {}\u202e${'x'.repeat(5_000)}`);
    expect(message).not.toMatch(/[\r\n\u202e]/);
    expect(message.length).toBeLessThan(400);
  });

  it('holds neither our credential nor the address of upstream', async () => {
    const { origin } = harness().upstream;
    const message = await refusedWith(
      `GET ${origin}/x with ${SECRET} at ${new URL(origin).host} on 127.0.0.1 failed`,
    );
    expect(message).toContain('failed');
    for (const hidden of [origin, SECRET, '127.0.0.1']) expect(message).not.toContain(hidden);
  });

  it('is left out when it is larger than any sentence', async () => {
    harness().upstream.on('*', json({ message: 'x'.repeat(20_000) }, 400), endless);
    expect((await harness().failure(orders, {})).message).toBe('Upstream refused the request as invalid.');
  });
});

describe('a status that upstream uses in its own way', () => {
  const own = prepare({
    operation: {
      errors: { message: null, statuses: { '400': 'upstream_not_found', '500': 'upstream_rejected' } },
    },
  });

  it.each([
    [400, 'upstream_not_found'],
    [500, 'upstream_rejected'],
    [404, 'upstream_not_found'],
    [503, 'upstream_unavailable'],
  ])('%i means what the contract says: %s', async (status, code) => {
    harness().upstream.on('*', json({ message: 'no' }, status));
    expect(await harness().failure(own, {})).toMatchObject({ code });
  });
});

describe('Retry-After', () => {
  it.each([
    ['7', 7],
    ['999999', 3_600],
    ['0', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    ['soon', undefined],
  ])('of %s is passed on as %s seconds', async (header, seconds) => {
    harness().upstream.on('*', json({}, 429, { 'retry-after': header }));
    expect((await harness().failure(orders, {})).retryAfterSeconds).toBe(seconds);
  });
});

describe('time', () => {
  const hurried = prepare({ limits: { timeout_seconds: 0.2 } });

  it.each([
    ['before any answer', hang],
    ['in the middle of the body', stall],
    ['while the body goes on and on', endless],
  ])('that runs out %s ends the request at upstream', async (_when, answer) => {
    harness().upstream.on('*', answer, json(ROWS));
    const patient = prepare({ limits: { timeout_seconds: 0.2, response_bytes: 16_777_216_000 } });
    const failure = await harness().failure(patient, {});
    expect(failure).toMatchObject({ code: 'upstream_timeout' });
    expectPresentable(failure);
    await harness().upstream.lastRequest.socketClosed;
    await expect(harness().call(hurried, {})).resolves.toMatchObject({ structured: { returned: 1 } });
  });

  it.each([
    ['before any answer', hang],
    ['in the middle of the body', stall],
  ])('of a caller who goes away %s is not spent at upstream', async (_when, answer) => {
    const caller = new AbortController();
    harness().upstream.on('*', answer);
    const attempt = harness().failure(orders, {}, { signal: caller.signal });
    setTimeout(() => {
      caller.abort();
    }, 50);
    expect((await attempt).code).toBe('call_cancelled');
    await harness().upstream.lastRequest.socketClosed;
  });

  it('of a caller who has gone already is not spent at all', async () => {
    const failure = await harness().failure(orders, {}, { signal: AbortSignal.abort() });
    expect(failure.code).toBe('call_cancelled');
    expect(harness().upstream.requests).toEqual([]);
  });
});

describe('an operation that is bound to the caller', () => {
  const bound = prepare({
    operation: {
      ...orderById,
      request: {
        ...httpRequest,
        path: '/api/teams/{team}/orders',
        arguments: {},
        bound: {
          team: { from: 'tenant', in: 'path', as: 'team' },
          by: { from: 'consumer', in: 'query', as: 'by' },
        },
      },
      input_schema: { type: 'object', additionalProperties: false },
    },
  });

  it('is filled from the identity, never by the caller', async () => {
    harness().upstream.on('*', json({ id: 1 }));
    await harness().call(bound, {}, { tenant: 'a b' });
    expect(harness().upstream.lastRequest).toMatchObject({
      path: '/api/teams/a%20b/orders',
      query: '?archived=false&by=client-test',
    });
    for (const name of ['team', 'by']) {
      const refusal = await harness().failure(bound, { [name]: 'other' }, { tenant: 'a' });
      expect(refusal).toMatchObject({ code: 'arguments_invalid', pointer: `/${name}` });
    }
    expect(harness().upstream.requests).toHaveLength(1);
  });

  it('is refused to a caller who has no such identity', async () => {
    expect((await harness().failure(bound, {})).code).toBe('credential_missing');
    expect(harness().upstream.requests).toEqual([]);
  });
});
