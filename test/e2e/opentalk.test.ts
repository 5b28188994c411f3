import { NODE_TYPES, renderWorkflow, type WorkflowNode } from '../../core/contract/render';
import { http } from '../hosts/api';
import type { AttachedHost } from '../hosts/host';
import { editWorkflow, eventually } from '../support/editWorkflow';
import { removeWorkflow } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, listTools, textOf } from '../support/mcpRequest';
import { ownerCookieOf } from '../support/nodeTypeDescriptions';
import { grantsOf, newBearer, readContract, untilServed } from '../support/publish';
import { json, UpstreamDouble } from '../support/upstreamDouble';

const PATH = 'e2e-opentalk';
const ROOM = '3b0c8d2e-55f1-4a62-9a2e-0c2f7d1a9a01';
const room = {
  id: ROOM,
  created_at: '2026-01-01T10:00:00Z',
  waiting_room: false,
  password: 'room-password',
  created_by: { id: 'u1', email: 'owner@example.org', display_name: 'Example Owner' },
};
const recording = {
  id: 'a1',
  filename: 'recording.webm',
  namespace: 'recording',
  kind: 'record',
  size: 98_765_432,
  created_at: '2026-01-01T11:00:00Z',
};

/** As the editor makes it: the schema of the public API of 1.100.1 fits no OAuth2 credential. */
async function oauthCredential(host: AttachedHost, data: object) {
  const answer = await http({
    method: 'POST',
    url: `${host.url}/rest/credentials`,
    headers: { cookie: ownerCookieOf(host) },
    body: { name: 'e2e-opentalk oAuth2Api', type: 'oAuth2Api', data },
  });
  const { id, name } = (answer.body as { data: { id: string; name: string } }).data;
  return { oAuth2Api: { id, name } };
}

