import type { AttachedHost } from '../hosts/host';
import { eventually } from './editWorkflow';
import { callTool, codeOf, rpc } from './mcpRequest';
import { OperatorOnHost, type SurfaceDraft } from './operatorOnHost';
import { json, UpstreamDouble } from './upstreamDouble';

export const N8N = 'web-app-n8n';
export const PROMETHEUS = 'web-app-prometheus';
/** The tool of Prometheus that needs no argument. */
export const READ = 'prometheus_get_targets';
/** Where the secret for Prometheus is. */
export const UPSTREAM = 'prometheus.upstream';

/** An operator with two surfaces in service: one for the host itself, one for a double that can refuse. */
export class TwoSurfaces {
  /** Secrets that Prometheus takes; all where it is empty. */
  readonly accepted = new Set<string>();

  private constructor(
    readonly operator: OperatorOnHost,
    readonly prometheus: SurfaceDraft,
    private readonly upstream: UpstreamDouble,
  ) {
    upstream.on('/api/v1/targets', (response) => {
      const secret = response.req.headers.authorization?.replace('Bearer ', '') ?? '';
      const isKnown = this.accepted.size === 0 || this.accepted.has(secret);
      if (isKnown) json({ status: 'success', data: { activeTargets: [] } })(response);
      else json({ status: 'error', error: 'unauthorized' }, 401)(response);
    });
  }

  static async start(host: AttachedHost, owner: string): Promise<TwoSurfaces> {
    const upstream = await UpstreamDouble.start();
    const operator = await OperatorOnHost.start(host, owner);
    operator.secret('n8n.upstream', host.apiKey);
    operator.secret(UPSTREAM);
    await operator.addSurface(N8N, {
      base_url: host.url,
      authentication: 'header',
      name: 'X-N8N-API-KEY',
      secret: 'file:secrets/n8n.upstream',
    });
    const prometheus = await operator.addSurface(PROMETHEUS, {
      base_url: upstream.origin,
      authentication: 'bearer',
      secret: `file:secrets/${UPSTREAM}`,
    });
    const surfaces = new TwoSurfaces(operator, prometheus, upstream);
    expect(await operator.run('apply')).toMatchObject({ code: 0, stderr: '' });
    return surfaces;
  }

  async stop(): Promise<void> {
    await this.operator.stop();
    await this.upstream.stop();
  }

  /** What a call that reaches Prometheus comes to; `ok` when it answered. */
  async read(): Promise<string | undefined> {
    return codeOf(await callTool(this.operator.endpoint(PROMETHEUS), READ));
  }

  /** Both surfaces let the bearer of a consumer in, and nobody without one. */
  async expectServed(): Promise<void> {
    for (const application of [N8N, PROMETHEUS]) {
      await eventually(async () => {
        expect((await rpc(this.operator.endpoint(application), 'tools/list')).status).toBe(200);
        expect((await rpc(this.operator.endpoint(application, null), 'tools/list')).status).toBe(401);
      });
    }
  }

  /** Nothing is left to do, nothing is there twice, and what is served works. */
  async expectSettled(): Promise<void> {
    expect(await this.operator.run('plan')).toMatchObject({ code: 0 });
    const { workflows, credentials } = await this.operator.managed();
    expect(workflows).toHaveLength(2);
    expect(credentials).toHaveLength(4);
    // n8n 2.x publishes what it has taken in the background, and answers 404 for a moment in between.
    await eventually(async () => {
      expect(await this.read()).toBe('ok');
    });
  }
}
