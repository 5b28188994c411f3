import { inputRequired } from '@modelcontextprotocol/server';
import { tool } from '../../support/mcpServerDouble';
import { ModernMcpServer } from '../../support/modernMcpServer';
import { going, pinned, refused, useHarness } from './harness';

const harness = useHarness();
const start = async (tools = [tool('one'), tool('two')]) => harness.own(await ModernMcpServer.start(tools));
const allowOf = (modern: ModernMcpServer) => pinned(modern, { server: 'modern' });
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('a server of the 2026-07-28 era', () => {
  it('is asked once who it is, once for its list, and once for each call', async () => {
    const modern = await start();
    const { server } = harness.client(modern.endpoint, {
      credential: { authentication: 'bearer', token: 'tok-1' },
    });
    expect(await server.describe(going())).toEqual({
      identity: { name: 'modern', origin: modern.origin },
      transport: 'httpStreamable',
      protocolVersion: '2026-07-28',
    });
    for (const id of ['a', 'b']) {
      const { content } = await server.call(allowOf(modern), 'one', { id }, going());
      expect(content).toEqual([{ type: 'text', text: `{"id":"${id}"}` }]);
    }
    await server.close();
    expect(modern.requests.map(({ rpc }) => rpc)).toEqual([
      'server/discover',
      'tools/list',
      'tools/call',
      'tools/call',
    ]);
    expect(modern.requests.every(({ headers }) => headers.authorization === 'Bearer tok-1')).toBe(true);
  });

  it('is compared in the same way', async () => {
    const modern = await start();
    const allow = allowOf(modern);
    modern.tools = [tool('one', { description: 'Another.' }), tool('two')];
    const { server } = harness.client(modern.endpoint);
    expect((await refused(server.call(allow, 'one', {}, going()))).code).toBe('schema_drift');
    expect((await server.call(allow, 'two', {}, going())).isError).toBe(false);
    expect(
      (await refused(server.verified({ ...allow, server: { ...allow.server, name: 'x' } }, going()))).code,
    ).toBe('server_drift');
  });

  it('that wants to ask a model or a person is refused, which the log says', async () => {
    const modern = await start();
    const inputRequests = {
      ask: {
        method: 'elicitation/create',
        params: { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } },
      },
    };
    modern.raw = { result: { resultType: 'input_required', inputRequests } };
    const { server, warnings } = harness.client(modern.endpoint);
    const error = await refused(server.call(allowOf(modern), 'one', {}, going()));
    expect(error.code).toBe('capability_refused');
    expect(error.message).not.toContain('password');
    expect(warnings).toEqual([
      expect.stringMatching(
        /^mcp_client_refused capability_refused: 127\.0\.0\.1:\d+ asked for elicitation\/create, /,
      ),
    ]);
    expect(modern.asked('tools/call')).toHaveLength(1);
  });

  it('that says which capability it misses is told so', async () => {
    const modern = await start();
    modern.answer = () => inputRequired({ inputRequests: { ask: inputRequired.listRoots() } });
    const { server } = harness.client(modern.endpoint);
    expect((await refused(server.call(allowOf(modern), 'one', {}, going()))).code).toBe('capability_refused');
  });

  it.each(['time', 'cancellation'])('sees its exchange end by %s', async (by) => {
    const modern = await start();
    modern.answer = async (_args, signal) => {
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      return { content: [] };
    };
    const { server } = harness.client(modern.endpoint, {
      settings: { timeoutSeconds: by === 'time' ? 0.5 : 60 },
    });
    await server.listing(going());
    const stop = new AbortController();
    const attempt = refused(server.call(allowOf(modern), 'one', {}, stop.signal));
    await until(() => modern.asked('tools/call').length === 1);
    if (by === 'cancellation') stop.abort();
    expect((await attempt).code).toBe(by === 'time' ? 'upstream_timeout' : 'call_cancelled');
    expect(await modern.asked('tools/call')[0]?.endedByClient).toBe(true);
  });

  it('may answer isError, which is an outcome', async () => {
    const modern = await start();
    modern.answer = () => ({ isError: true, content: [{ type: 'text', text: 'quota exceeded' }] });
    const { server } = harness.client(modern.endpoint);
    expect(await server.call(allowOf(modern), 'one', {}, going())).toMatchObject({ isError: true });
  });
});
