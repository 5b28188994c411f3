import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeBearer } from '../../../core/server/bearer';
import { REAL_PACE } from '../../../cli/n8n/pacing';
import { rawHttp } from '../../support/rawHttp';
import type { Fault } from '../../support/n8nApiDouble';
import { Operator, OWNER } from './harness';

// Retries wait for nobody here: what they lead to is what counts.
jest.spyOn(REAL_PACE, 'sleep').mockImplementation(() => Promise.resolve());

const CONSUMER = 'client-claude';
const RELEASES = ['1.100.1', '2.41.1'] as const;

describe.each(RELEASES)('rotation on n8n %s', (release) => {
  let operator: Operator;
  beforeEach(async () => {
    operator = await Operator.start(release);
    expect((await operator.run('apply')).code).toBe(0);
  });
  afterEach(async () => {
    await operator.stop();
  });

  const at = (name: string) => path.join(operator.folder, name);
  const bearerIn = (name: string) => readFileSync(at(name), 'utf8').trim();
  const accepts = async (bearer: string, application = 'web-app-n8n') => {
    const { status } = await rawHttp({
      url: `${operator.n8n.origin}/mcp/${application}`,
      headers: [
        ['Content-Type', 'application/json'],
        ['Accept', 'application/json, text/event-stream'],
        ['Authorization', `Bearer ${bearer}`],
      ],
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    return status === 200;
  };
  const credentials = () => [...operator.n8n.store.credentials.values()].map(({ name }) => name).sort();
  const rotate = (...args: string[]) => operator.run('rotate', 'web-app-n8n', ...args);
  const settled = [
    `${OWNER}:web-app-n8n consumers`,
    `${OWNER}:web-app-n8n upstream`,
    `${OWNER}:web-app-prometheus consumers`,
    `${OWNER}:web-app-prometheus upstream`,
  ];

  test("replaces a consumer's bearer at every surface that shares its file, and the old one is dead", async () => {
    const before = bearerIn(CONSUMER);
    const { code, stdout } = await rotate('--consumer', CONSUMER);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${CONSUMER}: the new bearer works and the old one is dead at web-app-n8n, web-app-prometheus.\n`,
    });
    const after = bearerIn(CONSUMER);
    expect(after).not.toBe(before);
    for (const application of ['web-app-n8n', 'web-app-prometheus']) {
      expect(await accepts(after, application)).toBe(true);
      expect(await accepts(before, application)).toBe(false);
    }
    expect([existsSync(at(`${CONSUMER}.next`)), existsSync(at(`${CONSUMER}.old`))]).toEqual([false, false]);
    expect(stdout).not.toContain(after);
    expect(credentials()).toEqual(settled);
    await operator.run('apply');
    expect(operator.n8n.writes).toEqual([]);
  });

  test('keeps the other consumers as they are', async () => {
    const other = bearerIn('web-app-openwebui');
    await rotate('--consumer', CONSUMER);
    expect(await accepts(other)).toBe(true);
  });

  const FAULTS: [string, Fault][] = [
    ['cut before', { kind: 'cut', when: 'before' }],
    ['cut after', { kind: 'cut', when: 'after' }],
  ];
  test.each(FAULTS)(
    'ended for good at any request (%s it was handled) leaves a bearer that works, and the next run finishes',
    async (_name, fault) => {
      let hit = true;
      for (let nth = 1; hit; nth += 1) {
        const before = bearerIn(CONSUMER);
        operator.n8n.forget();
        // From this request on nothing arrives any more, as if the process had been killed.
        operator.n8n.inject(fault, { nth, times: 10_000 });
        hit = !(await rotate('--consumer', CONSUMER).then(
          ({ code }) => code === 0,
          () => false,
        ));
        const known = [CONSUMER, `${CONSUMER}.next`, `${CONSUMER}.old`].filter((name) =>
          existsSync(at(name)),
        );
        const working = await Promise.all(known.map(async (name) => await accepts(bearerIn(name))));
        expect(working).toContain(true);
        operator.n8n.forget();
        if (hit) expect((await rotate('--consumer', CONSUMER)).code).toBe(0);
        expect(await accepts(bearerIn(CONSUMER))).toBe(true);
        expect(await accepts(before)).toBe(false);
        expect(credentials()).toEqual(settled);
        expect(nth).toBeLessThan(100);
      }
    },
    120_000,
  );

  test('of a bearer that is not in a file is refused before anything is written', async () => {
    process.env['ROTATE_TEST_TOKEN'] = makeBearer().token;
    operator.draft.consumers[0] = { id: CONSUMER, token: 'env:ROTATE_TEST_TOKEN' };
    await expect(rotate('--consumer', CONSUMER)).rejects.toMatchObject({ code: 'rotation_needs_file' });
    expect(operator.n8n.writes).toEqual([]);
  });

  test('of an unknown consumer or a surface that is off is refused', async () => {
    await expect(rotate('--consumer', 'client-nobody')).rejects.toMatchObject({ code: 'consumer_unknown' });
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], enabled: false };
    await expect(rotate('--consumer', CONSUMER)).rejects.toMatchObject({ code: 'surface_disabled' });
    await expect(rotate()).rejects.toThrow('--consumer <id> or --upstream');
  });

  test('of the upstream secret brings the new one into use and deletes the credential of the old one', async () => {
    const next = makeBearer().token;
    writeFileSync(at('web-app-n8n.upstream.next'), next, { mode: 0o600 });
    const { code, stdout } = await rotate('--upstream');
    expect(code).toBe(0);
    expect(stdout).toContain('revoke the old one in the application');
    expect(bearerIn('web-app-n8n.upstream')).toBe(next);
    expect(credentials()).toEqual(settled);
    const held = [...operator.n8n.store.credentials.values()].find(({ name }) => name === settled[1]);
    expect(held?.data['secret']).toBe(next);
    await operator.run('apply');
    expect(operator.n8n.writes).toEqual([]);
  });

  test.each(FAULTS)(
    'of the upstream secret ended for good at any request (%s it was handled) is finished by the next run',
    async (_name, fault) => {
      let hit = true;
      for (let nth = 1; hit; nth += 1) {
        const old = bearerIn('web-app-n8n.upstream');
        const next = makeBearer().token;
        writeFileSync(at('web-app-n8n.upstream.next'), next, { mode: 0o600 });
        operator.n8n.forget();
        operator.n8n.inject(fault, { nth, times: 10_000 });
        hit = !(await rotate('--upstream').then(
          ({ code }) => code === 0,
          () => false,
        ));
        const inUse = () => {
          const workflow = [...operator.n8n.store.workflows.values()].find(
            ({ name }) => name === `${OWNER}:web-app-n8n`,
          );
          const ids = (workflow?.nodes ?? []).flatMap(
            ({ credentials: used }) => used?.['mcpUpstreamApi']?.id ?? [],
          );
          return [...new Set(ids.map((id) => operator.n8n.store.credentials.get(id)?.data['secret']))];
        };
        expect([[old], [next]]).toContainEqual(inUse());
        operator.n8n.forget();
        if (existsSync(at('web-app-n8n.upstream.next'))) expect((await rotate('--upstream')).code).toBe(0);
        expect((await operator.run('apply')).code).toBe(0);
        expect(inUse()).toEqual([next]);
        expect(bearerIn('web-app-n8n.upstream')).toBe(next);
        expect(credentials()).toEqual(settled);
        expect(nth).toBeLessThan(100);
      }
    },
    120_000,
  );

  test('of the upstream secret says where the new one is expected', async () => {
    await expect(rotate('--upstream')).rejects.toMatchObject({
      code: 'next_secret_missing',
      message: expect.stringContaining('web-app-n8n.upstream.next') as string,
    });
  });
});
