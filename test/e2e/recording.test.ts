import type { ServerResponse } from 'node:http';

import type { AttachedHost } from '../hosts/host';
import { eventually } from '../support/editWorkflow';
import { untilExecutions, type Execution } from '../support/executions';
import { auditLinesOf } from '../support/expectations';
import { node, publishHandMade, type HandMadeWishes } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { callTool, codeOf, listTools, rpc } from '../support/mcpRequest';
import { newBearer, readContract, type TestSurface } from '../support/publish';
import * as upstream from '../support/upstreamDouble';
import { NODE_TYPES, TRIGGER_NODE_NAME, renderWorkflow } from '../../core/contract/render';
import type { RawResponse } from '../support/rawHttp';

const SECRET = newBearer();
const ARGUMENT = 'a-value-that-only-the-caller-knows';
const BODY = 'a-value-that-only-upstream-knows';

/** Exactly these fields, in this order: no arguments and no bodies. */
const AUDIT_FIELDS = [
  'time',
  'correlation_id',
  'provider_application_id',
  'consumer_application_id',
  'tool',
  'credential_subject',
  'status',
  'code',
  'duration_ms',
  'request_bytes',
  'response_bytes',
  'undelivered_before',
];

interface Asked {
  ok: RawResponse;
  refused: RawResponse;
  failed: RawResponse;
  stranger: RawResponse;
  notCalls: RawResponse[];
}

/** One of each, one after the other, so that executions come in this order. */
async function askAll(surface: TestSurface): Promise<Asked> {
  const stranger = await callTool({ ...surface, bearer: newBearer() }, 'n8n_list_workflows');
  const notCalls = [await rpc(surface, 'ping'), await rpc(surface, 'tools/destroy')];
  await listTools(surface);
  const ok = await callTool(surface, 'n8n_list_workflows', { name: ARGUMENT });
  const refused = await callTool(surface, 'n8n_list_workflows', { limit: ARGUMENT });
  const failed = await callTool(surface, 'n8n_get_workflow_summary', { workflow_id: 'broken' });
  return { ok, refused, failed, stranger, notCalls };
}

const readTools = async (baseUrl: string, host: AttachedHost) => {
  const credential = await host.api.post<{ id: string; name: string }>('/credentials', {
    name: 'e2e-recording upstream',
    type: 'mcpUpstreamApi',
    data: { baseUrl, authentication: 'bearer', name: '', secret: SECRET, testPath: '/' },
  });
  const { id, name } = credential;
  const workflow = renderWorkflow(await readContract('web-app-n8n'));
  const tools = workflow.nodes
    .filter(({ type }) => type === NODE_TYPES.readTool)
    .map((tool) => ({ ...tool, credentials: { mcpUpstreamApi: { id, name } } }));
  return { tools, remove: async () => await host.api.delete(`/credentials/${id}`) };
};

