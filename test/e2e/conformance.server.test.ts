import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

import { ensureTool } from '../hosts/install';
import { startBearerProxy, type BearerProxy } from '../support/bearerProxy';
import { runServerSuite, type ScenarioOutcome } from '../support/conformance';
import { hosts } from '../support/hostsFixture';
import { publishSuiteSurface, type SuiteSurface } from '../support/suiteSurface';

/** The official conformance suite as the referee of the trigger inside of a real n8n. */

/** Scenario → why it cannot pass, or for a scenario that passes in part: check → why. */
type Expected = Record<string, string | Record<string, string>>;

const EXPECTED = parse(readFileSync(join(__dirname, 'conformance.expected.yml'), 'utf8')) as Record<
  string,
  Expected
>;

/** What this pack promises: none of these may ever be expected to fail. */
const MUST_PASS = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-with-logging',
  'tools-call-error',
  'tools-call-with-progress',
  'server-sse-multiple-streams',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'dns-rebinding-protection',
];

const RUNS = [
  { run: '0.1.16', tool: 'conformance', chosen: ['--suite', 'active'] },
  {
    run: '0.2.0-alpha.12 for 2025-11-25',
    tool: 'conformance-next',
    chosen: ['--requirements', '2025-11-25'],
  },
  {
    run: '0.2.0-alpha.12 for 2026-07-28',
    tool: 'conformance-next',
    chosen: ['--requirements', '2026-07-28'],
  },
] as const;

describe.each(hosts())('the trigger in n8n $version', (host) => {
  let surface: SuiteSurface;
  let proxy: BearerProxy;
  beforeAll(async () => {
    const slug = 'conformance';
    // The suite sends an Origin of its own once, which has to be allowed before the proxy has its port.
    proxy = await startBearerProxy(host.mcpUrl(`e2e-${slug}`), () => surface.bearer);
    surface = await publishSuiteSurface(host, slug, { allowedOrigins: proxy.origin });
  });
  afterAll(async () => {
    await proxy.stop();
    await surface.remove();
  });

  it.each(RUNS)(
    'passes every scenario of the conformance suite $run except those expected to fail, and those do fail',
    async ({ run, tool, chosen }) => {
      const outcomes = await scored({ tool: await ensureTool(tool), url: proxy.url, chosen });
      const expected = EXPECTED[run] ?? {};
      expect(failuresOf(outcomes, expected)).toEqual(expectedOf(expected));
      const passed = outcomes.filter(({ failed }) => failed.length === 0).map(({ scenario }) => scenario);
      if (run === '0.1.16') expect(passed).toEqual(expect.arrayContaining(MUST_PASS));
    },
    300_000,
  );
});

/** Extensions of the protocol, such as tasks, are run along with the requirements and belong to none. */
async function scored(suite: Parameters<typeof runServerSuite>[0]): Promise<ScenarioOutcome[]> {
  return (await runServerSuite(suite)).filter(({ scenario }) => !scenario.startsWith('tasks-'));
}

/** What failed, with single checks where the file names some. */
function failuresOf(outcomes: readonly ScenarioOutcome[], expected: Expected): string[] {
  return outcomes
    .filter(({ failed }) => failed.length > 0)
    .flatMap(({ scenario, failed }) =>
      typeof expected[scenario] === 'object'
        ? [...new Set(failed.map(({ id }) => `${scenario} ${id}`))]
        : expected[scenario] === undefined
          ? failed.map(({ id, errorMessage }) => `${scenario} ${id}: ${errorMessage ?? ''}`)
          : [scenario],
    )
    .sort();
}

function expectedOf(expected: Expected): string[] {
  return Object.entries(expected)
    .flatMap(([scenario, reason]) =>
      typeof reason === 'string' ? [scenario] : Object.keys(reason).map((id) => `${scenario} ${id}`),
    )
    .sort();
}
