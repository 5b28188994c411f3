import { readFileSync } from 'node:fs';
import path from 'node:path';

import { NODE_TYPES } from '../../core/contract/render';
import { n8n as declared, name as packName } from '../../package.json';
import { type Host, startHost } from '../hosts/host';
import { ensureHost, PNPM_HOST } from '../hosts/install';
import {
  agentVersions,
  askAgent,
  bearerUpstream,
  createAgent,
  openAiCredential,
  readToolsOf,
} from '../support/agent';
import { CLIENT_TOOL_TYPE, clientCredential, clientToolNode, reviewServer } from '../support/clientNodes';
import { startEverything } from '../support/everythingServer';
import type { ToolNode } from '../support/handMade';
import { hosts, packedTarball } from '../support/hostsFixture';
import { faultsIn } from '../support/logWatch';
import { newBearer } from '../support/publish';
import { ScriptedModel } from '../support/scriptedModel';
import * as upstream from '../support/upstreamDouble';

/**
 * A host where community packages cannot require `@langchain/core`, so that our tools stand on the copy of its classes
 * that is bundled with them: an n8n at the root of a pnpm installation that hoists nothing.
 */

const SECRET = newBearer();
const MODEL_KEY = newBearer();
/** Enough to install the host first, where `npm run hosts` was not run. */
const START_LIMIT_MS = 20 * 60_000;

/** Tool nodes for an agent, what the model calls of them, and what it has to hear. */
interface ToolUse {
  tools: ToolNode[];
  call: { call: string; args: object };
  hears: RegExp;
}

/** Every kind of tool node of the pack; a new kind gets a line. What `prepare` starts, `stops` stops. */
const KINDS: Record<string, (host: Host, stops: (() => Promise<void>)[]) => Promise<ToolUse>> = {
  async [NODE_TYPES.readTool](host, stops) {
    const double = await upstream.UpstreamDouble.start();
    stops.push(() => double.stop());
    double.on('/api/v1/workflows', upstream.json({ data: [{ id: 'w1', name: 'Orders' }], nextCursor: null }));
    const credential = await bearerUpstream(host, {
      name: 'pnpm upstream',
      origin: double.origin,
      secret: SECRET,
    });
    return {
      tools: await readToolsOf('web-app-n8n', credential),
      call: { call: 'n8n_list_workflows', args: { limit: 3 } },
      hears: /Orders.*truncated/,
    };
  },
  async [CLIENT_TOOL_TYPE](host, stops) {
    const everything = await startEverything();
    stops.push(() => everything.stop());
    const reviewed = await reviewServer(everything.endpoint);
    const credential = await clientCredential(host, 'pnpm foreign server', everything.endpoint);
    return {
      tools: [
        clientToolNode('Everything', credential, {
          server: reviewed.server,
          tools: reviewed.pins('echo', 'get-sum'),
        }),
      ],
      call: { call: 'get-sum', args: { a: 20, b: 22 } },
      hears: /42/,
    };
  },
};

// With the n8n of its version only, when MCP_CURATED_TEST_HOSTS restricts the hosts.
const isWanted = hosts().some(({ version }) => PNPM_HOST.startsWith(version));

(isWanted ? describe : describe.skip)(`n8n ${PNPM_HOST}`, () => {
  let host: Host;
  let model: ScriptedModel;
  const uses: ToolUse[] = [];
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    host = await startHost({
      version: PNPM_HOST,
      tarball: packedTarball(),
      onProgress: () => undefined,
      env: { EXTERNAL_HOOK_FILES: path.resolve(__dirname, '../support/resolutionHook.js') },
    });
    stops.push(() => host.stop());
    model = await ScriptedModel.start();
    stops.push(() => model.stop());
    for (const prepare of Object.values(KINDS)) uses.push(await prepare(host, stops));
  }, START_LIMIT_MS);
  afterAll(async () => {
    await Promise.all(
      stops.map(async (stop) => {
        await stop();
      }),
    );
  });

  it('loads every node of the pack', async () => {
    const names = declared.nodes.map((file) => path.basename(file, '.node.js'));
    const types = names.map((node) => `${packName}.${node.charAt(0).toLowerCase()}${node.slice(1)}`);
    expect(types).toContain(NODE_TYPES.readTool);
    await expect(host.nodeTypes()).resolves.toEqual(expect.arrayContaining(types));
  });

  it('gives the pack its own packages and not @langchain/core', async () => {
    const { dir } = await ensureHost(PNPM_HOST);
    const { nodePath, resolved } = JSON.parse(
      readFileSync(path.join(host.userFolder, 'resolution.json'), 'utf8'),
    ) as { nodePath: string[]; resolved: Record<string, string> };
    expect(nodePath).toContain(path.join(dir, 'n8n', 'node_modules'));
    // The question is asked the right way: what n8n depends on itself is found.
    expect(resolved['n8n-workflow']).toContain(path.join(dir, 'node_modules', '.pnpm'));
    expect(resolved['@langchain/core/tools']).toBe('MODULE_NOT_FOUND');
  });

  it.each(agentVersions({ version: PNPM_HOST }))(
    'an AI Agent of version %d calls every kind of tool and hears its answer',
    async (version) => {
      const webhook = `pnpm-agent-${String(version).replace('.', '-')}`;
      await createAgent(host, {
        path: webhook,
        version,
        tools: uses.flatMap(({ tools }) => tools),
        model: await openAiCredential(host, { name: webhook, url: model.url, apiKey: MODEL_KEY }),
        item: { question: 'which workflows are there?' },
      });
      model.script(...uses.map(({ call }) => call), { say: 'That is all.' });
      expect(await askAgent(host, webhook)).toContain('That is all.');

      const answers = model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
      expect(answers.map(({ content }) => JSON.stringify(content))).toEqual(
        uses.map(({ hears }) => expect.stringMatching(hears) as string),
      );
    },
  );

  it('leaves no fault of ours and no secret in the log', () => {
    expect(faultsIn(host.logs())).toEqual([]);
    for (const secret of [SECRET, MODEL_KEY]) expect(host.logs()).not.toContain(secret);
  });
});
