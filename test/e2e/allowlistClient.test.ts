import { generateKeyPairSync, randomUUID } from 'node:crypto';

import type { CredentialRef } from '../support/agent';
import {
  CLIENT_CREDENTIAL,
  clientCredential,
  clientNode,
  reviewServer,
  type ReviewedServer,
} from '../support/clientNodes';
import { eventually } from '../support/editWorkflow';
import { EVERYTHING_NAME, startEverything, type EverythingServer } from '../support/everythingServer';
import { ForeignServer, text } from '../support/foreignServer';
import { activate, node, removeWorkflow } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { newBearer } from '../support/publish';
import { rawHttp, type RawResponse } from '../support/rawHttp';

/** The action node in workflows that a webhook starts. */

const TOKEN = newBearer();
const SECRET = newBearer();
const note = {
  name: 'get_note',
  description: 'Gets one note.',
  inputSchema: {
    type: 'object',
    properties: { note_id: { type: 'string' }, language: { type: 'string' } },
    required: ['note_id'],
  },
};

interface Wishes {
  slug: string;
  credential: CredentialRef;
  parameters: Record<string, unknown>;
  /** Of the webhook, beside path and method. */
  answer?: Record<string, unknown>;
  onError?: 'continueRegularOutput' | 'continueErrorOutput';
}

