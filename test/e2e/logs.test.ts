import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { UpstreamCredential } from '../../core/upstream/access';
import type { AttachedHost } from '../hosts/host';
import { untilExecutions } from '../support/executions';
import { auditLinesOf } from '../support/expectations';
import { hosts } from '../support/hostsFixture';
import { faultsIn } from '../support/logWatch';
import { callTool, codeOf, post } from '../support/mcpRequest';
import { newBearer, publishContract, type TestSurface } from '../support/publish';
import * as upstream from '../support/upstreamDouble';

const kinds: { kind: UpstreamCredential['authentication']; name: string; secret: string }[] = [
  { kind: 'bearer', name: '', secret: newBearer() },
  { kind: 'header', name: 'X-Api-Key', secret: newBearer() },
  { kind: 'basic', name: 'reader', secret: newBearer() },
  { kind: 'query', name: 'key', secret: newBearer() },
];
const encoded = kinds.map(({ name, secret }) => Buffer.from(`${name}:${secret}`).toString('base64'));
const ARGUMENT = `argument-${newBearer()}`;

/** Everything that n8n keeps on disk as readable bytes. */
function onDisk(host: AttachedHost): string {
  const folder = join(host.userFolder, '.n8n');
  const files = ['database.sqlite', 'database.sqlite-wal', 'n8nEventLog.log', 'crash.journal'];
  return files
    .map((file) => join(folder, file))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n');
}

describe.each(hosts())('what n8n $version keeps', (host) => {
  let double: upstream.UpstreamDouble;
  const surfaces: TestSurface[] = [];
  beforeAll(async () => {
    double = await upstream.UpstreamDouble.start();
    double
      .on('/api/v1/workflows', upstream.json({ data: [], nextCursor: null }))
      .on('/api/v1/workflows/drop', upstream.drop)
      .on('/api/v1/workflows/refused', upstream.json({ message: 'no' }, 401));
    surfaces.push(
      ...(await Promise.all(
        kinds.map(({ kind, name, secret }) =>
          publishContract(host, {
            applicationId: 'web-app-n8n',
            slug: `logs-${kind}`,
            upstream: { baseUrl: double.origin, authentication: kind, name, secret },
          }),
        ),
      )),
    );
  });
  afterAll(async () => {
    await Promise.all(
      surfaces.map(async (surface) => {
        await surface.remove();
      }),
    );
    await double.stop();
  });
  const secrets = () => [
    ARGUMENT,
    host.apiKey,
    ...encoded,
    ...kinds.map(({ secret }) => secret),
    ...surfaces.map(({ bearer }) => bearer),
  ];

  it('is used with every kind of upstream secret, well and badly', async () => {
    for (const surface of surfaces) {
      const answers = await Promise.all([
        callTool(surface, 'n8n_list_workflows', { name: ARGUMENT }),
        callTool(surface, 'n8n_get_workflow_summary', { workflow_id: 'drop' }),
        callTool(surface, 'n8n_get_workflow_summary', { workflow_id: 'refused' }),
        callTool(surface, 'n8n_get_workflow_summary', { workflow_id: 'x', extra: ARGUMENT }),
      ]);
      expect(answers.map(codeOf)).toEqual([
        'ok',
        'upstream_unreachable',
        'upstream_auth_failed',
        'arguments_invalid',
      ]);
      await untilExecutions(host, surface.workflowId, 3);
    }
    const shown = JSON.stringify(double.requests.map(({ headers, query }) => [headers, query]));
    for (const { secret, kind } of kinds) if (kind !== 'basic') expect(shown).toContain(secret);
    expect(shown).toContain(encoded[2]);
  });

  it('holds no bearer, no upstream secret and no argument in its log', () => {
    const log = host.logs();
    expect(secrets().filter((secret) => log.includes(secret))).toEqual([]);
    expect(log).not.toContain(`${double.origin}/`);
  });

  it('holds none of them in its database as plain text', () => {
    const bytes = onDisk(host);
    expect(bytes).toContain('e2e-logs-bearer');
    // The API key of this test host was made by n8n itself, which keeps it.
    const ours = secrets().filter((secret) => secret !== host.apiKey);
    expect(ours.filter((secret) => bytes.includes(secret))).toEqual([]);
  });

  it('cannot be made to log a line that a caller wrote', async () => {
    const [surface] = surfaces;
    if (!surface) throw new Error('nothing is published');
    const forged = 'mcp_audit {"code":"ok","forged":true}';
    const answers = await Promise.all([
      callTool(surface, `x\n${forged}`),
      callTool(surface, 'n8n_list_workflows', { [`\n${forged}`]: 1 }),
      callTool(surface, 'n8n_list_workflows', { name: `\r\n${forged}` }),
      post(surface, '{"jsonrpc":"2.0","id":1,"method":"x\\nmcp_audit {\\"forged\\":true}"}'),
      post(surface, '{}', { headers: [['MCP-Protocol-Version', 'mcp_audit {"forged":true}']] }),
    ]);
    for (const answer of answers) {
      const [line, ...more] = await auditLinesOf(host, answer);
      expect(more).toEqual([]);
      expect(line).toHaveProperty('correlation_id', answer.headers['x-correlation-id']);
    }
    expect(host.logs()).not.toContain('forged');
  });

  it('shows no fault of ours since it was started, whatever suites ran before', () => {
    expect(faultsIn(host.logs())).toEqual([]);
  });
});
