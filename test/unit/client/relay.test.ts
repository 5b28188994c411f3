import { parseAllowlist, type Allowlist } from '../../../core/client/allowlist';
import type { CallReport } from '../../../core/policy/report';
import { reviewServer } from '../../support/clientNodes';
import { startSuiteTools } from '../../support/conformanceTools';
import { going, useHarness } from './harness';

const harness = useHarness();

async function reviewedTools(): Promise<{ endpoint: string; allowlist: Allowlist }> {
  const { endpoint } = harness.own(await startSuiteTools());
  const reviewed = await reviewServer(endpoint);
  const tools = reviewed.pins('test_tool_with_progress', 'test_tool_with_logging', 'test_simple_text');
  return {
    endpoint,
    allowlist: parseAllowlist({ server: reviewed.server, tools, catalogue: '', reviewed: undefined }),
  };
}

describe('what a foreign server tells during a call', () => {
  test('is handed on to who asked for it: how far it is', async () => {
    const { endpoint, allowlist } = await reviewedTools();
    const told: CallReport[] = [];
    const { server } = harness.client(endpoint);
    await server.call(allowlist, 'test_tool_with_progress', {}, going(), (report) => told.push(report));
    expect(told).toMatchObject([0, 50, 100].map((progress) => ({ kind: 'progress', progress, total: 100 })));
  });

  test('is handed on to who asked for it: what it logs', async () => {
    const { endpoint, allowlist } = await reviewedTools();
    const told: CallReport[] = [];
    const { server } = harness.client(endpoint);
    await server.call(allowlist, 'test_tool_with_logging', {}, going(), (report) => told.push(report));
    expect(told).toMatchObject([
      { kind: 'log', level: 'info', data: 'Tool execution started' },
      { kind: 'log', level: 'info', data: 'Tool processing data' },
      { kind: 'log', level: 'info', data: 'Tool execution completed' },
    ]);
  });

  test('is not asked for where nobody listens', async () => {
    const { endpoint, allowlist } = await reviewedTools();
    const { server } = harness.client(endpoint);
    const outcome = await server.call(allowlist, 'test_tool_with_progress', {}, going());
    expect(outcome.content).toEqual([{ type: 'text', text: 'Done.' }]);
  });

  test('is nobody’s when two calls run over one connection, for a log message names no call', async () => {
    const { endpoint, allowlist } = await reviewedTools();
    const told: CallReport[] = [];
    const { server } = harness.client(endpoint);
    const report = (one: CallReport) => told.push(one);
    await Promise.all([
      server.call(allowlist, 'test_tool_with_logging', {}, going(), report),
      server.call(allowlist, 'test_tool_with_logging', {}, going(), (one) => told.push(one)),
    ]);
    expect(told.filter(({ kind }) => kind === 'log')).toEqual([]);
  });
});