describe.each(hosts())('the MCP Allowlist Client on n8n $version', (host) => {
  let everything: EverythingServer;
  let old: EverythingServer;
  let foreign: ForeignServer;
  let reviewed: ReviewedServer;
  let ofEverything: CredentialRef;
  let ofForeign: CredentialRef;
  const credentials: CredentialRef[] = [];
  const workflows: string[] = [];

  const credentialFor = async (name: string, endpoint: string, data?: Record<string, unknown>) => {
    const credential = await clientCredential(host, `e2e-client ${name}`, endpoint, data);
    credentials.push(credential);
    return credential;
  };

  beforeAll(async () => {
    [everything, old, foreign] = await Promise.all([
      startEverything(),
      startEverything('sse'),
      ForeignServer.start([note]),
    ]);
    reviewed = await reviewServer(everything.endpoint);
    ofEverything = await credentialFor('everything', everything.endpoint);
    ofForeign = await credentialFor('foreign', foreign.endpoint, {
      authentication: 'bearer',
      token: '={{ $json.body.userToken }}',
    });
  });
  afterAll(async () => {
    await Promise.all(
      workflows.map(async (id) => {
        await removeWorkflow(host, id);
      }),
    );
    for (const { id } of credentials) await host.api.request('DELETE', `/credentials/${id}`);
    await Promise.all([everything.stop(), old.stop(), foreign.stop()]);
  });

  /** Makes and starts a workflow, and gives what its webhook answers to one item. */
  const answerOf = async (
    { slug, credential, parameters, answer, onError }: Wishes,
    body: object = {},
  ): Promise<RawResponse> => {
    const path = `e2e-client-${slug}`;
    const start = {
      ...node('Start', 'n8n-nodes-base.webhook', 2, {
        httpMethod: 'POST',
        path,
        responseMode: 'lastNode',
        ...answer,
      }),
      webhookId: randomUUID(),
    };
    const client = { ...clientNode('Client', credential, parameters), ...(onError ? { onError } : {}) };
    const failed = node('Failed', 'n8n-nodes-base.set', 3.4, {
      mode: 'raw',
      jsonOutput: '={{ JSON.stringify({ failed: $json.error }) }}',
      options: {},
    });
    const to = (target: string) => [{ node: target, type: 'main', index: 0 }];
    const { id } = await host.api.post<{ id: string }>('/workflows', {
      name: path,
      nodes: [start, client, failed],
      connections: {
        Start: { main: [to('Client')] },
        ...(onError === 'continueErrorOutput' ? { Client: { main: [[], to('Failed')] } } : {}),
      },
      settings: { executionOrder: 'v1' },
    });
    workflows.push(id);
    await activate(host, id);
    let response: RawResponse | undefined;
    await eventually(async () => {
      response = await rawHttp({
        url: `${host.url}/webhook/${path}`,
        headers: [['Content-Type', 'application/json']],
        body: JSON.stringify(body),
      });
      expect(response.status).not.toBe(404);
    });
    return response ?? (await Promise.reject(new Error('no answer')));
  };
  const calling = (name: string, args: unknown) => ({
    resource: 'tool',
    operation: 'call',
    server: reviewed.server,
    tool: { __rl: true, mode: 'id', value: reviewed.pins(name)[0] },
    arguments: args,
  });

  it('calls a pinned tool and gives what it said, structured content included', async () => {
    const { json } = await answerOf(
      {
        slug: 'call',
        credential: ofEverything,
        parameters: calling('get-structured-content', '={{ JSON.stringify({ location: $json.body.city }) }}'),
      },
      { city: 'Chicago' },
    );
    expect(json).toMatchObject({
      content: [{ type: 'text' }],
      structuredContent: { conditions: expect.any(String) as string },
    });
  });

  it('gives an image as binary data of n8n', async () => {
    const { headers, text: image } = await answerOf({
      slug: 'image',
      credential: ofEverything,
      parameters: calling('get-tiny-image', '{}'),
      answer: { responseData: 'firstEntryBinary', responseBinaryPropertyName: 'data' },
    });
    expect(headers['content-type']).toContain('image/png');
    expect(image).toContain('PNG');
  });

  it('lists and reviews tools', async () => {
    const [pin = ''] = reviewed.pins('echo');
    const list = await answerOf({
      slug: 'list',
      credential: ofEverything,
      parameters: { resource: 'tool', operation: 'list' },
      answer: { responseData: 'allEntries' },
    });
    expect((list.json as { value: string }[]).map(({ value }) => value)).toContain(pin);
    const review = await answerOf({
      slug: 'review',
      credential: ofEverything,
      parameters: { resource: 'tool', operation: 'review', tools: [pin, `get-sum@sha256:${'0'.repeat(64)}`] },
    });
    const { server, tools } = review.json as { server: string; tools: { name: string; status: string }[] };
    expect(server).toBe(`${EVERYTHING_NAME}@${everything.origin}`);
    const status = Object.fromEntries(tools.map((tool) => [tool.name, tool.status]));
    expect(status).toMatchObject({ echo: 'unchanged', 'get-sum': 'changed', 'get-env': 'not_pinned' });
  });

  it('reads a resource that is allowed, and no other', async () => {
    const reading = (slug: string, uri: string) => ({
      slug,
      credential: ofEverything,
      parameters: {
        resource: 'resource',
        operation: 'read',
        server: reviewed.server,
        uri,
        allowedUris: ['demo://resource/dynamic/text/{id}'],
      },
      onError: 'continueRegularOutput' as const,
    });
    const allowed = await answerOf(reading('read', 'demo://resource/dynamic/text/1'));
    expect(allowed.json).toMatchObject({
      contents: [{ mimeType: 'text/plain', text: expect.stringContaining('Resource 1') as string }],
    });
    const other = await answerOf(reading('read-other', 'demo://resource/dynamic/blob/1'));
    expect(other.json).toMatchObject({ error: expect.stringMatching(/^resource_not_allowed: /) as string });
  });

  it('fails with the code, or goes on by the output that was chosen', async () => {
    const failing = calling('get-resource-reference', '{"resourceType": "Text", "resourceId": -1}');
    const stopped = await answerOf({ slug: 'stop', credential: ofEverything, parameters: failing });
    expect(stopped.status).toBe(500);
    const regular = await answerOf({
      slug: 'regular',
      credential: ofEverything,
      parameters: failing,
      onError: 'continueRegularOutput',
    });
    expect(regular.json).toMatchObject({
      error: expect.stringMatching(/^tool_failed: .*Invalid resourceId: -1/) as string,
    });
    const error = await answerOf({
      slug: 'error',
      credential: ofEverything,
      parameters: failing,
      onError: 'continueErrorOutput',
    });
    expect(error.json).toEqual({ failed: expect.stringMatching(/^tool_failed: /) as string });
  });

  it('C053: resolves an expression in the credential, and sends nothing when it resolves to nothing', async () => {
    foreign.answer = () => text('mine');
    const wishes = (slug: string): Wishes => ({
      slug,
      credential: ofForeign,
      parameters: {
        resource: 'tool',
        operation: 'call',
        server: foreign.pinnedAs,
        tool: { __rl: true, mode: 'id', value: foreign.pin('get_note') },
        arguments: '{"note_id": "a"}',
      },
      onError: 'continueRegularOutput',
    });
    const answer = await answerOf(wishes('token'), { userToken: TOKEN });
    expect(answer.json).toMatchObject({ content: [{ type: 'text', text: 'mine' }] });
    await eventually(async () => {
      expect(new Set(foreign.methods)).toEqual(
        new Set([...foreign.methods, 'initialize', 'tools/list', 'tools/call', 'DELETE']),
      );
      await Promise.resolve();
    });
    for (const { headers } of foreign.seen) expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
    foreign.seen.length = 0;
    expect((await answerOf(wishes('no-token'))).json).toMatchObject({
      error: expect.stringMatching(/^credential_missing: /) as string,
    });
    expect(foreign.methods).toEqual([]);
  });

  it.each([
    ['none', {}],
    ['bearer', { token: SECRET }],
    ['header', { headerName: 'X-API-Key', headerSecret: SECRET }],
    ['headers', { secretHeaders: JSON.stringify({ 'X-API-Key': SECRET }) }],
    [
      'clientCredentials',
      { issuer: 'https://login.example.com', clientId: 'n8n', clientSecret: SECRET, scope: 'mcp:read' },
    ],
    [
      'privateKeyJwt',
      { issuer: 'https://login.example.com', clientId: 'n8n', privateKey: SECRET, algorithm: 'ES256' },
    ],
  ])('takes a credential with the authentication %s from the public API', async (authentication, data) => {
    const { id } = await credentialFor(authentication, everything.endpoint, { authentication, ...data });
    expect(id).not.toBe('');
  });

  it('the test of a credential shakes hands and says what was found, or what is wrong', async () => {
    const verdictOn = async (endpoint: string, data: Record<string, unknown>) => {
      const { id, name } = await credentialFor('verdict', endpoint, data);
      const credential = {
        id,
        name,
        type: CLIENT_CREDENTIAL,
        data: { endpoint, transport: 'auto', allowedNetworks: 'loopback', ...data },
      };
      const { body } = await host.rest('POST', '/rest/credentials/test', { credentials: credential });
      return (body as { data: { status: string; message: string } }).data;
    };
    const none = { authentication: 'none' };
    const over = (transport: string) => ({
      status: 'OK',
      message: expect.stringMatching(
        new RegExp(`^Connected to ${EVERYTHING_NAME} over ${transport}, protocol 2025-11-25: \\d+ tools$`),
      ) as string,
    });
    expect(await verdictOn(everything.endpoint, none)).toEqual(over('Streamable HTTP'));
    expect(await verdictOn(old.endpoint, none)).toEqual(over('SSE'));
    expect(await verdictOn(everything.endpoint, { ...none, allowedNetworks: '' })).toEqual({
      status: 'Error',
      message: expect.stringContaining('upstream_address_refused: ') as string,
    });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const oauth = {
      authentication: 'privateKeyJwt',
      issuer: everything.origin,
      clientId: 'n8n',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      algorithm: 'ES256',
    };
    // The server wants none, so no token is asked for.
    expect(await verdictOn(everything.endpoint, oauth)).toEqual(over('Streamable HTTP'));
  });

  itKeepsTheLogClean(host, () => [TOKEN, SECRET]);
});
