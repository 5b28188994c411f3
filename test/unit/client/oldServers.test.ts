import { McpServerDouble, status, tool } from '../../support/mcpServerDouble';
import { OldSseServer } from '../../support/oldSseServer';
import { going, pinned, refused, useHarness } from './harness';

const harness = useHarness();
const start = async () => harness.own(await OldSseServer.start([tool('one')]));
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const allowOf = (old: OldSseServer) => pinned(old, { server: 'old' });

describe('a server that speaks only the old SSE transport', () => {
  it.each(['auto', 'sse'] as const)('is found and called (%s)', async (transport) => {
    const old = await start();
    const credential = { authentication: 'bearer', token: 'tok-1', transport } as const;
    const { server } = harness.client(old.endpoint, { credential });
    expect(await server.describe(going())).toMatchObject({ transport: 'sse', identity: { name: 'old' } });
    for (const id of ['a', 'b']) await server.call(allowOf(old), 'one', { id }, going());
    expect(old.calls).toEqual([{ id: 'a' }, { id: 'b' }]);
    expect(old.streams).toBe(1);
    expect(old.requests.every(({ headers }) => headers.authorization === 'Bearer tok-1')).toBe(true);
  });

  it('is left when the connection is closed', async () => {
    const old = await start();
    const { server } = harness.client(old.endpoint, { credential: { transport: 'sse' } });
    await server.listing(going());
    await server.close();
    await old.stop();
  });

  it('is told of a time limit, and the next call works', async () => {
    const old = await start();
    const { server } = harness.client(old.endpoint, {
      credential: { transport: 'sse' },
      settings: { timeoutSeconds: 0.5 },
    });
    await server.listing(going());
    old.beforeAnswer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 800).unref());
    };
    expect((await refused(server.call(allowOf(old), 'one', { id: 'a' }, going()))).code).toBe(
      'upstream_timeout',
    );
    old.beforeAnswer = () => undefined;
    expect((await server.call(allowOf(old), 'one', { id: 'b' }, going())).isError).toBe(false);
  });

  it('whose stream ends fails the call at once, does not repeat it, and is connected anew for the next', async () => {
    const old = await start();
    const { server } = harness.client(old.endpoint, {
      credential: { transport: 'sse' },
      settings: { timeoutSeconds: 60 },
    });
    await server.listing(going());
    old.beforeAnswer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 500).unref());
    };
    const attempt = refused(server.call(allowOf(old), 'one', { id: 'a' }, going()));
    await until(() => old.calls.length === 1);
    const allow = allowOf(old);
    old.restart();
    expect((await attempt).code).toBe('upstream_unreachable');
    old.beforeAnswer = () => undefined;
    old.tools = [tool('one', { description: 'Another.' })];
    expect((await refused(server.call(allow, 'one', { id: 'b' }, going()))).code).toBe('schema_drift');
    expect(old.calls).toEqual([{ id: 'a' }]);
  });

  it('that has forgotten the session is connected once more, and the call is sent again', async () => {
    const old = await start();
    const { server } = harness.client(old.endpoint, { credential: { transport: 'sse' } });
    await server.listing(going());
    old.forgetSessions();
    expect((await server.call(allowOf(old), 'one', { id: 'a' }, going())).isError).toBe(false);
    expect(old.calls).toEqual([{ id: 'a' }]);
    expect(old.streams).toBe(2);
  });

  it('cannot send the messages, and with them the token, to another origin', async () => {
    const second = await harness.double();
    const first = await harness.double();
    first.before = () => (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: ${second.endpoint}\n\n`);
    };
    const credential = { authentication: 'bearer', token: 'tok-1', transport: 'sse' } as const;
    const { server } = harness.client(first.endpoint, { credential, settings: { timeoutSeconds: 2 } });
    await refused(server.listing(going()));
    expect(second.requests).toEqual([]);
  });

  it.each([
    [401, 'upstream_auth_failed'],
    [404, 'upstream_not_found'],
    [503, 'upstream_unavailable'],
  ])('says by its status what is wrong: HTTP %d', async (code, expected) => {
    const double = await harness.double();
    double.before = () => status(code);
    const { server } = harness.client(double.endpoint, { credential: { transport: 'sse' } });
    expect((await refused(server.listing(going()))).code).toBe(expected);
  });

  it('that refuses a message is told with its status and its words', async () => {
    const double = await harness.double();
    double.before = ({ http }) =>
      http === 'GET'
        ? (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.write('event: endpoint\ndata: /messages\n\n');
          }
        : status(401, 'who are you');
    const { server } = harness.client(double.endpoint, { credential: { transport: 'sse' } });
    expect(await refused(server.listing(going()))).toMatchObject({
      code: 'upstream_auth_failed',
      message: 'The MCP server refused the credential (HTTP 401): who are you',
    });
  });

  it('that is not there is told by what the network says', async () => {
    const gone = await McpServerDouble.start();
    const { endpoint } = gone;
    await gone.stop();
    const { server } = harness.client(endpoint, { credential: { transport: 'sse' } });
    expect(await refused(server.listing(going()))).toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });
});
