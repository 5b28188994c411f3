import { setTimeout as sleep } from 'node:timers/promises';

import type { AttachedHost } from '../hosts/host';
import { STACK_TRACE } from './expectations';

/** Lines that say that something of ours went wrong without having been foreseen. */
const FAULTS = [
  STACK_TRACE,
  /mcp_tool_not_supplied/,
  /problem logging output data/i,
  /unhandled|uncaught/i,
  /\b(?:Type|Reference|Range|Syntax)Error\b/,
  /internal_error/,
  /Error in handling webhook request/i,
  /n8n-nodes-mcp-curated/,
];

/** Faults that suites cause on purpose. Each names a tool or a text that no other suite uses. */
const ON_PURPOSE = [
  // cases.tools: one broken tool does not take the endpoint down.
  /mcp_tool_not_supplied crm_search/,
  // badInput and cases.http: n8n refuses a broken body before any node runs.
  /Error in handling webhook request POST \/mcp\/e2e-\S+: Failed to parse request body/,
  // provisioning: the command line asks for an endpoint while 2.x is still publishing it, and waits.
  /Error in handling webhook request POST \/mcp\/e2e-\S+: Published version not found for workflow/,
];

/** Whole stacks of n8n's own, told by one of their frames. */
const STACKS_OF_N8N = [
  // It counts the executions of a workflow that a suite has just deleted.
  /Statement\.handler .*sqlite-pooled/,
  // It tests a credential against an upstream that refuses (2.x logs the refusal with its stack).
  /at RoutingNode\.makeRequest /,
];

/** Lines of a log that must not be there. */
export function faultsIn(log: string): string[] {
  return withoutStacksOfN8n(log.split('\n'))
    .filter((line) => FAULTS.some((fault) => fault.test(line)))
    .filter((line) => !ON_PURPOSE.some((known) => known.test(line)));
}

function withoutStacksOfN8n(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let stack: string[] = [];
  for (const line of [...lines, '']) {
    if (/^\s+at /.test(line)) {
      stack.push(line);
      continue;
    }
    if (!stack.some((frame) => STACKS_OF_N8N.some((known) => known.test(frame)))) kept.push(...stack);
    stack = [];
    kept.push(line);
  }
  return kept;
}

/**
 * Registers the last test of a suite: what the host wrote meanwhile shows no fault of ours and none of `secrets`,
 * which is asked at the end, when all bearers exist.
 */
export function itKeepsTheLogClean(host: AttachedHost, secrets: () => readonly string[]): void {
  let start = 0;
  beforeAll(() => {
    start = host.logs().length;
  });
  it('leaves no fault of ours and no secret in the log', async () => {
    // What was written last may still be under way.
    await sleep(200);
    const log = host.logs().slice(start);
    expect(faultsIn(log)).toEqual([]);
    for (const secret of [host.apiKey, ...secrets()]) {
      expect(secret.length).toBeGreaterThan(7);
      expect(log.includes(secret)).toBe(false);
    }
  });
}
