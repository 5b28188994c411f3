import { createHash, randomBytes } from 'node:crypto';
import type { ICredentialTestFunctions, IHookFunctions, INode } from 'n8n-workflow';
import { surfaceOf } from '../../core/contract/surface';
import { McpBearerServerTrigger } from '../../nodes/McpBearerServerTrigger/McpBearerServerTrigger.node';
import { pemOf, rsaKey, tokenOf as signed, keySetOf, type SigningKey } from '../unit/server/tokens';
import { json, UpstreamDouble } from '../support/upstreamDouble';
import { bench, hookContext, node, READ_TOOL, serveTrigger, TRIGGER } from './contexts';
import { contractOf, definitionText } from './definitions';

const key = rsaKey('key-1');
const contract = contractOf('web-app-n8n');
const AUDIENCE = 'https://n8n.example.com/mcp/web-app-n8n';
const METADATA = `${AUDIENCE}/.well-known/oauth-protected-resource`;
const TOOL = 'n8n_list_workflows';
const [claude, inspector] = ['client-claude', 'client-inspector'];

let upstream: UpstreamDouble;
beforeAll(async () => {
  upstream = await UpstreamDouble.start();
  upstream.on('/api/v1/workflows', json({ data: [], nextCursor: null }));
});
afterAll(async () => {
  await upstream.stop();
});

const issuerCredential = {
  issuer: 'https://login.example.com/realms/tools',
  audience: AUDIENCE,
  publicKeys: pemOf(key),
  consumerClaim: 'client_id',
  scopeClaim: 'scope',
  toolScopes: JSON.stringify({ 'n8n:read': [TOOL] }),
};

const bearer = randomBytes(24).toString('base64url');
const consumersCredential = (limits: object = {}) => ({
  consumers: {
    values: [
      {
        id: inspector,
        tokenSha256: createHash('sha256').update(bearer).digest('hex'),
        tools: TOOL,
        ...limits,
      },
    ],
  },
});

const trigger = (parameters: object, bound: Record<string, string>): INode =>
  node(
    'Trigger',
    TRIGGER,
    {
      ...{ path: 'web-app-n8n', recording: 'none', options: {}, serve: 'contract' },
      ...{ surface: JSON.stringify(surfaceOf(contract)), ...parameters },
    },
    bound,
  );

const byIssuer = (parameters: object = {}): INode =>
  trigger({ authentication: 'jwt', ...parameters }, { mcpJwtIssuerApi: 'issuer' });
const byBearers = (): INode => trigger({ authentication: 'consumers' }, { mcpConsumersApi: 'consumers' });
const readTool = (): INode =>
  node(
    'Read',
    READ_TOOL,
    { definition: definitionText('web-app-n8n', TOOL) },
    { mcpUpstreamApi: 'upstream' },
  );

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly header: (name: string) => string | null;
}

/** Sends requests to a trigger with one Read Tool behind it. */
async function withTrigger(
  root: INode,
  changes: Record<string, object>,
  run: (post: (body: object, token?: string) => Promise<Answer>, url: string) => Promise<void>,
): Promise<void> {
  const credentials = {
    issuer: issuerCredential,
    consumers: consumersCredential(),
    upstream: { baseUrl: upstream.origin, authentication: 'none' },
    ...changes,
  };
  const served = await serveTrigger(bench([root, readTool()], credentials), 'Trigger');
  try {
    await run(async (body, token) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(served.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, text, header: (name) => response.headers.get(name) };
    }, served.url);
  } finally {
    await served.stop();
  }
}

