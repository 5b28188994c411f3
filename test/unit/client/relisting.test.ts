import { ListingCache } from '../../../core/client/listingCache';
import { going, pinned, refused, useHarness } from './harness';
import { afterReview, NEW_TEXT, other, reviewed } from './reviewedServer';

const harness = useHarness();

describe('a change between list and call', () => {
  const changed = { ...reviewed, description: NEW_TEXT };
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it.each([0, 600])('is seen when the server announces it (list age %d)', async (listAgeSeconds) => {
    const { double, server, allow } = await afterReview(harness, [reviewed, other], {
      client: { settings: { listAgeSeconds } },
    });
    double.streams = true;
    await server.call(allow, 'find_ticket', { number: 1 }, going());
    await until(() => double.openStreams === 1);
    double.tools = [changed, other];
    double.toolsChanged();
    // The announcement comes before the answer to anything that is asked after it.
    await double.ask('ping');
    expect((await refused(server.call(allow, 'find_ticket', { number: 2 }, going()))).code).toBe(
      'schema_drift',
    );
    expect(double.calls).toEqual([{ number: 1 }]);
  });

  it('is seen when it is announced while the list is read', async () => {
    const { double, server, allow } = await afterReview(harness, [reviewed, other], {
      client: { settings: { listAgeSeconds: 600 } },
    });
    let reads = 0;
    double.on('tools/list', (_message, { send }) => {
      reads += 1;
      if (reads > 1) return { tools: [changed, other] };
      send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      return { tools: [reviewed, other] };
    });
    expect((await refused(server.call(allow, 'find_ticket', { number: 1 }, going()))).code).toBe(
      'schema_drift',
    );
    expect(double.calls).toEqual([]);
  });

  it('is not looked for without need', async () => {
    const { double, server, allow } = await afterReview(harness, [reviewed, other]);
    await server.call(allow, 'find_ticket', { number: 1 }, going());
    await server.call(allow, 'find_ticket', { number: 2 }, going());
    expect(double.asked('tools/list')).toHaveLength(1);
  });

  it('is seen in silence where every call compares, at the price of one list for each', async () => {
    const { double, server, allow } = await afterReview(harness, [reviewed, other], {
      client: { settings: { compareEveryCall: true } },
    });
    await server.call(allow, 'find_ticket', { number: 1 }, going());
    expect(double.asked('tools/list')).toHaveLength(1);
    double.tools = [changed, other];
    expect((await refused(server.call(allow, 'find_ticket', { number: 2 }, going()))).code).toBe(
      'schema_drift',
    );
    expect(double.asked('tools/list')).toHaveLength(2);
    expect(double.calls).toEqual([{ number: 1 }]);
  });

  it('is seen where every call compares although a list of an earlier execution may be used', async () => {
    const cache = new ListingCache();
    const settings = { compareEveryCall: true, listAgeSeconds: 600 };
    const { double, server, allow } = await afterReview(harness, [reviewed, other], {
      client: { settings, cache },
    });
    await server.listing(going());
    double.tools = [changed, other];
    const next = harness.client(double.endpoint, { settings, cache }).server;
    expect((await refused(next.call(allow, 'find_ticket', { number: 1 }, going()))).code).toBe(
      'schema_drift',
    );
  });

  it('is seen after a minute at the latest', async () => {
    const { double, server, allow } = await afterReview(harness, [reviewed, other]);
    await server.call(allow, 'find_ticket', { number: 1 }, going());
    double.tools = [changed, other];
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now + 61_000);
    const error = await refused(server.call(allow, 'find_ticket', { number: 2 }, going())).finally(() => {
      clock.mockRestore();
    });
    expect(error.code).toBe('schema_drift');
  });
});

describe('a list of an earlier execution', () => {
  it('is used for as long as is set, for the same credential only', async () => {
    let now = 0;
    const cache = new ListingCache(() => now);
    const settings = { listAgeSeconds: 30 };
    const double = await harness.double({ tools: [reviewed] });
    const lists = async (token: string) => {
      const credential = { authentication: 'bearer', token } as const;
      await harness.client(double.endpoint, { cache, settings, credential }).server.listing(going());
      return double.asked('tools/list').length;
    };
    expect(await lists('tok-a')).toBe(1);
    now = 29_999;
    expect(await lists('tok-a')).toBe(1);
    expect(await lists('tok-b')).toBe(2);
    now = 30_000;
    expect(await lists('tok-a')).toBe(3);
  });

  it('does not hide that the server is another one by now', async () => {
    const cache = new ListingCache();
    const options = { cache, settings: { listAgeSeconds: 600 } };
    const double = await harness.double({ tools: [reviewed] });
    await harness.client(double.endpoint, options).server.listing(going());
    double.serverInfo = { name: 'another', version: '1' };
    const { server } = harness.client(double.endpoint, options);
    const attempt = server.call(pinned(double), 'find_ticket', { number: 1 }, going());
    expect((await refused(attempt)).code).toBe('server_drift');
    expect(double.calls).toEqual([]);
  });

  it('is not used by default', async () => {
    const cache = new ListingCache();
    const double = await harness.double({ tools: [reviewed] });
    await harness.client(double.endpoint, { cache }).server.listing(going());
    await harness.client(double.endpoint, { cache }).server.listing(going());
    expect(double.asked('tools/list')).toHaveLength(2);
  });
});
