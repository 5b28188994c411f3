import { authenticateToken } from '../../../core/server/authenticateToken';
import { serveMetadata, type DescribedEndpoint } from '../../../core/server/serveMetadata';
import {
  bodyOf,
  call,
  codeOf,
  descriptor,
  endpoint,
  makeToken,
  rpc,
  send,
  surfaceOfTools,
  tool,
} from './endpoint';
import { AUDIENCE, ISSUER, issuerWith, NOW, pemOf, rsaKey, tokenOf } from './tokens';

const key = rsaKey('key-1');
const issuer = issuerWith({
  publicKeys: pemOf(key),
  toolScopes: JSON.stringify({
    'orders:read': ['find_order'],
    'stock:read': ['find_stock'],
    all: ['list_orders'],
  }),
});
const surface = surfaceOfTools([tool('find_order'), tool('list_orders')]);
const METADATA = `${AUDIENCE}/.well-known/oauth-protected-resource`;
const rows = [{ id: 'client-one', secret: makeToken(), tools: 'find_order' }];
const served = endpoint(surface, rows, {
  identify: async (authorization, now) => await authenticateToken(authorization, issuer, now),
  metadataAddress: () => METADATA,
  now: () => NOW,
});

describe('a challenge where tokens are asked for', () => {
  test.each([
    ['no token', undefined, 'Bearer realm="mcp"'],
    ['a token of somebody else', 'a.b.c', 'Bearer realm="mcp", error="invalid_token"'],
    ['a malformed one', 'a b', 'Bearer realm="mcp", error="invalid_request"'],
  ])('names the metadata, for %s', async (_what, token, challenge) => {
    const { answer } = await send(served, {
      body: rpc('tools/list'),
      ...(token === undefined ? {} : { token }),
    });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(`${challenge}, resource_metadata="${METADATA}"`);
  });

  test('is insufficient_scope with the scopes of this surface for a token that has none of them', async () => {
    const token = await tokenOf(key, { claims: { scope: 'openid stock:read' } });
    for (const body of [rpc('tools/list'), call('find_order', {}), call('no_such_tool', {})]) {
      const result = await send(served, { body, token });
      expect([result.answer.status, codeOf(result)]).toEqual([403, 'insufficient_scope']);
      expect(result.answer.headers['www-authenticate']).toBe(
        `Bearer realm="mcp", error="insufficient_scope", scope="orders:read all", resource_metadata="${METADATA}"`,
      );
      expect(result.audit).toMatchObject({ consumer_application_id: 'client-claude', status: 'refused' });
    }
  });

  test('is none for a tool that another scope would grant: it is as if it were not there', async () => {
    const token = await tokenOf(key, { claims: { scope: 'all' } });
    const answers = await Promise.all(
      ['find_order', 'no_such_tool'].map(async (name) => await send(served, { body: call(name, {}), token })),
    );
    expect(answers.map(({ answer }) => answer.headers['www-authenticate'])).toEqual([undefined, undefined]);
    expect(bodyOf(answers[0] as never)).toEqual(bodyOf(answers[1] as never));
  });

  test('comes with no metadata where bearers are handed out', async () => {
    const { answer } = await send(endpoint(surface, rows), {
      body: rpc('ping'),
    });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="mcp"');
  });
});

describe('a token with a scope', () => {
  test('lists and calls what the scope grants', async () => {
    const token = await tokenOf(key, { claims: { scope: 'orders:read' } });
    expect(bodyOf(await send(served, { body: rpc('tools/list'), token })).result?.tools).toEqual([
      descriptor('find_order'),
    ]);
    const result = await send(served, { body: call('find_order', {}), token });
    expect(result.audit).toMatchObject({ code: 'ok', consumer_application_id: 'client-claude' });
  });
});

describe('the metadata of an endpoint', () => {
  const described: DescribedEndpoint = {
    applicationId: 'web-app-example',
    allowedOrigins: new Set(['https://chat.example']),
    allowedHosts: new Set(),
    ownHosts: () => [],
    resource: () => AUDIENCE,
    issuer: () => Promise.resolve(issuer),
    surface: () => surface,
    takeUndelivered: () => 0,
    now: () => NOW,
  };
  const ask = async (changes: Partial<DescribedEndpoint> = {}, rawHeaders: readonly string[] = []) =>
    await serveMetadata(
      { method: 'GET', rawHeaders, body: undefined, bodyBytes: 0, signal: new AbortController().signal },
      { ...described, ...changes },
    );

  test('says where tokens come from and which scopes there are, and names no tool and no consumer', async () => {
    const { answer, audit } = await ask();
    expect(JSON.parse(answer.body)).toEqual({
      resource: AUDIENCE,
      resource_name: 'Example',
      authorization_servers: [ISSUER],
      bearer_methods_supported: ['header'],
      scopes_supported: ['orders:read', 'all'],
    });
    expect([answer.status, answer.headers['content-type'], audit]).toEqual([
      200,
      'application/json',
      undefined,
    ]);
  });

  test('is not there where bearers are handed out', async () => {
    const result = await ask({ issuer: () => Promise.resolve(undefined) });
    expect([result.answer.status, codeOf(result), result.audit?.code]).toEqual([
      404,
      'metadata_absent',
      'metadata_absent',
    ]);
  });

  test('is refused to a foreign web origin', async () => {
    expect((await ask({}, ['Origin', 'https://evil.example'])).answer.status).toBe(403);
    expect((await ask({}, ['Origin', 'https://chat.example'])).answer.status).toBe(200);
  });

  test('is 503 for a set-up that cannot be used, and the reason reaches the log only', async () => {
    const result = await ask({ resource: () => undefined });
    expect(result.answer.status).toBe(503);
    expect(result.answer.body).not.toContain('Public Address');
    expect(result.cause).toMatchObject({ message: expect.stringContaining('Public Address') as string });
  });
});
