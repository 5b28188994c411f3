import { hosts } from '../support/hostsFixture';
import { itKeepsTheLogClean } from '../support/logWatch';
import { OTHER_CLIENTS, type Experience } from '../support/otherClients';
import { newBearer, ownApi, publishContract, type TestSurface } from '../support/publish';

/** Clients that bring a framework along. What they are made of needs Node 24, so they run as programs of their own. */
describe.each(hosts())('clients of agent frameworks on n8n $version', (host) => {
  let surface: TestSurface;
  const wrong = newBearer();
  beforeAll(async () => {
    surface = await publishContract(host, {
      applicationId: 'web-app-n8n',
      slug: 'clients-other',
      upstream: ownApi(host),
    });
  });
  afterAll(async () => {
    await surface.remove();
  });

  describe.each(OTHER_CLIENTS)('$client', ({ use }) => {
    let experience: Experience;
    beforeAll(async () => {
      experience = await use(surface.url, surface.bearer, [
        { name: 'n8n_list_workflows', args: { name: surface.workflowName } },
        { name: 'n8n_get_workflow_summary', args: { workflow_id: 'no-such-workflow' } },
      ]);
    });

    it('lists exactly the three tools of the contract', () => {
      expect(experience.error).toBeNull();
      expect(experience.tools).toEqual([
        'n8n_list_workflows',
        'n8n_get_workflow_summary',
        'n8n_list_executions',
      ]);
    });

    it('calls one and gets what it asked for', () => {
      expect(experience.calls[0]?.result).toContain(surface.workflowId);
    });

    it('shows the code and the sentence of a call that is refused', () => {
      expect(experience.calls[1]?.refusal).toMatch(
        /upstream_not_found: Upstream has nothing under that identifier/,
      );
    });

    it('says that it is not let in under a wrong bearer', async () => {
      const { tools, error } = await use(surface.url, wrong, []);
      expect(tools).toEqual([]);
      // mcp-remote offers to sign in, where n8n 2.x has an OAuth server of its own.
      expect(error).toMatch(/401|bearer is not known|unauthorized|running the sign-in/i);
    });
  });

  itKeepsTheLogClean(host, () => [surface.bearer, wrong]);
});
