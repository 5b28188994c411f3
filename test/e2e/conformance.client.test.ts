import { join } from 'node:path';

import { ensureTool, type InstalledTool } from '../hosts/install';
import { runClientScenario } from '../support/conformance';

/** The official conformance suite as the referee of our client core. It needs no n8n, but a newer Node than 20. */

const ROOT = join(__dirname, '..', '..');
const TSX = join('node_modules', 'tsx', 'dist', 'cli.mjs');
const COMMAND = `"${process.execPath}" ${TSX} ${join('test', 'support', 'conformanceClient.ts')}`;

describe('the conformance suite 0.1.16 passes our client in the scenario', () => {
  let tool: InstalledTool;
  beforeAll(async () => {
    tool = await ensureTool('conformance');
  });
  const run = async (scenario: string, env: Record<string, string> = {}) =>
    await runClientScenario({ tool, scenario, command: COMMAND, cwd: ROOT, env });

  it.each(['initialize', 'tools_call'])('%s', async (scenario) => {
    const { passed, output } = await run(scenario);
    expect({ passed, output: passed ? '' : output }).toEqual({ passed: true, output: '' });
  });

  it('sse-retry', async () => {
    // The suite measures how long the reconnect took, to 200 ms: a busy machine gets a second try.
    const first = await run('sse-retry');
    const { passed, output, succeeded } = first.passed ? first : await run('sse-retry');
    expect({ passed, output: passed ? '' : output }).toEqual({ passed: true, output: '' });
    expect(succeeded).toContain('client-sse-last-event-id');
  });

  it.each(['auth/client-credentials-basic', 'auth/client-credentials-jwt'])('%s', async (scenario) => {
    const { passed, output, succeeded } = await run(scenario);
    expect({ passed, output: passed ? '' : output }).toEqual({ passed: true, output: '' });
    // The suite itself is content with a token that is never used.
    expect(succeeded).toContain('valid-bearer-token');
  });

  it('and refuses to show the secret to an authorization server that is not the declared one', async () => {
    const { passed, succeeded } = await run('auth/client-credentials-basic', {
      EXPECTED_ISSUER: 'https://login.example.com',
    });
    expect(passed).toBe(false);
    expect(succeeded).not.toContain('client-credentials-basic-auth');
  });
});
