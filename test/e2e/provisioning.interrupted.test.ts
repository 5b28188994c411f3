import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { REAL_PACE } from '../../cli/n8n/pacing';
import type { AttachedHost } from '../hosts/host';
import { eventually } from '../support/editWorkflow';
import { expectRefusal } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { rpc } from '../support/mcpRequest';
import type { OperatorOnHost } from '../support/operatorOnHost';
import type { CutMoment } from '../support/recordingProxy';
import { N8N, PROMETHEUS, TwoSurfaces, UPSTREAM } from '../support/twoSurfaces';

const CLAUDE = 'client-claude';
const CURSOR = 'client-cursor';
const MOMENTS: readonly CutMoment[] = ['before', 'after'];

// One life of an installation: each test leaves the surfaces as the operator file says.
describe.each(hosts())('rotations and interrupted runs on n8n $version', (host: AttachedHost) => {
  const isOld = host.version.startsWith('1.');
  let surfaces: TwoSurfaces;
  let operator: OperatorOnHost;

  beforeAll(async () => {
    surfaces = await TwoSurfaces.start(host, 'e2e-interrupted');
    ({ operator } = surfaces);
  });
  afterAll(async () => {
    await surfaces.stop();
  });
  beforeEach(() => {
    // Retries wait for nobody here: what they lead to is what counts.
    jest.spyOn(REAL_PACE, 'sleep').mockImplementation(async (ms) => {
      await sleep(Math.min(ms, 50));
    });
  });
  afterEach(() => {
    surfaces.accepted.clear();
    jest.restoreAllMocks();
  });

  /** The statuses that somebody else's bearer is answered with while something happens. */
  const seenMeanwhile = async (work: () => Promise<void>): Promise<number[]> => {
    const bystander = operator.endpoint(PROMETHEUS, CURSOR);
    const seen: number[] = [];
    const over = new AbortController();
    const polling = (async () => {
      while (!over.signal.aborted) {
        seen.push((await rpc(bystander, 'tools/list')).status);
        await sleep(20);
      }
    })();
    await work().finally(() => {
      over.abort();
    });
    await polling;
    return seen;
  };
  const isLetIn = async (bearer: string) =>
    (await rpc({ ...operator.endpoint(PROMETHEUS), bearer }, 'tools/list')).status === 200;

  it("rotates a consumer's bearer without a refusal of anybody else, and the old bearer is dead", async () => {
    const old = operator.endpoint(PROMETHEUS);
    const seen = await seenMeanwhile(async () => {
      expect(await operator.run('rotate', PROMETHEUS, '--consumer', CLAUDE)).toEqual({
        code: 0,
        stdout: `${CLAUDE}: the new bearer works and the old one is dead at ${N8N}, ${PROMETHEUS}.\n`,
        stderr: '',
      });
    });
    // 1.100.1 serves nothing for some milliseconds while it writes an active workflow; it refuses nobody.
    expect(seen.filter((status) => status !== 200 && !(isOld && status === 404))).toEqual([]);
    expect(seen.filter((status) => status === 200).length).toBeGreaterThan(seen.length / 2);
    expectRefusal(await rpc(old, 'tools/list'), { status: 401, code: 'bearer_invalid' });
    await surfaces.expectSettled();
  });

  it('rotates a bearer that is for one surface only there', async () => {
    const [old, elsewhere] = [operator.endpoint(PROMETHEUS, CURSOR), operator.endpoint(N8N, CURSOR)];
    const { code, stdout } = await operator.run('rotate', PROMETHEUS, '--consumer', CURSOR);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/ is dead at web-app-prometheus\.\n$/) as string,
    });
    await eventually(async () => {
      expect(await isLetIn(operator.secretIn(`${CURSOR}.${PROMETHEUS}`))).toBe(true);
      expect((await rpc(old, 'tools/list')).status).toBe(401);
      expect((await rpc(elsewhere, 'tools/list')).status).toBe(200);
    });
    await surfaces.expectSettled();
  });

  it.each([2, 5, 7])('goes on with a rotation that broke off at write %d', async (nth) => {
    const before = operator.secretIn(CLAUDE);
    operator.proxy.cutAt(nth, MOMENTS[nth % 2] ?? 'before');
    expect((await operator.run('rotate', PROMETHEUS, '--consumer', CLAUDE)).code).toBe(1);
    expect(operator.proxy.isDead).toBe(true);
    const known = [CLAUDE, `${CLAUDE}.next`, `${CLAUDE}.old`].filter((name) =>
      existsSync(operator.at('secrets', name)),
    );
    const letIn = await Promise.all(known.map(async (name) => await isLetIn(operator.secretIn(name))));
    expect(letIn).toContain(true);
    operator.proxy.restore();
    expect(await operator.run('rotate', PROMETHEUS, '--consumer', CLAUDE)).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(await isLetIn(before)).toBe(false);
    await surfaces.expectServed();
    await surfaces.expectSettled();
  });

  it('rotates the upstream secret: back to the old one where the new one is refused, else for good', async () => {
    const { accepted } = surfaces;
    const old = operator.secretIn(UPSTREAM);
    accepted.add(old);
    const next = operator.secret(`${UPSTREAM}.next`);
    const refused = await operator.run('rotate', PROMETHEUS, '--upstream');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^new_secret_refused: /) as string,
    });
    // Nothing of it takes effect later: 2.x publishes workflows in the background.
    for (let reads = 0; reads < 10; reads += 1) {
      // No answer at all is n8n that publishes; a refusal of the application would have a code.
      expect((await surfaces.read()) ?? 'ok').toBe('ok');
      await sleep(50);
    }

    accepted.add(next);
    expect(await operator.run('rotate', PROMETHEUS, '--upstream')).toMatchObject({ code: 0, stderr: '' });
    accepted.delete(old);
    expect(operator.secretIn(UPSTREAM)).toBe(next);
    await surfaces.expectSettled();
  });

  it('leads back to the old upstream secret after a rotation that broke off with the new one in use', async () => {
    const { accepted } = surfaces;
    accepted.add(operator.secretIn(UPSTREAM));
    operator.secret(`${UPSTREAM}.next`);
    operator.proxy.cutAt(3, 'after');
    expect((await operator.run('rotate', PROMETHEUS, '--upstream')).code).toBe(1);
    expect(operator.proxy.isDead).toBe(true);
    operator.proxy.restore();
    expect(await operator.run('apply')).toMatchObject({ code: 0, stderr: '' });
    await surfaces.expectSettled();
    rmSync(operator.at('secrets', `${UPSTREAM}.next`));
  });

  /** Something that makes apply write to both surfaces and all credentials but one. */
  const changeMuch = (round: string) => {
    for (const consumer of operator.consumers) consumer['tenant'] = `tenant-${round}`;
    operator.secret(UPSTREAM);
  };
  const expectConvergence = async () => {
    operator.proxy.restore();
    const { code, stdout } = await operator.run('apply');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining('failed') as string });
    await surfaces.expectSettled();
  };

  it('converges after a connection that broke at any write, and nobody gets in or is left out meanwhile', async () => {
    let nth = 0;
    do {
      nth += 1;
      changeMuch(String(nth));
      operator.proxy.cutAt(nth, MOMENTS[nth % 2] ?? 'before');
      await operator.run('apply');
      await surfaces.expectServed();
      if (!operator.proxy.isDead) break;
      await expectConvergence();
    } while (nth < 30);
    expect(nth).toBeGreaterThan(5);
    expect(nth).toBeLessThan(30);
  });

  it.each([2, 4])('converges after the process was killed at write %d', async (nth) => {
    changeMuch(`killed-${nth}`);
    expect((await operator.runKilled(nth, 'apply')).code).toBe(-1);
    await surfaces.expectServed();
    await expectConvergence();
  });

  it('has printed no secret', () => {
    expect(operator.leaksIn(operator.printed.join('\n'))).toEqual([]);
  });

  itKeepsTheLogClean(host, () => [...operator.secrets]);
});
