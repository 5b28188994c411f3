import { backOffMs, retryAfterMs, Semaphore } from '../../../cli/n8n/pacing';
import { type N8nPublicApi } from '../../../cli/n8n/publicApi';
import { N8nApiDouble, type Fault } from '../../support/n8nApiDouble';
import { clientOf, recordedPace, wanted } from '../../support/n8nApiDoubleClient';

let n8n: N8nApiDouble;
beforeEach(async () => {
  n8n = await N8nApiDouble.start('2.41.1');
});
afterEach(async () => {
  await n8n.stop();
});

const ALWAYS = { times: Number.POSITIVE_INFINITY };

const PASSING: [string, Fault][] = [
  ['429', { kind: 'status', status: 429 }],
  ['500', { kind: 'status', status: 500 }],
  ['503 with a web page', { kind: 'html', status: 503 }],
  ['a connection that ends before', { kind: 'cut', when: 'before' }],
  ['a connection that ends after', { kind: 'cut', when: 'after' }],
];

const IDEMPOTENT: [string, (api: N8nPublicApi, id: string) => Promise<unknown>][] = [
  ['a list', (api) => api.listWorkflows()],
  ['a read', (api, id) => api.getWorkflow(id)],
  ['an update', (api, id) => api.updateWorkflow(id, wanted('b'), {})],
  ['an activation', (api, id) => api.activateWorkflow(id)],
  ['a deactivation', (api, id) => api.deactivateWorkflow(id)],
  ['tags', (api, id) => api.setWorkflowTags(id, [])],
  ['a deletion', (api, id) => api.deleteWorkflow(id)],
  ['the security audit', (api) => api.unusedCredentials()],
];

describe.each(PASSING)('%s', (_what, fault) => {
  test.each(IDEMPOTENT)('is overcome by sending it again: %s', async (_call, work) => {
    const { id } = n8n.seedWorkflow({ name: 'a', nodes: wanted('a').nodes });
    n8n.inject(fault, { times: 3 });
    await work(clientOf(n8n), id);
    expect(n8n.requests).toHaveLength(4);
  });

  test('ends with an error after four attempts, with longer waits in between', async () => {
    n8n.inject(fault, ALWAYS);
    const pace = recordedPace(1);
    await expect(clientOf(n8n, { pace }).listTags()).rejects.toMatchObject({ name: 'N8nApiError' });
    expect(n8n.requests).toHaveLength(4);
    expect(pace.slept).toEqual([500, 1_000, 2_000]);
  });
});

test('a credential is updated again after a failure', async () => {
  const { id } = n8n.store.addCredential({ name: 'c', type: 'httpHeaderAuth', data: {} });
  n8n.inject({ kind: 'cut', when: 'after' });
  expect(await clientOf(n8n).updateCredential(id, { name: 'd' })).toBe('done');
  expect(n8n.writes).toHaveLength(2);
});

test('a deletion whose answer was lost is done, though nothing is there any more', async () => {
  const { id } = n8n.seedWorkflow({ name: 'a' });
  n8n.inject({ kind: 'cut', when: 'after' });
  await clientOf(n8n).deleteWorkflow(id);
  expect(n8n.requests.map(({ status }) => status)).toEqual([200, 404]);
});

test.each([400, 401, 403, 404, 405, 409])('%i is an answer and not asked for again', async (status) => {
  n8n.inject({ kind: 'status', status }, ALWAYS);
  await expect(clientOf(n8n).listTags()).rejects.toMatchObject({ status });
  expect(n8n.requests).toHaveLength(1);
});

