import { randomBytes } from 'node:crypto';
import {
  checkResourceAllowed,
  Client,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { SignJWT } from 'jose';
import { NODE_TYPES } from '../../core/contract/render';
import { definitionText } from '../node/definitions';
import { eventually } from '../support/editWorkflow';
import { auditLinesOf, expectRefusal } from '../support/expectations';
import { calculator, node, publishHandMade, type HandMadeWishes } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, listTools, rpc } from '../support/mcpRequest';
import type { TestSurface } from '../support/publish';
import { rawHttp } from '../support/rawHttp';
import { hang, json, UpstreamDouble } from '../support/upstreamDouble';
import { keySetOf, pemOf, rsaKey, tokenOf as signed, type SigningKey } from '../unit/server/tokens';

const ISSUER = 'https://login.example.com/realms/tools';
const AUDIENCE = 'urn:example:tools';
const SCOPE = 'tools:read';
const READ = 'n8n_list_workflows';
const key = rsaKey('key-1');
const SECRET = randomBytes(24).toString('base64url');
const tokens: string[] = [];

/** A token that is good now, but for what is wished. */
async function tokenOf(claims: object = {}, signer: SigningKey = key): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const token = await signed(signer, {
    claims: { iss: ISSUER, aud: AUDIENCE, scope: `openid ${SCOPE}`, iat: now, exp: now + 300, ...claims },
  });
  tokens.push(token);
  return token;
}

