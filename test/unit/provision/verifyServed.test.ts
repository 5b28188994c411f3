import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { shippedWorkflows } from '../../../cli/operator/load';
import { expectedHashes } from '../../../core/contract/lint';
import type { Contract } from '../../../core/contract/schema';
import { PolicyError } from '../../../core/policy/errors';
import { Operator } from './harness';
import { failures, told, verifiedBy } from './verifying';

let operator: Operator;
let servers: Server[] = [];
beforeEach(async () => {
  operator = await Operator.start('2.41.1');
});
afterEach(async () => {
  for (const server of servers) server.close();
  servers = [];
  await operator.stop();
});

const verified = async (...args: string[]) => await verifiedBy(operator, ...args);

const applied = async () => {
  expect(await operator.run('apply')).toMatchObject({ code: 0 });
};

/** The nodes that answer at the path of an application. */
const runningNodes = (id = 'web-app-n8n') => {
  const row = operator.n8n.store.workflows.get(operator.n8n.store.served.get(id) ?? '');
  return row?.published?.nodes ?? [];
};

/** Something else answers in place of n8n. */
async function inPlaceOfN8n(answer: RequestListener): Promise<void> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  operator.draft.n8n['address'] = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

/** A copy of a shipped contract that the surface deploys instead. */
function withContract(change: (contract: Contract) => void, id = 'web-app-n8n'): void {
  const text = readFileSync(path.join(shippedWorkflows(), id, 'contract.yml'), 'utf8');
  const contract = parse(text) as Contract;
  change(contract);
  const { schema_sha256, specification_sha256 } = expectedHashes(contract);
  Object.assign(contract.tools, { schema_sha256 });
  Object.assign(contract.adapter, { specification_sha256 });
  const folder = path.join(operator.folder, 'workflows', id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'contract.yml'), stringify(contract));
  Object.assign(operator.draft, { workflows: 'workflows' });
  operator.draft.surfaces = operator.draft.surfaces.filter((surface) => surface['application_id'] === id);
}

describe('what is served', () => {
  test('an enabled surface that is not served fails at every door', async () => {
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(1);
    expect(told(checks, 'handshake')).toEqual([
      'client-claude failed upstream_not_found',
      'web-app-openwebui failed upstream_not_found',
    ]);
    expect(told(checks, 'tool_pins')[0]).toBe('client-claude skipped handshake_failed');
    expect(told(checks, 'no_bearer_refused')).toEqual(['- failed not_served']);
  });

  test('a tool that was edited by hand is a drift with both hashes', async () => {
    await applied();
    withContract((contract) => {
      const [operation] = contract.operations;
      if (operation) operation.description += ' Since this review, something else is said here.';
    });
    const { code, checks } = await verified();
    expect(code).toBe(1);
    expect(told(checks, 'tool_pins')).toEqual([
      'client-claude failed schema_drift',
      'web-app-openwebui failed schema_drift',
    ]);
    const drift = checks.find(({ check }) => check === 'tool_pins');
    expect(drift?.message).toMatch(
      /^n8n_list_workflows: pinned sha256:[0-9a-f]{64}, listed sha256:[0-9a-f]{64}\.$/,
    );
    // What still is as it was reviewed can be read all the same.
    expect(told(checks, 'read')).toEqual(['client-claude passed']);
  });

  test('a tool too many and a tool too few are named', async () => {
    await applied();
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], tools: ['n8n_list_workflows'] };
    const more = await verified('--only', 'web-app-n8n');
    expect(told(more.checks, 'tool_names')[0]).toBe('client-claude failed tool_unexpected');

    await applied();
    const { tools: _tools, ...whole } = operator.draft.surfaces[0];
    operator.draft.surfaces[0] = whole;
    const fewer = await verified('--only', 'web-app-n8n');
    expect(told(fewer.checks, 'tool_names')[0]).toBe('client-claude failed tool_missing');
  });

  test('another server at the endpoint is not taken for the surface', async () => {
    await applied();
    const [n8n, prometheus] = ['web-app-n8n', 'web-app-prometheus'] as const;
    const { served } = operator.n8n.store;
    const other = served.get(prometheus) ?? '';
    const row = operator.n8n.store.workflows.get(other);
    for (const node of row?.published?.nodes ?? []) {
      if (node.parameters?.['path'] === prometheus) node.parameters['path'] = n8n;
    }
    served.set(n8n, other);
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(1);
    expect(told(checks, 'handshake')).toEqual([
      'client-claude failed server_drift',
      'web-app-openwebui failed server_drift',
    ]);
  });

  test('a surface that is switched off is silent on GET and POST', async () => {
    await applied();
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], enabled: false };
    const before = await verified('--only', 'web-app-n8n');
    expect(before.code).toBe(1);
    expect(told(before.checks, 'silent_post')).toEqual(['- failed still_served']);
    await applied();
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(0);
    expect(told(checks, 'silent_get')).toEqual(['- passed']);
    expect(told(checks, 'silent_post')).toEqual(['- passed']);
    expect(checks).toHaveLength(2);
  });

  test('nobody at the address proves nothing, for enabled surfaces and for disabled ones', async () => {
    operator.draft.surfaces[1] = { ...operator.draft.surfaces[1], enabled: false };
    operator.draft.n8n['address'] = 'http://127.0.0.1:9';
    const { code, checks } = await verified();
    expect(code).toBe(1);
    expect(told(checks, 'handshake')[0]).toBe('client-claude failed upstream_unreachable');
    expect(told(checks, 'no_bearer_refused')).toEqual(['- failed endpoint_unreachable']);
    expect(told(checks, 'silent_get', 'web-app-prometheus')).toEqual(['- failed endpoint_unreachable']);
  });

  test.each([
    ['an endpoint that asks nobody', 200, {}, 'bearer_not_required', 'wrong_bearer_accepted'],
    ['a sign-in page in front', 302, { location: '/signin' }, 'refusal_unexpected', 'refusal_unexpected'],
    ['a proxy that drops the challenge', 401, {}, 'challenge_missing', undefined],
  ])('%s is found out', async (_what, status, headers, withoutBearer, withWrong) => {
    await inPlaceOfN8n((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{}');
    });
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(1);
    expect(told(checks, 'no_bearer_refused')).toEqual([`- failed ${withoutBearer}`]);
    expect(told(checks, 'wrong_bearer_refused')).toEqual([
      withWrong === undefined ? '- passed' : `- failed ${withWrong}`,
    ]);
  });
});

