import { bodyOf, codeOf, endpoint, makeToken, rpc, send, surfaceOfTools, tool } from './endpoint';

const secret = makeToken();
const PAGE = 'https://chat.example.test';
const rows = [{ id: 'client-inspector', secret, tools: 'plain' }];
const hosted = (changes: Parameters<typeof endpoint>[2] = {}) =>
  endpoint(surfaceOfTools([tool('plain')]), rows, { ownHosts: () => ['n8n.example.test'], ...changes });

const ping = async (to: ReturnType<typeof hosted>, headers: readonly string[], isLoopback = false) =>
  await send(to, { token: secret.token, body: rpc('ping'), headers, isLoopback });

describe('a request over loopback', () => {
  test.each([
    'localhost:5678',
    '127.0.0.1:5678',
    '[::1]:5678',
    'LocalHost',
    'n8n.example.test',
    'N8N.example.test.:443',
  ])('for %s is served', async (host) => {
    expect((await ping(hosted(), ['Host', host], true)).answer.status).toBe(200);
  });

  test.each([
    'evil.example.com',
    'localhost.evil.example.com',
    '127.0.0.1.nip.io',
    'n8n.example.test.evil.com',
    '',
  ])(
    'for %j, as a page whose name was pointed here would send it, is refused before the bearer is looked at',
    async (host) => {
      const served = await ping(hosted(), ['Host', host], true);
      expect([served.answer.status, codeOf(served)]).toEqual([403, 'host_not_allowed']);
      expect(served.audit?.consumer_application_id).toBeNull();
    },
  );
});

describe('a request over the network', () => {
  test('may be for any name until the operator lists some, since containers have names of their own', async () => {
    expect((await ping(hosted(), ['Host', 'n8n:5678'])).answer.status).toBe(200);
    const strict = hosted({ allowedHosts: new Set(['mcp.example.test']) });
    expect((await ping(strict, ['Host', 'MCP.example.test:8443'])).answer.status).toBe(200);
    expect(codeOf(await ping(strict, ['Host', 'n8n:5678']))).toBe('host_not_allowed');
  });

  test('is not asked for the address of n8n where that does not matter', async () => {
    const ownHosts = jest.fn(() => []);
    await ping(hosted({ ownHosts }), ['Host', 'n8n:5678']);
    await ping(hosted({ ownHosts }), ['Host', 'localhost'], true);
    expect(ownHosts).not.toHaveBeenCalled();
  });
});

describe('a web page', () => {
  test('of an allowed origin may read the answer and the headers that say what to do', async () => {
    const served = await ping(hosted({ allowedOrigins: new Set([PAGE]) }), ['Origin', PAGE]);
    expect(bodyOf(served).result).toEqual({});
    expect(served.answer.headers).toMatchObject({
      vary: 'Origin',
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers': expect.stringContaining('WWW-Authenticate') as string,
    });
  });

  test('of an allowed origin can read why it is refused too', async () => {
    const to = hosted({ allowedOrigins: new Set([PAGE]) });
    const served = await send(to, { body: rpc('ping'), headers: ['Origin', PAGE] });
    expect(served.answer.status).toBe(401);
    expect(served.answer.headers['access-control-allow-origin']).toBe(PAGE);
  });

  test.each([
    ['another origin', ['Origin', 'https://evil.example.net']],
    ['the origin null', ['Origin', 'null']],
    ['two origins', ['Origin', PAGE, 'Origin', 'https://evil.example.net']],
  ])('of %s is refused and let read nothing', async (_what, headers) => {
    const served = await ping(hosted({ allowedOrigins: new Set([PAGE]) }), headers);
    expect([served.answer.status, codeOf(served)]).toEqual([403, 'origin_not_allowed']);
    expect(served.answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('is no matter for a program, which sends no origin', async () => {
    const served = await ping(hosted(), []);
    expect(served.answer.status).toBe(200);
    expect(served.answer.headers['vary']).toBeUndefined();
  });
});