/** A token that is good now. */
const tokenOf = async (claims: object = {}, signer: SigningKey = key) => {
  const now = Math.floor(Date.now() / 1_000);
  return await signed(signer, {
    claims: { aud: AUDIENCE, scope: 'n8n:read', iat: now, exp: now + 60, ...claims },
  });
};

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: TOOL, arguments: {} } };
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('a trigger that takes tokens of an issuer', () => {
  test('serves the consumer that the token names, with the tools of its scopes', async () => {
    await withTrigger(byIssuer(), {}, async (post) => {
      const token = await tokenOf();
      const { text } = await post(list, token);
      expect(text).toContain(TOOL);
      expect(text).not.toContain('n8n_list_executions');
      expect((await post(call, token)).text).toContain('"returned":0');
    });
  });

  test('challenges with the address of its metadata, whose address n8n knows', async () => {
    await withTrigger(byIssuer(), {}, async (post) => {
      const { status, header } = await post(call);
      expect(status).toBe(401);
      expect(header('www-authenticate')).toBe(`Bearer realm="mcp", resource_metadata="${METADATA}"`);
    });
  });

  test('challenges with the address that the operator says, where there is a proxy', async () => {
    const publicAddress = 'https://tools.example.com/apps/n8n';
    await withTrigger(byIssuer({ options: { publicAddress } }), {}, async (post, url) => {
      const { header } = await post(call);
      expect(header('www-authenticate')).toContain(
        `resource_metadata="${publicAddress}/.well-known/oauth-protected-resource"`,
      );
      const response = await fetch(`${url}/.well-known/oauth-protected-resource`);
      expect(await response.json()).toMatchObject({ resource: publicAddress });
    });
  });

  test('is never led by what a request says of the host', async () => {
    await withTrigger(byIssuer(), {}, async (_post, url) => {
      const response = await fetch(`${url}/.well-known/oauth-protected-resource`, {
        headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      });
      expect(await response.text()).not.toContain('evil.example');
    });
  });

  test('serves its metadata to everybody', async () => {
    await withTrigger(byIssuer(), {}, async (_post, url) => {
      const response = await fetch(`${url}/.well-known/oauth-protected-resource`);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        resource: AUDIENCE,
        resource_name: expect.any(String) as string,
        authorization_servers: [issuerCredential.issuer],
        bearer_methods_supported: ['header'],
        scopes_supported: ['n8n:read'],
      });
    });
  });

  test('takes no bearer of the consumers credential, and a bearer trigger takes no token', async () => {
    await withTrigger(byIssuer(), {}, async (post) => {
      expect((await post(call, bearer)).status).toBe(401);
    });
    await withTrigger(byBearers(), {}, async (post) => {
      expect((await post(call, bearer)).status).toBe(200);
      expect((await post(call, await tokenOf())).status).toBe(401);
    });
  });

  test('admits only consumers of its contract', async () => {
    await withTrigger(byIssuer(), {}, async (post) => {
      const { status, text } = await post(call, await tokenOf({ client_id: 'client-elsewhere' }));
      expect(status).toBe(403);
      expect(text).toContain('consumer_not_allowed');
    });
  });

  test('fetches the keys of the issuer once, and again for a key that is new', async () => {
    let asked = 0;
    let keys = [key];
    upstream.on('/certs', (response) => {
      asked += 1;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(keySetOf(...keys)));
    });
    const issuer = { ...issuerCredential, publicKeys: '', jwksUrl: `${upstream.origin}/certs` };
    await withTrigger(byIssuer(), { issuer }, async (post) => {
      for (let index = 0; index < 3; index++) expect((await post(call, await tokenOf())).status).toBe(200);
      expect(asked).toBe(1);
      keys = [rsaKey('key-2')];
      // Fetched a moment ago: whoever makes up key ids does not make n8n ask for each of them.
      expect((await post(call, await tokenOf({}, keys[0]))).status).toBe(401);
      expect(asked).toBe(1);
    });
  });

  test.each([
    ['without a credential', trigger({ authentication: 'jwt' }, {}), {}, 'MCP JWT issuer credential'],
    [
      'with keys at a link-local address',
      byIssuer(),
      { issuer: { ...issuerCredential, publicKeys: '', jwksUrl: 'http://169.254.169.254/certs' } },
      'link-local',
    ],
  ])('is not activated %s, and answers 503', async (_what, root, changes, reason) => {
    const credentials = { issuer: issuerCredential, consumers: consumersCredential(), ...changes };
    const context = hookContext(bench([root], credentials), 'Trigger') as unknown as IHookFunctions;
    await expect(new McpBearerServerTrigger().webhookMethods.default.create.call(context)).rejects.toThrow(
      reason,
    );
    await withTrigger(root, changes, async (post) => {
      expect((await post(call, await tokenOf())).status).toBe(503);
    });
  });

  test('is activated with an issuer', async () => {
    const context = hookContext(bench([byIssuer()], { issuer: issuerCredential }), 'Trigger');
    await expect(
      new McpBearerServerTrigger().webhookMethods.default.create.call(context as unknown as IHookFunctions),
    ).resolves.toBe(true);
  });
});