describe.each(hosts())('who may call, on n8n $version', (host) => {
  const isNew = host.version.startsWith('2.');
  const tool = isNew ? 'Calculator' : 'calculator';
  const published: TestSurface[] = [];
  let double: UpstreamDouble;
  let upstreamId: string;
  let byTokens: TestSurface;

  const publish = async (slug: string, wishes: Partial<HandMadeWishes>): Promise<TestSurface> => {
    const surface = await publishHandMade(host, {
      slug: `identity-${slug}`,
      tools: [calculator()],
      toolNames: [tool],
      ...wishes,
    });
    published.push(surface);
    return surface;
  };

  beforeAll(async () => {
    double = await UpstreamDouble.start();
    double.on('/certs', json(keySetOf(key)));
    double.on('/api/v1/workflows', json({ data: [], nextCursor: null }));
    const upstream = await host.api.post<{ id: string }>('/credentials', {
      name: 'e2e-identity upstream',
      type: 'mcpUpstreamApi',
      data: {
        ...{ baseUrl: double.origin, authentication: 'bearer', name: '', secret: 'unused-secret' },
        ...{ testPath: '/', consumerSecrets: JSON.stringify({ 'client-claude': SECRET }) },
      },
    });
    upstreamId = upstream.id;
    byTokens = await publish('tokens', {
      tools: [
        calculator(),
        {
          ...node(READ, NODE_TYPES.readTool, 1, { definition: definitionText('web-app-n8n', READ) }),
          credentials: { mcpUpstreamApi: { id: upstreamId, name: 'e2e-identity upstream' } },
        },
      ],
      toolNames: [tool, READ],
      issuer: {
        issuer: ISSUER,
        audience: AUDIENCE,
        jwksUrl: `${double.origin}/certs`,
        toolScopes: JSON.stringify({ [SCOPE]: [tool, READ], 'other:read': ['elsewhere'] }),
      },
    });
  });
  afterAll(async () => {
    for (const surface of published) await surface.remove();
    await host.api.delete(`/credentials/${upstreamId}`);
    await double.stop();
  });

  const as = (bearer: string | null) => ({ ...byTokens, bearer });

  it('serves a consumer that a token of the issuer names, with the tools of its scopes', async () => {
    const surface = as(await tokenOf());
    expect((await listTools(surface)).map(({ name }) => name)).toEqual([tool, READ]);
    const answer = await callTool(surface, tool, { input: '6 * 7' });
    expect(codeOf(answer)).toBe('ok');
    expect(answer.text).toContain('42');
    expect(await auditLinesOf(host, answer)).toEqual([
      expect.objectContaining({
        consumer_application_id: 'client-claude',
        code: 'ok',
        undelivered_before: 0,
      }),
    ]);
  });

  it.each<[string, string, () => Promise<string>]>([
    ['expired', 'bearer_expired', async () => await tokenOf({ exp: Math.floor(Date.now() / 1_000) - 60 })],
    [
      'not yet valid',
      'bearer_not_yet_valid',
      async () => await tokenOf({ nbf: Math.floor(Date.now() / 1_000) + 120 }),
    ],
    ['wrong audience', 'bearer_wrong_audience', async () => await tokenOf({ aud: 'urn:example:other' })],
    ['wrong issuer', 'bearer_wrong_issuer', async () => await tokenOf({ iss: 'https://login.example.org' })],
    ['unknown key id', 'bearer_invalid', async () => await tokenOf({}, rsaKey('key-unknown'))],
    ['a key of somebody else', 'bearer_invalid', async () => await tokenOf({}, rsaKey('key-1'))],
    ['huge token', 'bearer_malformed', async () => await tokenOf({ padding: 'x'.repeat(9_000) })],
    [
      'alg none',
      'bearer_invalid',
      async () => {
        const [, claims = ''] = (await tokenOf()).split('.');
        return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`;
      },
    ],
    [
      'HMAC with the public key',
      'bearer_invalid',
      async () =>
        await new SignJWT({ client_id: 'client-claude', scope: SCOPE })
          .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
          .setIssuer(ISSUER)
          .setAudience(AUDIENCE)
          .setExpirationTime('5m')
          .sign(Buffer.from(pemOf(key))),
    ],
  ])('refuses a token: %s', async (_what, code, made) => {
    const answer = await rpc(as(await made()), 'tools/list');
    expectRefusal(answer, { status: 401, code, forbidden: [double.origin, tool] });
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="mcp", error="invalid_(token|request)", /,
    );
    expect(await auditLinesOf(host, answer)).toHaveLength(1);
  });

  it('leads a real client from the challenge to the issuer', async () => {
    const answer = await rpc(as(null), 'tools/list');
    expect(answer.status).toBe(401);
    const challenge = new Response(null, {
      headers: { 'www-authenticate': String(answer.headers['www-authenticate']) },
    });
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(challenge);
    const metadata = await discoverOAuthProtectedResourceMetadata(
      byTokens.url,
      resourceMetadataUrl ? { resourceMetadataUrl } : {},
    );
    expect(metadata).toMatchObject({ authorization_servers: [ISSUER], scopes_supported: [SCOPE] });
    const isOurs = checkResourceAllowed({
      requestedResource: byTokens.url,
      configuredResource: metadata.resource,
    });
    expect([isOurs, metadata.resource]).toEqual([true, byTokens.url]);
  });

  it('answers insufficient_scope to a token without a scope for this surface', async () => {
    const answer = await rpc(as(await tokenOf({ scope: 'other:read' })), 'tools/list');
    expectRefusal(answer, { status: 403, code: 'insufficient_scope' });
    expect(answer.headers['www-authenticate']).toContain(`error="insufficient_scope", scope="${SCOPE}"`);
  });

  it('lets a real client in with a token', async () => {
    const client = new Client({ name: 'e2e', version: '1' });
    const authorization = `Bearer ${await tokenOf()}`;
    await client.connect(
      new StreamableHTTPClientTransport(new URL(byTokens.url), {
        requestInit: { headers: { authorization } },
      }),
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(tool);
    await client.close();
  });

  it('reads upstream with the secret of the consumer, and not at all for one without', async () => {
    expect(codeOf(await callTool(as(await tokenOf()), READ))).toBe('ok');
    expect(double.lastRequest.headers.authorization).toBe(`Bearer ${SECRET}`);
    const before = double.requests.length;
    const refused = await callTool(as(await tokenOf({ client_id: 'client-cursor' })), READ);
    expect(codeOf(refused)).toBe('consumer_secret_missing');
    expect(double.requests).toHaveLength(before);
  });

  it('has no metadata where bearers are handed out, and bounds each consumer by its own rate', async () => {
    const surface = await publish('bearers', {
      consumers: [{ id: 'client-slow', requestsPerMinute: 2 }, { id: 'client-free' }],
    });
    const url = `${surface.url}/.well-known/oauth-protected-resource`;
    // n8n 2.x serves the two paths of a trigger one after the other.
    await eventually(async () => {
      const metadata = await rawHttp({ url, method: 'GET', headers: [] });
      expect([metadata.status, codeOf(metadata)]).toEqual([404, 'metadata_absent']);
    });
    // Two have gone at most: one was spent by the wait until the surface was served.
    const statuses: number[] = [];
    for (let index = 0; index < 3; index++) statuses.push((await rpc(surface, 'ping')).status);
    expect(statuses.slice(-1)).toEqual([429]);
    const refused = await rpc(surface, 'ping');
    expectRefusal(refused, { status: 429, code: 'consumer_rate_exceeded' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const free = { ...surface, bearer: surface.bearers['client-free'] ?? null };
    expect((await rpc(free, 'ping')).status).toBe(200);
  });

  it('writes one event for a caller that goes away in the middle of a call', async () => {
    const caller = new AbortController();
    const from = host.logs().length;
    const before = double.requests.length;
    double.on('/api/v1/workflows', hang);
    const surface = as(await tokenOf());
    const gone = callTool(surface, READ, {}, { signal: caller.signal }).catch(() => undefined);
    await eventually(() => {
      expect(double.requests.length).toBe(before + 1);
    });
    caller.abort();
    await gone;
    await double.lastRequest.socketClosed;
    const lines = () =>
      host
        .logs()
        .slice(from)
        .split('\n')
        .filter((line) => line.includes('mcp_audit ') && line.includes('"code":"call_cancelled"'));
    await eventually(() => {
      expect(lines()).toHaveLength(1);
    });
    // What would come twice had come before the event of a later request.
    expect(await auditLinesOf(host, await rpc(surface, 'no/such'))).toHaveLength(1);
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toContain(`"tool":"${READ}"`);
  });

  itKeepsTheLogClean(host, () => [
    SECRET,
    ...tokens.filter((token) => token.length < 4_000),
    ...published.map(({ bearer }) => bearer),
  ]);
});