describe.each(hosts())('a surface of n8n’s own nodes on n8n $version', (host) => {
  const token = newBearer();
  const secrets: string[] = [token];
  const credentials: string[] = [];
  let upstream: UpstreamDouble;
  let workflowId = '';
  let endpoint: { url: string; bearer: string };

  const credential = async (type: string, data: object) => {
    const { id, name } = await host.api.post<{ id: string; name: string }>('/credentials', {
      name: `e2e-opentalk ${type}`,
      type,
      data,
    });
    credentials.push(id);
    return { [type]: { id, name } };
  };

  beforeAll(async () => {
    upstream = await UpstreamDouble.start();
    const isKnown = (authorization: string | undefined) => authorization === `Bearer ${token}`;
    const guarded = (body: unknown) => (response: Parameters<ReturnType<typeof json>>[0]) => {
      json(
        isKnown(response.req.headers.authorization) ? body : { code: 'unauthorized' },
        isKnown(response.req.headers.authorization) ? 200 : 401,
      )(response);
    };
    upstream
      .on('/token', json({ access_token: token, token_type: 'Bearer', expires_in: 300 }))
      .on('/v1/rooms', guarded([room]))
      .on(`/v1/rooms/${ROOM}`, guarded(room))
      .on(`/v1/rooms/${ROOM}/assets`, guarded([recording]));
    const contract = await readContract('web-app-opentalk', (draft) => {
      draft.endpoint.path = PATH;
    });
    const { rows, bearers } = grantsOf([{ id: 'client-claude' }], contract.tools.allowlist);
    secrets.push(bearers.bearer);
    const consumers = await credential('mcpConsumersApi', {
      consumers: { values: rows.map((row) => ({ ...row, tools: row.tools.join('\n') })) },
    });
    const clientSecret = newBearer();
    secrets.push(clientSecret);
    const oauth = await oauthCredential(host, {
      grantType: 'clientCredentials',
      accessTokenUrl: `${upstream.origin}/token`,
      clientId: 'mcp-reader',
      clientSecret,
      scope: '',
      authentication: 'header',
    });
    credentials.push(oauth['oAuth2Api'].id);
    const { nodes, connections, settings } = renderWorkflow(contract, { owner: 'e2e-opentalk' });
    const workflow = await host.api.post<{ id: string }>('/workflows', {
      name: 'e2e-opentalk',
      nodes: nodes.map((node) => finished(node, consumers, oauth)),
      connections,
      settings,
    });
    workflowId = workflow.id;
    await host.api.post(`/workflows/${workflowId}/activate`);
    endpoint = { url: host.mcpUrl(PATH), bearer: bearers.bearer };
    await untilServed(endpoint);
  });
  afterAll(async () => {
    await removeWorkflow(host, workflowId);
    for (const id of credentials) await host.api.request('DELETE', `/credentials/${id}`);
    await upstream.stop();
  });

  /** What a person does after the import: an address and two credentials. */
  const finished = (
    node: WorkflowNode,
    consumers: WorkflowNode['credentials'],
    oauth: WorkflowNode['credentials'],
  ): WorkflowNode => {
    if (node.type === NODE_TYPES.trigger)
      return { ...node, ...(consumers ? { credentials: consumers } : {}) };
    if (node.type === NODE_TYPES.stickyNote) return node;
    const { url } = node.parameters as { url: string };
    const parameters = {
      ...node.parameters,
      url: url.replace('https://web-app-opentalk.example.com', upstream.origin),
    };
    return { ...node, parameters, ...(oauth ? { credentials: oauth } : {}) };
  };

  it('lists the tools as the contract describes them', async () => {
    const tools = await listTools(endpoint);
    expect(tools.map(({ name }) => name)).toEqual([
      'opentalk_list_rooms',
      'opentalk_get_room',
      'opentalk_get_recording_status',
    ]);
    expect(tools[1]).toMatchObject({
      title: 'Get one OpenTalk room',
      annotations: { readOnlyHint: true },
      inputSchema: { properties: { room_id: { pattern: expect.any(String) as string } } },
    });
  });

  it('calls with a token that n8n itself has fetched, and shows the named fields only', async () => {
    const rooms = await callTool(endpoint, 'opentalk_list_rooms', { page: 1 });
    expect([codeOf(rooms), textOf(rooms)]).toEqual(['ok', expect.stringContaining(ROOM) as string]);
    const one = await callTool(endpoint, 'opentalk_get_room', { room_id: ROOM });
    expect(textOf(one)).toContain('Example Owner');
    const files = await callTool(endpoint, 'opentalk_get_recording_status', { room_id: ROOM, page: 2 });
    expect(textOf(files)).toContain('recording.webm');
    for (const answer of [rooms, one, files]) {
      for (const hidden of ['room-password', 'owner@example.org', token])
        expect(answer.text).not.toContain(hidden);
    }
    const asked = upstream.requests
      .filter(({ path }) => path !== '/token')
      .map(({ method, path, query }) => `${method} ${path}${query}`);
    expect(asked).toEqual(
      expect.arrayContaining([
        'GET /v1/rooms?per_page=30&page=1',
        `GET /v1/rooms/${ROOM}`,
        `GET /v1/rooms/${ROOM}/assets?per_page=30&page=2`,
      ]),
    );
  });

  it.each(['../users/me', '..', `${ROOM}/assets`, '%2e%2e', ''])(
    'cannot be made to ask for another path: %s',
    async (id) => {
      const before = upstream.requests.length;
      expect(codeOf(await callTool(endpoint, 'opentalk_get_room', { room_id: id }))).toBe(
        'arguments_invalid',
      );
      expect(upstream.requests).toHaveLength(before);
    },
  );

  it('is not served any more when the node is changed', async () => {
    await editWorkflow(host, workflowId, ({ nodes }) => {
      const node = nodes.find(({ name }) => name === 'opentalk_get_room');
      if (node) node.parameters['fields'] = 'id,password';
    });
    await eventually(async () => {
      const answer = await callTool(endpoint, 'opentalk_get_room', { room_id: ROOM });
      expect(codeOf(answer)).toBe('schema_drift');
      expect(answer.text).not.toContain('room-password');
    });
    expect(codeOf(await callTool(endpoint, 'opentalk_list_rooms', { page: 1 }))).toBe('ok');
  });

  itKeepsTheLogClean(host, () => secrets);
});