describe.each(hosts())('recording on n8n $version', (host) => {
  let double: upstream.UpstreamDouble;
  let upstreamTools: Awaited<ReturnType<typeof readTools>>;
  const published: TestSurface[] = [];

  beforeAll(async () => {
    double = await upstream.UpstreamDouble.start();
    double.on('/api/v1/workflows', upstream.json({ data: [{ id: '1', name: BODY }], nextCursor: null }));
    double.on('/api/v1/workflows/broken', upstream.json({ message: BODY }, 500));
    upstreamTools = await readTools(double.origin, host);
  });
  afterAll(async () => {
    await Promise.all(
      published.map(async (surface) => {
        await surface.remove();
      }),
    );
    await upstreamTools.remove();
    await double.stop();
  });

  const publish = async (slug: string, wishes: Partial<HandMadeWishes>) => {
    const surface = await publishHandMade(host, {
      slug: `recording-${slug}`,
      tools: upstreamTools.tools,
      toolNames: upstreamTools.tools.map(({ name }) => name),
      ...wishes,
    });
    published.push(surface);
    return surface;
  };
  const audit = () => node('After the trigger', 'n8n-nodes-base.noOp', 1);
  const idsOf = (...responses: RawResponse[]) => responses.map(({ headers }) => headers['x-correlation-id']);
  const eventsOf = (executions: Execution[]) =>
    executions.map(({ outputs }) => outputs[TRIGGER_NODE_NAME]?.[0] ?? {});

  /** Something that is recorded in any case ends every test: what is not there by then never will be. */
  const recordedBefore = async (surface: TestSurface, fence: RawResponse, count: number) => {
    const executions = await untilExecutions(host, surface.workflowId, count + 1);
    expect(eventsOf(executions).at(-1)?.['correlation_id']).toBe(fence.headers['x-correlation-id']);
    return executions.slice(0, -1);
  };
  const fail = async (surface: TestSurface) =>
    await callTool(surface, 'n8n_get_workflow_summary', { workflow_id: 'broken' });

  it('records every call of an identified consumer under "all", and nobody else', async () => {
    const surface = await publish('all', { recording: 'all', audit: audit() });
    const asked = await askAll(surface);
    expect([asked.ok, asked.refused, asked.failed].map(codeOf)).toEqual([
      'ok',
      'arguments_invalid',
      'upstream_unavailable',
    ]);
    expect(asked.stranger.status).toBe(401);

    const executions = await recordedBefore(surface, await fail(surface), 3);
    const events = eventsOf(executions);
    expect(events.map((event) => event['correlation_id'])).toEqual(
      idsOf(asked.ok, asked.refused, asked.failed),
    );
    expect(events.map((event) => [event['status'], event['code']])).toEqual([
      ['ok', 'ok'],
      ['refused', 'arguments_invalid'],
      ['error', 'upstream_unavailable'],
    ]);
    expect(executions.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    for (const { outputs } of executions) {
      expect(outputs['After the trigger']).toEqual(outputs[TRIGGER_NODE_NAME]);
    }
  });

  it('holds exactly the audit fields, and neither arguments nor bodies nor secrets', async () => {
    const surface = await publish('fields', { recording: 'all', audit: audit() });
    const asked = await askAll(surface);
    const executions = await untilExecutions(host, surface.workflowId, 3);
    for (const event of eventsOf(executions)) {
      expect(Object.keys(event)).toEqual(AUDIT_FIELDS);
      expect(event).toMatchObject({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        provider_application_id: 'web-app-e2e-recording-fields',
        consumer_application_id: 'client-inspector',
        credential_subject: null,
        duration_ms: expect.any(Number) as number,
        request_bytes: expect.any(Number) as number,
      });
    }
    expect(eventsOf(executions)[0]?.['response_bytes']).toBe(Buffer.byteLength(asked.ok.text));
    const stored = await host.api.get(`/executions?workflowId=${surface.workflowId}&includeData=true`);
    const text = JSON.stringify(stored);
    for (const hidden of [ARGUMENT, BODY, SECRET, surface.bearer]) expect(text).not.toContain(hidden);
  });

  it('writes exactly one log line per call and per refusal, whatever is recorded', async () => {
    const surface = await publish('lines', { recording: 'none' });
    const { ok, refused, failed, stranger, notCalls } = await askAll(surface);
    for (const [response, code] of [
      [ok, 'ok'],
      [refused, 'arguments_invalid'],
      [failed, 'upstream_unavailable'],
      [stranger, 'bearer_invalid'],
      [notCalls[1], 'method_unknown'],
    ] as [RawResponse, string][]) {
      const lines = await auditLinesOf(host, response);
      expect(lines).toHaveLength(1);
      expect(Object.keys(lines[0] ?? {})).toEqual(AUDIT_FIELDS);
      expect(lines[0]).toMatchObject({ code });
    }
    const ping = notCalls[0] as RawResponse;
    expect(host.logs()).not.toContain(String(ping.headers['x-correlation-id']));
    expect(host.logs()).not.toContain(ARGUMENT);
    expect(host.logs()).not.toContain(BODY);
  });

  it('records refusals and failures under "refusals", and no call that worked', async () => {
    const surface = await publish('refusals', { recording: 'refusals', audit: audit() });
    const { refused, failed } = await askAll(surface);
    const executions = await recordedBefore(surface, await fail(surface), 2);
    expect(eventsOf(executions).map((event) => event['correlation_id'])).toEqual(idsOf(refused, failed));
  });

  it('answers while the workflow that takes the events is slow', async () => {
    const held: ServerResponse[] = [];
    double.on('/audit-sink', (response) => held.push(response));
    const parameters = { url: `${double.origin}/audit-sink`, options: {} };
    const sink = node('After the trigger', 'n8n-nodes-base.httpRequest', 4.2, parameters);
    const surface = await publish('slow', { recording: 'all', audit: sink });
    for (let index = 1; index <= 3; index++) {
      expect(codeOf(await callTool(surface, 'n8n_list_workflows'))).toBe('ok');
      await eventually(() => {
        expect(held).toHaveLength(index);
      });
    }
    for (const response of held) upstream.json({ taken: true })(response);
    await untilExecutions(host, surface.workflowId, 3);
  });

  it('answers although the workflow that takes the events fails, and counts none of them as lost', async () => {
    const broken = node('After the trigger', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'Full.' });
    const surface = await publish('broken', { recording: 'all', audit: broken });
    expect(codeOf(await callTool(surface, 'n8n_list_workflows'))).toBe('ok');
    const [execution] = await untilExecutions(host, surface.workflowId, 1);
    expect(execution?.status).toBe('error');
    const next = await callTool(surface, 'n8n_list_workflows');
    expect(codeOf(next)).toBe('ok');
    // They arrived; what becomes of them afterwards is the workflow's own matter.
    expect(await auditLinesOf(host, next)).toEqual([expect.objectContaining({ undelivered_before: 0 })]);
    await untilExecutions(host, surface.workflowId, 2);
  });

  it('records nothing under "none"', async () => {
    const [silent, loud] = [
      await publish('none', { recording: 'none' }),
      await publish('none-fence', { recording: 'all' }),
    ];
    await askAll(silent);
    await fail(loud);
    await untilExecutions(host, loud.workflowId, 1);
    await expect(untilExecutions(host, silent.workflowId, 0)).resolves.toEqual([]);
  });

  it('shows a failed call as a failed execution where nothing is wired, a refused one as a good one', async () => {
    const surface = await publish('unwired', { recording: 'all' });
    await askAll(surface);
    const executions = await untilExecutions(host, surface.workflowId, 3);
    expect(executions.map(({ status }) => status)).toEqual(['success', 'success', 'error']);
    expect(executions.at(-1)?.error).toBe('n8n_get_workflow_summary failed: upstream_unavailable');
  });

  itKeepsTheLogClean(host, () => [SECRET, ...published.map(({ bearer }) => bearer)]);
});