describe('Retry-After', () => {
  test.each([
    ['3', 3_000],
    ['Thu, 01 Jan 2026 00:00:07 GMT', 7_000],
    ['nonsense', 250],
    ['0', 250],
  ])('is waited for: %s', async (retryAfter, ms) => {
    n8n.inject({ kind: 'status', status: 429, retryAfter });
    const pace = recordedPace();
    await clientOf(n8n, { pace }).listTags();
    expect(pace.slept).toEqual([ms]);
  });

  test('of minutes is told instead of waited for', async () => {
    n8n.inject({ kind: 'status', status: 429, retryAfter: '3600' });
    const pace = recordedPace();
    await expect(clientOf(n8n, { pace }).listTags()).rejects.toMatchObject({ code: 'rate_limited' });
    expect(pace.slept).toEqual([]);
  });

  test('that says nothing is no wait', () => {
    expect([null, '', '  '].map((header) => retryAfterMs(header, 0))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test('the wait between attempts doubles up to a bound, half of it by chance', () => {
  expect([1, 2, 3, 9].map((attempt) => backOffMs(attempt, 0))).toEqual([250, 500, 1_000, 4_000]);
  expect([1, 2, 3, 9].map((attempt) => backOffMs(attempt, 1))).toEqual([500, 1_000, 2_000, 8_000]);
});

describe('no more than four requests at the same time', () => {
  test('are under way, and all are answered', async () => {
    let release = (): void => undefined;
    const until = new Promise<void>((resolve) => (release = resolve));
    n8n.inject({ kind: 'hold', until }, ALWAYS);
    const api = clientOf(n8n);
    const all = Promise.all(Array.from({ length: 10 }, () => api.listTags()));
    while (n8n.requests.length < 4) await new Promise(setImmediate);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(n8n.requests).toHaveLength(4);
    release();
    expect(await all).toHaveLength(10);
    expect(n8n.requests).toHaveLength(10);
  });

  test('and who gives up waiting takes nobody else a place', async () => {
    const places = new Semaphore(1);
    let release = (): void => undefined;
    const first = places.run(() => new Promise<void>((resolve) => (release = resolve)));
    const abort = new AbortController();
    const second = places.run(() => Promise.resolve('second'), abort.signal);
    const third = places.run(() => Promise.resolve('third'));
    abort.abort(new Error('Interrupted'));
    await expect(second).rejects.toThrow('Interrupted');
    release();
    await first;
    expect(await third).toBe('third');
    expect(await places.run(() => Promise.resolve('fourth'))).toBe('fourth');
  });
});

describe('a signal', () => {
  test('that was aborted keeps every request from being sent', async () => {
    const api = clientOf(n8n, { signal: AbortSignal.abort(new Error('Interrupted')) });
    await expect(api.createTag('x')).rejects.toThrow('Interrupted');
    await expect(api.listTags()).rejects.toThrow('Interrupted');
    expect(n8n.requests).toEqual([]);
  });

  test('ends the wait before the next attempt', async () => {
    const abort = new AbortController();
    n8n.inject({ kind: 'status', status: 503 }, ALWAYS);
    const pace = {
      ...recordedPace(),
      sleep: (_ms: number, signal?: AbortSignal) => {
        abort.abort(new Error('Interrupted'));
        signal?.throwIfAborted();
        return Promise.resolve();
      },
    };
    await expect(clientOf(n8n, { pace, signal: abort.signal }).listTags()).rejects.toThrow('Interrupted');
    expect(n8n.requests).toHaveLength(1);
  });

  test('is no longer listened to by who has waited for a place', async () => {
    const { signal } = new AbortController();
    const added = jest.spyOn(signal, 'addEventListener');
    const removed = jest.spyOn(signal, 'removeEventListener');
    const places = new Semaphore(4);
    await Promise.all(Array.from({ length: 12 }, () => places.run(() => Promise.resolve(), signal)));
    expect(added).toHaveBeenCalledTimes(8);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });

  test('ends a read that is under way', async () => {
    const abort = new AbortController();
    n8n.inject({ kind: 'hold', until: new Promise(() => undefined) });
    const reading = expect(clientOf(n8n, { signal: abort.signal }).listTags()).rejects.toThrow('Interrupted');
    while (n8n.requests.length === 0) await new Promise(setImmediate);
    abort.abort(new Error('Interrupted'));
    await reading;
  });

  test('never cuts a write that was sent: what was made is told', async () => {
    const abort = new AbortController();
    let release = (): void => undefined;
    n8n.inject({ kind: 'hold', until: new Promise<void>((resolve) => (release = resolve)) });
    const making = clientOf(n8n, { signal: abort.signal }).createTag('mine');
    while (n8n.requests.length === 0) await new Promise(setImmediate);
    abort.abort(new Error('Interrupted'));
    release();
    expect(await making).toMatchObject({ name: 'mine' });
  });
});

test('what was sent is counted, each attempt, by method and by whether it changes anything', async () => {
  const api = clientOf(n8n);
  n8n.inject({ kind: 'status', status: 500 });
  await api.listTags();
  await api.unusedCredentials();
  const { id } = await api.createTag('x');
  await api.deleteTag(id);
  expect(api.requestCounts).toEqual({ reads: 3, writes: 2, byMethod: { GET: 2, POST: 2, DELETE: 1 } });
});