describe('the read', () => {
  test('that the application refuses is a failure of the upstream credential', async () => {
    await applied();
    operator.n8n.toolAnswers.set('n8n_list_workflows', () => {
      throw new PolicyError('upstream_auth_failed', 'Upstream refused the credential.');
    });
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(1);
    expect(told(checks, 'read')).toEqual(['client-claude failed upstream_auth_failed']);
    expect(told(checks, 'upstream_credential')).toEqual(['client-claude failed upstream_auth_failed']);
  });

  test('that fails for another reason says nothing of the credential', async () => {
    await applied();
    operator.n8n.toolAnswers.set('n8n_list_workflows', () => {
      throw new PolicyError('upstream_timeout', 'Upstream did not answer within 15 seconds.');
    });
    const { checks } = await verified('--only', 'web-app-n8n');
    expect(told(checks, 'read')).toEqual(['client-claude failed upstream_timeout']);
    expect(told(checks, 'upstream_credential')).toEqual(['client-claude skipped upstream_timeout']);
  });

  test('is skipped, and said to be, where every tool needs an argument', async () => {
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], tools: ['n8n_get_workflow_summary'] };
    await applied();
    const { code, checks } = await verified('--only', 'web-app-n8n');
    expect(code).toBe(0);
    expect(told(checks, 'read')).toEqual(['- skipped no_argument_free_tool']);
  });

  test('takes a value that the contract itself names for what is required', async () => {
    withContract((contract) => {
      const [, summary] = contract.operations;
      const { properties } = summary?.input_schema as { properties: Record<string, object> };
      Object.assign(properties['workflow_id'] ?? {}, { examples: ['aBcD1234'] });
    });
    operator.draft.surfaces[0] = { ...operator.draft.surfaces[0], tools: ['n8n_get_workflow_summary'] };
    await applied();
    const asked: unknown[] = [];
    operator.n8n.toolAnswers.set('n8n_get_workflow_summary', (args) => {
      asked.push(args);
      return {};
    });
    const { checks } = await verified();
    expect(failures(checks)).toEqual([]);
    expect(asked).toEqual([{ workflow_id: 'aBcD1234' }]);
  });

  describe('of a tool that redacts something', () => {
    const listed = (...names: (string | null)[]) => ({
      items: names.map((name) => (name === null ? {} : { name })),
      returned: names.length,
      truncated: false,
      next: null,
    });
    test.each([
      ['redacted values pass', listed('[redacted]', '[redacted]'), 'passed'],
      ['one value that is shown fails', listed('[redacted]', 'Payroll'), 'failed redaction_missing'],
      ['an answer without the field proves nothing', listed(null), 'skipped nothing_to_redact'],
    ])('%s', async (_what, answer, outcome) => {
      withContract((contract) => {
        for (const { name, response } of contract.operations) {
          if (name === 'n8n_list_workflows') response.redact.push('name');
        }
      });
      await applied();
      operator.n8n.toolAnswers.set('n8n_list_workflows', () => answer);
      const run = await operator.run('verify');
      const { checks } = await verified();
      expect(told(checks, 'redaction')).toEqual([`client-claude ${outcome}`]);
      expect(run.stdout).not.toContain('Payroll');
    });
  });

  test('goes through the tool that is connected, with its own credential', async () => {
    await applied();
    for (const node of runningNodes()) {
      const reference = node.credentials?.['mcpUpstreamApi'];
      if (reference) reference.id = 'gone';
    }
    const { checks } = await verified('--only', 'web-app-n8n');
    expect(told(checks, 'read')).toEqual(['client-claude failed credential_missing']);
  });
});
