import type { AttachedHost } from '../../hosts/host';
import { eventually } from '../../support/editWorkflow';
import { calculator, publishHandMade, removeWorkflow } from '../../support/handMade';
import { rpc, type Endpoint } from '../../support/mcpRequest';
import { nativeTrigger } from '../../support/nativeTrigger';
import { newBearer, type TestSurface } from '../../support/publish';
import type { Prepared, Target } from './load';

/** What is measured, in the order of the report. */
export const SUBJECTS = [
  'call, recording none',
  'call, recording refusals',
  'call, recording all',
  "call, n8n's own trigger",
  'list, ours',
  "list, n8n's own trigger",
  'ping without tools',
] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** The same request to n8n's own trigger; a ping without tools has nothing beside it. */
export const AGAINST: Partial<Record<SubjectName, SubjectName>> = {
  'call, recording none': "call, n8n's own trigger",
  'call, recording refusals': "call, n8n's own trigger",
  'call, recording all': "call, n8n's own trigger",
  'list, ours': "list, n8n's own trigger",
};

export interface Subject {
  readonly name: SubjectName;
  /** Each answer leaves an execution that n8n still has to run and save. */
  readonly savesExecutions: boolean;
  target(connections: number): Promise<Target>;
}

export interface Published {
  readonly subjects: readonly Subject[];
  remove(): Promise<void>;
}

/** So many calls may run at once, more than the benchmark has connections. */
const ENOUGH = { concurrent_requests: 64 };
const PROTOCOL = '2025-03-26';
/** What the tool makes of {@link QUESTION} is looked for in every answer. */
const QUESTION = '6 * 7';
const ANSWER = '42';

/** Publishes what is measured: the same tool behind our trigger, thrice, and behind n8n's own, each with a bearer. */
export async function publishSubjects(host: AttachedHost): Promise<Published> {
  const tool = host.version.startsWith('1.') ? 'calculator' : 'Calculator';
  const ours = async (recording: 'none' | 'refusals' | 'all') =>
    await publishHandMade(host, {
      ...{ slug: `bench-${recording}`, recording, limits: ENOUGH },
      ...{ tools: [calculator()], toolNames: [tool] },
    });
  const [none, refusals, all] = [await ours('none'), await ours('refusals'), await ours('all')];
  const bare = await publishHandMade(host, { slug: 'bench-bare', tools: [], toolNames: ['nothing'] });
  const native = await publishNative(host);

  const call = { method: 'tools/call', params: { name: tool, arguments: { input: QUESTION } } };
  const list = { method: 'tools/list' };
  const subject = (
    name: SubjectName,
    endpoint: TestSurface | Endpoint,
    message: object,
    expected: string,
  ): Subject => ({
    name,
    savesExecutions: message === call && (endpoint === all || endpoint === native.endpoint),
    target: async (connections) => ({
      origin: host.url,
      requests: await Promise.all(
        Array.from({ length: connections }, async () =>
          endpoint === native.endpoint ? await inSession(endpoint, message) : prepare(endpoint, message),
        ),
      ),
      isAnswer: isResultWith(expected),
    }),
  });
  return {
    subjects: [
      subject('call, recording none', none, call, ANSWER),
      subject('call, recording refusals', refusals, call, ANSWER),
      subject('call, recording all', all, call, ANSWER),
      subject("call, n8n's own trigger", native.endpoint, call, ANSWER),
      subject('list, ours', none, list, tool),
      subject("list, n8n's own trigger", native.endpoint, list, tool),
      subject('ping without tools', bare, { method: 'ping' }, '{}'),
    ],
    remove: async () => {
      for (const surface of [none, refusals, all, bare]) await surface.remove();
      await native.remove();
    },
  };
}

async function publishNative(host: AttachedHost): Promise<{ endpoint: Endpoint; remove(): Promise<void> }> {
  const path = 'e2e-bench-native';
  const bearer = newBearer();
  const credential = await host.api.post<{ id: string; name: string }>('/credentials', {
    name: 'bench native',
    type: 'httpBearerAuth',
    data: { token: bearer },
  });
  const { id, name } = credential;
  const workflow = await nativeTrigger(host, {
    ...{ path, version: 2, tools: [calculator()] },
    bearer: { id, name },
  });
  const endpoint = { url: host.mcpUrl(path), bearer };
  await eventually(async () => {
    await inSession(endpoint, {});
  });
  return {
    endpoint,
    remove: async () => {
      await removeWorkflow(host, workflow);
      await host.api.delete(`/credentials/${id}`);
    },
  };
}

function prepare({ url, bearer }: Endpoint, message: object, more: Record<string, string> = {}): Prepared {
  return {
    path: new URL(url).pathname,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${String(bearer)}`,
      'mcp-protocol-version': PROTOCOL,
      ...more,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  };
}

/** Opens a session, as n8n's own trigger demands, and prepares the request that is sent in it. */
async function inSession(endpoint: Endpoint, message: object): Promise<Prepared> {
  const { headers, status } = await rpc(endpoint, 'initialize', {
    protocolVersion: PROTOCOL,
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  });
  const session = headers['mcp-session-id'];
  if (typeof session !== 'string') throw new Error(`${endpoint.url} opened no session: ${String(status)}`);
  const prepared = prepare(endpoint, message, { 'mcp-session-id': session });
  await rpc(endpoint, 'notifications/initialized', undefined, {
    id: null,
    headers: Object.entries(prepared.headers),
  });
  return prepared;
}

/** Both triggers answer with JSON or as one event; a refusal has no `result`, a failed call says `isError`. */
function isResultWith(expected: string): Target['isAnswer'] {
  return (status, text) =>
    status === 200 &&
    text.includes('"result"') &&
    text.includes(expected) &&
    !text.includes('"isError":true');
}