describe('the metadata of a trigger with bearers of its own', () => {
  test('is not there', async () => {
    await withTrigger(byBearers(), {}, async (_post, url) => {
      const response = await fetch(`${url}/.well-known/oauth-protected-resource`);
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('metadata_absent');
    });
  });
});

describe('limits of a consumer', () => {
  test('are counted from one request to the next', async () => {
    const consumers = consumersCredential({ requestsPerMinute: 2, concurrentCalls: '' });
    await withTrigger(byBearers(), { consumers }, async (post) => {
      expect((await post(list, bearer)).status).toBe(200);
      expect((await post(call, bearer)).status).toBe(200);
      const refused = await post(call, bearer);
      expect(refused.status).toBe(429);
      expect(Number(refused.header('retry-after'))).toBeGreaterThan(0);
    });
  });
});

describe('secrets by consumer', () => {
  const secret = randomBytes(16).toString('hex');
  const upstreamOf = (id: string) => ({
    baseUrl: upstream.origin,
    authentication: 'bearer',
    secret: 'of-nobody-in-particular',
    consumerSecrets: JSON.stringify({ [id]: secret }),
  });

  test('a call reaches upstream with the secret of its consumer', async () => {
    await withTrigger(byIssuer(), { upstream: upstreamOf(claude) }, async (post) => {
      expect((await post(call, await tokenOf())).text).toContain('"returned":0');
      expect(upstream.lastRequest.headers['authorization']).toBe(`Bearer ${secret}`);
    });
  });

  test('a consumer without one makes no request upstream', async () => {
    await withTrigger(byIssuer(), { upstream: upstreamOf(inspector) }, async (post) => {
      const before = upstream.requests.length;
      const { text } = await post(call, await tokenOf());
      expect(text).toContain('consumer_secret_missing');
      expect(text).not.toContain(inspector);
      expect(upstream.requests).toHaveLength(before);
    });
  });
});

describe('the test of the issuer credential', () => {
  const check = async (data: object) =>
    await new McpBearerServerTrigger().methods.credentialTest.testIssuer.call(
      {} as ICredentialTestFunctions,
      {
        ...{ id: '1', name: 'c', type: 'mcpJwtIssuerApi', data: data as never },
      },
    );

  test('says what it is good for', async () => {
    expect(await check(issuerCredential)).toEqual({
      status: 'OK',
      message: 'Usable: fixed keys. Scopes: n8n:read',
    });
  });

  test('fetches the keys, and says when they cannot be had', async () => {
    upstream.on('/none', json({ message: 'no' }, 404));
    const at = (path: string) => ({ ...issuerCredential, publicKeys: '', jwksUrl: upstream.origin + path });
    upstream.on('/two', json(keySetOf(key, rsaKey('key-2'))));
    expect(await check(at('/two'))).toMatchObject({ message: 'Usable: 2 keys fetched. Scopes: n8n:read' });
    expect(await check(at('/none'))).toMatchObject({ status: 'Error' });
  });
});
