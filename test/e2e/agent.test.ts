import { randomUUID } from 'node:crypto';

import { NODE_TYPES, renderWorkflow } from '../../core/contract/render';
import type { AttachedHost } from '../hosts/host';
import { eventually } from '../support/editWorkflow';
import { activate, node, removeWorkflow, type ToolNode } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { newBearer, readContract } from '../support/publish';
import { rawHttp } from '../support/rawHttp';
import { ScriptedModel } from '../support/scriptedModel';
import * as upstream from '../support/upstreamDouble';

/** The Read Tool in the hands of n8n's own AI Agent, which calls tools in another way from version 3 on. */

const SECRET = newBearer();
const MODEL_KEY = newBearer();
/** What an agent of n8n 2.x mixes into a tool's input: its own item, here with names that are arguments. */
const FOREIGN = {
  question: 'which workflows are there?',
  name: 'attacker',
  active: true,
  cursor: 'attacker',
};

interface Credential {
  id: string;
  name: string;
}

async function openAiCredential(host: AttachedHost, url: string): Promise<Credential> {
  const { properties } = await host.api.get<{ properties: Record<string, unknown> }>(
    '/credentials/schema/openAiApi',
  );
  return await host.api.post<Credential>('/credentials', {
    name: 'e2e-agent model',
    type: 'openAiApi',
    data: {
      apiKey: MODEL_KEY,
      url,
      // Required by 2.x, unknown to 1.x.
      ...('header' in properties && !host.version.startsWith('1.') ? { header: false } : {}),
    },
  });
}

describe.each(hosts())('an AI Agent on n8n $version', (host) => {
  let model: ScriptedModel;
  let double: upstream.UpstreamDouble;
  const credentials: Credential[] = [];
  const workflows: string[] = [];
  const versions = host.version.startsWith('1.') ? [1.9, 2] : [2.2, 3.1];

  beforeAll(async () => {
    [model, double] = await Promise.all([ScriptedModel.start(), upstream.UpstreamDouble.start()]);
    const upstreamCredential = await host.api.post<Credential>('/credentials', {
      name: 'e2e-agent upstream',
      type: 'mcpUpstreamApi',
      data: { baseUrl: double.origin, authentication: 'bearer', name: '', secret: SECRET, testPath: '/' },
    });
    const modelCredential = await openAiCredential(host, model.url);
    credentials.push(upstreamCredential, modelCredential);
    const rendered = renderWorkflow(await readContract('web-app-n8n'));
    const tools = rendered.nodes
      .filter(({ type }) => type === NODE_TYPES.readTool)
      .map((tool) => ({
        ...tool,
        credentials: { mcpUpstreamApi: { id: upstreamCredential.id, name: upstreamCredential.name } },
      }));
    for (const version of versions) {
      workflows.push(await createAgent(version, tools, modelCredential));
    }
  });
  afterAll(async () => {
    await Promise.all(
      workflows.map(async (id) => {
        await removeWorkflow(host, id);
      }),
    );
    for (const { id } of credentials) await host.api.request('DELETE', `/credentials/${id}`);
    await Promise.all([model.stop(), double.stop()]);
  });

  const createAgent = async (version: number, tools: ToolNode[], { id, name }: Credential) => {
    const path = `e2e-agent-${String(version).replace('.', '-')}`;
    const start = {
      ...node('Start', 'n8n-nodes-base.webhook', 2, { httpMethod: 'POST', path, responseMode: 'lastNode' }),
      webhookId: randomUUID(),
    };
    const item = node('Item', 'n8n-nodes-base.set', 3.4, {
      mode: 'raw',
      jsonOutput: JSON.stringify(FOREIGN),
      options: {},
    });
    const agent = node('Agent', '@n8n/n8n-nodes-langchain.agent', version, {
      promptType: 'define',
      text: '={{ $json.question }}',
      options: {},
    });
    const chat = {
      ...node('Model', '@n8n/n8n-nodes-langchain.lmChatOpenAi', 1.2, {
        model: { __rl: true, value: 'gpt-4o-mini', mode: 'id' },
        options: { maxRetries: 0 },
      }),
      credentials: { openAiApi: { id, name } },
    };
    const to = (target: string, type: string) => ({ [type]: [[{ node: target, type, index: 0 }]] });
    const workflow = await host.api.post<{ id: string }>('/workflows', {
      name: path,
      nodes: [start, item, agent, chat, ...tools],
      connections: {
        Start: to('Item', 'main'),
        Item: to('Agent', 'main'),
        Model: to('Agent', 'ai_languageModel'),
        ...Object.fromEntries(tools.map((tool) => [tool.name, to('Agent', 'ai_tool')])),
      },
      settings: { executionOrder: 'v1' },
    });
    await activate(host, workflow.id);
    return workflow.id;
  };
  const ask = async (version: number) => {
    const url = `${host.url}/webhook/e2e-agent-${String(version).replace('.', '-')}`;
    const headers: [string, string][] = [['Content-Type', 'application/json']];
    let text = '';
    await eventually(async () => {
      const answer = await rawHttp({ url, headers, body: '{}', timeoutMs: 60_000 });
      expect(answer.status).not.toBe(404);
      text = answer.text;
    });
    return text;
  };
  it.each(versions)(
    'version %d offers, calls and hears what the contract says, and nothing else',
    async (version) => {
      double.reset();
      double
        .on('/api/v1/workflows', upstream.json({ data: [{ id: 'w1', name: 'Orders' }], nextCursor: null }))
        .on('/api/v1/workflows/gone', upstream.json({ message: SECRET }, 404));
      model.script(
        { call: 'n8n_list_workflows', args: { limit: 3 } },
        { call: 'n8n_list_workflows', args: { limit: 1000 } },
        { call: 'n8n_get_workflow_summary', args: { workflow_id: 'gone' } },
        { say: 'There is one: Orders.' },
      );
      expect(await ask(version)).toContain('There is one: Orders.');

      // Offered as the contract words them.
      const { operations } = await readContract('web-app-n8n');
      const offered = model.requests[0]?.tools ?? [];
      expect(offered.map((tool) => tool.function.name).sort()).toEqual(
        operations.map(({ name }) => name).sort(),
      );
      for (const { name, description, input_schema } of operations) {
        const tool = offered.find((one) => one.function.name === name);
        expect(tool?.function.description).toBe(description.trim());
        expect(tool?.function.parameters).toMatchObject({ properties: input_schema['properties'] as object });
      }

      // Upstream got what the model said and nothing of the agent's own item; the call out of range never left.
      expect(double.requests.map(({ path, query }) => path + query)).toEqual([
        '/api/v1/workflows?excludePinnedData=true&limit=3',
        '/api/v1/workflows/gone?excludePinnedData=true',
      ]);
      expect(JSON.stringify(double.requests.map(({ headers }) => headers))).not.toContain('attacker');

      // The model got the result, the refusal and the failure, each as something that it can act on.
      const messages = model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
      const [result, refused, failed] = messages.map(({ content }) => JSON.stringify(content));
      expect(messages).toHaveLength(3);
      expect(result).toMatch(/Orders.*truncated/);
      expect(refused).toMatch(/arguments_invalid.*limit/);
      expect(failed).toContain('upstream_not_found');
      for (const text of [refused, failed]) {
        expect(text).not.toContain(SECRET);
        expect(text).not.toContain(double.origin);
      }
    },
  );

  itKeepsTheLogClean(host, () => [SECRET, MODEL_KEY]);
});
