import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { N8nPublicApi, type N8nApiOptions } from '../../../cli/n8n/publicApi';
import { loadOperator, type Operator as LoadedOperator } from '../../../cli/operator/load';
import { applyPlan, type Applied } from '../../../cli/provision/apply';
import type { Change } from '../../../cli/provision/compare';
import { observe } from '../../../cli/provision/observe';
import { hasChanges, makePlan, type Plan } from '../../../cli/provision/plan';
import { recordedPace } from '../../support/n8nApiDoubleClient';
import type { Operator } from './harness';

/** Plans and applies like the commands do, many times in a second: the operator file is read once. */
export class Reconciler {
  #loaded: LoadedOperator | undefined;

  constructor(private readonly operator: Operator) {}

  /** Reads the draft again, as the next run of a command would. */
  async reload(): Promise<void> {
    const file = path.join(this.operator.folder, 'mcp-curated.yml');
    writeFileSync(file, stringify(this.operator.draft));
    this.#loaded = await loadOperator(file);
  }

  api(options: N8nApiOptions = {}): N8nPublicApi {
    const { n8n } = this.operator;
    return new N8nPublicApi(n8n.origin, n8n.apiKey, { pace: recordedPace(), ...options });
  }

  async plan(): Promise<Plan> {
    return await this.#plan(this.api());
  }

  /** What a plan shows of the first surface. */
  async changes(): Promise<readonly Change[]> {
    return (await this.plan()).surfaces.flatMap(({ changes }) => changes);
  }

  async apply(signal = new AbortController().signal): Promise<Applied[]> {
    const api = this.api({ signal });
    const options = { address: this.operator.n8n.origin, signal, onProgress: () => undefined };
    return await applyPlan(api, await this.#plan(api), options);
  }

  /** Applies, and expects that this was enough: nothing fails, nothing is left to do, nothing more is written. */
  async heal(): Promise<void> {
    expect(await this.apply()).not.toContainEqual(
      expect.objectContaining({ error: expect.anything() as unknown }),
    );
    const plan = await this.plan();
    expect(plan.surfaces.flatMap(({ changes }) => changes)).toEqual([]);
    expect(hasChanges(plan)).toBe(false);
    this.operator.n8n.requests.length = 0;
    await this.apply();
    expect(this.operator.n8n.writes).toEqual([]);
  }

  async #plan(api: N8nPublicApi): Promise<Plan> {
    if (!this.#loaded) await this.reload();
    if (!this.#loaded) throw new Error('There is no operator file.');
    return await makePlan(this.#loaded, await observe(api));
  }
}
