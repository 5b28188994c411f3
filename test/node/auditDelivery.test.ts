import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { AuditEvent, Recording } from '../../core/policy/audit';
import {
  deliver,
  outletOf,
  reportArrival,
  surfaceKeyOf,
} from '../../nodes/McpBearerServerTrigger/auditDelivery';
import { PolicyError } from '../../core/policy/errors';
import type { ConnectedTool } from '../../core/server/tools';
import { call, endpoint, makeToken, rpc, send, surfaceOfTools, tool } from '../unit/server/endpoint';

const secret = makeToken();
const rows = [{ id: 'client-one', secret, tools: 'find_order' }];

/** The trigger of one workflow with its log, and an endpoint as the trigger makes it. */
function host(workflowId: string, invoke?: ConnectedTool['invoke']) {
  const lines: string[] = [];
  const state = { isLogBroken: false };
  const log = (line: string) => {
    if (state.isLogBroken) throw new Error('ENOSPC');
    lines.push(line);
  };
  const context = {
    getWorkflow: () => ({ id: workflowId }),
    getNode: () => ({ id: 'trigger' }),
    logger: { info: log, warn: log },
  } as unknown as IWebhookFunctions;
  const key = surfaceKeyOf(context);
  const served = endpoint(surfaceOfTools([tool('find_order', invoke)]), rows, {
    gateKey: key,
    takeUndelivered: () => outletOf(key).takeUndelivered(Date.now()),
  });
  const request = async (
    body: object,
    recording: Recording = 'all',
    signal?: AbortSignal,
  ): Promise<IWebhookResponseData> =>
    deliver(
      context,
      await send(served, { body, token: secret.token, ...(signal === undefined ? {} : { signal }) }),
      recording,
    );
  const events = () =>
    lines
      .filter((line) => line.startsWith('mcp_audit '))
      .map((line) => JSON.parse(line.slice('mcp_audit '.length)) as AuditEvent);
  return { key, state, lines, events, request };
}

const recorded = ({ workflowData }: IWebhookResponseData): unknown => workflowData?.[0]?.[0]?.json;

describe('exactly one event', () => {
  test.each<[string, object, Recording, string]>([
    ['a call', call('find_order', {}), 'all', 'ok'],
    ['a call that is not recorded', call('find_order', {}), 'none', 'ok'],
    ['a refused call', call('no_such_tool', {}), 'refusals', 'tool_unknown'],
    ['a refused request that is no call', rpc('no/such', {}), 'refusals', 'method_unknown'],
  ])('for %s', async (name, body, recording, code) => {
    const { events, request } = host(`one-${name}`);
    const outcome = await request(body, recording);
    expect(events()).toEqual([expect.objectContaining({ code })]);
    const isExecution = recording !== 'none' && code !== 'method_unknown';
    expect(recorded(outcome)).toEqual(isExecution ? events()[0] : undefined);
  });

  test('for a tool that throws', async () => {
    const { events, request, lines } = host('throws', () => Promise.reject(new Error('password=hunter2')));
    await request(call('find_order', {}));
    expect(events()).toEqual([expect.objectContaining({ code: 'tool_failed', status: 'error' })]);
    expect(lines.join('\n')).not.toContain('hunter2');
  });

  test('for a caller that goes away, before and while the tool runs', async () => {
    const caller = new AbortController();
    const { events, request } = host('gone', () => {
      caller.abort();
      return new Promise(() => undefined);
    });
    await request(call('find_order', {}), 'refusals', caller.signal);
    await request(call('find_order', {}), 'refusals', AbortSignal.abort());
    expect(events().map(({ code }) => code)).toEqual(['call_cancelled', 'call_cancelled']);
  });

  test('and none for what needs no record', async () => {
    const { events, request } = host('silent');
    await request(rpc('tools/list'));
    await request(rpc('ping'));
    expect(events()).toEqual([]);
  });
});

describe('an event that could not be delivered', () => {
  test('fails no call, is counted, and the count is in the next event', async () => {
    const { events, request, state, key } = host('broken-log');
    const started = await request(call('find_order', {}));
    reportArrival(key, recorded(started) as AuditEvent);
    state.isLogBroken = true;
    for (let index = 0; index < 3; index++) {
      const outcome = await request(call('find_order', {}), 'none');
      expect(outcome).toEqual({ noWebhookResponse: true });
    }
    state.isLogBroken = false;
    await request(call('find_order', {}), 'none');
    await request(call('find_order', {}), 'none');
    expect(events().map((event) => event.undelivered_before)).toEqual([0, 3, 0]);
  });

  test('is one too whose execution n8n never began; what goes on is not held up by it', async () => {
    const { events, request, key } = host('stuck');
    const first = await request(call('find_order', {}));
    reportArrival(key, recorded(first) as AuditEvent);
    for (let index = 0; index < 1_002; index++) await request(call('find_order', {}));
    // The place of the thousand that wait is taken; what comes after them is a log line only.
    const last = await request(call('find_order', {}));
    expect(recorded(last)).toBeUndefined();
    expect(events()).toHaveLength(1_004);
    expect(
      events()
        .slice(-4)
        .map((event) => event.undelivered_before),
    ).toEqual([0, 0, 1, 1]);
  });

  test('of one surface is not told by another', async () => {
    const [one, other] = [host('surface-one'), host('surface-other')];
    one.state.isLogBroken = true;
    await one.request(call('find_order', {}));
    await other.request(call('find_order', {}));
    expect(other.events()[0]?.undelivered_before).toBe(0);
  });
});

test('the cause of a failure reaches the log beside the event, and only if the sentence is ours', async () => {
  const cause = new PolicyError('upstream_address_refused', 'The upstream address is link-local.');
  const { lines, request } = host('cause', () =>
    Promise.reject(new PolicyError('tool_failed', 'It failed.', { cause })),
  );
  await request(call('find_order', {}));
  expect(lines[1]).toMatch(/^mcp_cause [0-9a-f-]{36} upstream_address_refused: The upstream address/);
});
