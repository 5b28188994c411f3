import {
  agentVersions,
  askAgent,
  bearerUpstream,
  createAgent,
  type CredentialRef,
  openAiCredential,
  readToolsOf,
} from '../support/agent';
import { removeWorkflow } from '../support/handMade';
import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { newBearer, readContract } from '../support/publish';
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

const pathOf = (version: number) => `e2e-agent-${String(version).replace('.', '-')}`;

describe.each(hosts())('an AI Agent on n8n $version', (host) => {
  let model: ScriptedModel;
  let double: upstream.UpstreamDouble;
  const credentials: CredentialRef[] = [];
  const workflows: string[] = [];
  const versions = agentVersions(host);

  beforeAll(async () => {
    [model, double] = await Promise.all([ScriptedModel.start(), upstream.UpstreamDouble.start()]);
    const upstreamCredential = await bearerUpstream(host, {
      name: 'e2e-agent upstream',
      origin: double.origin,
      secret: SECRET,
    });
    const modelCredential = await openAiCredential(host, {
      name: 'e2e-agent model',
      url: model.url,
      apiKey: MODEL_KEY,
    });
    credentials.push(upstreamCredential, modelCredential);
    const tools = await readToolsOf('web-app-n8n', upstreamCredential);
    for (const version of versions) {
      workflows.push(
        await createAgent(host, {
          path: pathOf(version),
          version,
          tools,
          model: modelCredential,
          item: FOREIGN,
        }),
      );
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
      expect(await askAgent(host, pathOf(version))).toContain('There is one: Orders.');

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
