import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { makeBearer } from '../../../core/server/bearer';
import { N8nApiDouble, type Release } from '../../support/n8nApiDouble';
import { runCli, type Run } from '../../support/runCli';

export const OWNER = 'acme-mcp';

/** The part of an operator file that tests change. */
export interface OperatorDraft {
  n8n: Record<string, unknown>;
  owner: string;
  consumers: Record<string, unknown>[];
  surfaces: Record<string, unknown>[];
  clients: Record<string, unknown>[];
}

/** An operator with a file, secrets and an n8n of one release. */
export class Operator {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-operator-'));
  readonly secrets: string[] = [];
  draft: OperatorDraft;

  private constructor(readonly n8n: N8nApiDouble) {
    this.secret('api-key', n8n.apiKey);
    this.draft = {
      n8n: { address: n8n.origin, api_key: 'file:api-key' },
      owner: OWNER,
      consumers: ['client-claude', 'web-app-openwebui'].map((id) => ({
        id,
        token: `file:${this.secret(id)}`,
      })),
      surfaces: [this.surface('web-app-n8n'), this.surface('web-app-prometheus')],
      clients: [],
    };
  }

  static async start(release: Release): Promise<Operator> {
    return new Operator(await N8nApiDouble.start(release));
  }

  async stop(): Promise<void> {
    await this.n8n.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Writes a secret file, with a fresh bearer if no value is given. @returns its name */
  secret(name: string, value = makeBearer().token): string {
    writeFileSync(path.join(this.folder, name), value, { mode: 0o600 });
    this.secrets.push(value);
    return name;
  }

  surface(applicationId: string): Record<string, unknown> {
    return {
      application_id: applicationId,
      enabled: true,
      consumers: ['client-claude', 'web-app-openwebui'],
      upstream: {
        base_url: `https://${applicationId}.example.com`,
        authentication: 'bearer',
        secret: `file:${this.secret(`${applicationId}.upstream`)}`,
      },
    };
  }

  /** Runs a command with the draft as it is now. */
  async run(command: string, ...args: string[]): Promise<Run> {
    const file = path.join(this.folder, 'mcp-curated.yml');
    writeFileSync(file, stringify(this.draft));
    this.n8n.requests.length = 0;
    return await runCli(command, '--file', file, ...args);
  }

  /** The same, parsed. */
  async json(command: string, ...args: string[]): Promise<{ code: number; report: Record<string, unknown> }> {
    const file = path.join(this.folder, 'mcp-curated.yml');
    writeFileSync(file, stringify(this.draft));
    this.n8n.requests.length = 0;
    const { code, stdout } = await runCli('--json', command, '--file', file, ...args);
    return { code, report: JSON.parse(stdout) as Record<string, unknown> };
  }
}
