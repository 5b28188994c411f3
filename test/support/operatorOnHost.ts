import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { stringify } from 'yaml';

import { secretForms } from '../../cli/n8n/secretForms';
import { makeBearer } from '../../core/server/bearer';
import type { AttachedHost } from '../hosts/host';
import { notOurs } from './humanObjects';
import type { Endpoint } from './mcpRequest';
import { RecordingProxy } from './recordingProxy';
import { runCli, type Run } from './runCli';

const WORKFLOWS = join(__dirname, '..', '..', 'workflows');
const PACK = 'n8n-nodes-mcp-curated';

export const CONSUMERS = ['client-claude', 'client-cursor'] as const;
export type ConsumerId = (typeof CONSUMERS)[number];

/** The part of an operator file that tests change. */
export interface SurfaceDraft {
  application_id: string;
  enabled: boolean;
  consumers: ConsumerId[];
  upstream: Record<string, unknown>;
  [key: string]: unknown;
}

export interface ManagedObjects {
  workflows: { id: string; name: string; active: boolean }[];
  credentials: { id: string; name: string; type: string }[];
  tags: string[];
}

/**
 * An operator of one host: a folder with an operator file, contracts and secrets, and the command line, which reaches
 * n8n only through a recording proxy. Several operators share a host, so each has an owner and paths of its own.
 */
export class OperatorOnHost {
  readonly folder = mkdtempSync(join(tmpdir(), 'mcp-curated-operator-'));
  /** Every secret that was ever in use. */
  readonly secrets = new Set<string>();
  /** Everything that the command line has printed. */
  readonly printed: string[] = [];
  surfaces: SurfaceDraft[] = [];
  consumers: Record<string, unknown>[];
  clients: Record<string, unknown>[] = [];

  private constructor(
    readonly host: AttachedHost,
    readonly owner: string,
    readonly proxy: RecordingProxy,
  ) {
    mkdirSync(this.at('secrets'));
    mkdirSync(this.at('workflows'));
    this.secret('api-key', host.apiKey);
    const [first, second] = CONSUMERS;
    // One bearer for all surfaces, and one for each.
    this.secret(first);
    this.consumers = [
      { id: first, token: `file:secrets/${first}` },
      { id: second, token: `file:secrets/${second}.{application_id}` },
    ];
  }

  static async start(host: AttachedHost, owner: string): Promise<OperatorOnHost> {
    return new OperatorOnHost(host, owner, await RecordingProxy.start(host.url));
  }

  /** Takes away what a failed test has left on the host as well. */
  async stop(): Promise<void> {
    this.proxy.restore();
    await this.run('destroy', '--confirm', this.owner);
    await this.proxy.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  at(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** Writes a secret, a fresh one if no value is given. @returns it */
  secret(name: string, value = makeBearer().token): string {
    writeFileSync(this.at('secrets', name), `${value}\n`, { mode: 0o600 });
    this.secrets.add(value);
    return value;
  }

  secretIn(name: string): string {
    const value = readFileSync(this.at('secrets', name), 'utf8').trim();
    this.secrets.add(value);
    return value;
  }

  /**
   * Adds a surface with a checked-in contract, served under a path of this operator's own.
   *
   * @param change what is replaced in the text of the contract; its hashes are signed anew
   */
  async addSurface(
    source: string,
    upstream: Record<string, unknown>,
    change: (text: string) => string = (text) => text,
  ): Promise<SurfaceDraft> {
    const text = change(readFileSync(join(WORKFLOWS, source, 'contract.yml'), 'utf8')).replace(
      /^( {2}path: )([a-z0-9]\S+)$/m,
      `$1${this.owner}-$2`,
    );
    const applicationId = /^application_id: (\S+)$/m.exec(text)?.[1] ?? '';
    mkdirSync(this.at('workflows', applicationId));
    await this.#sign(applicationId, text);
    this.secret(`client-cursor.${applicationId}`);
    const surface = { application_id: applicationId, enabled: true, consumers: [...CONSUMERS], upstream };
    this.surfaces.push(surface);
    return surface;
  }

  /** Changes the contract of a surface, and signs it as somebody does who has reviewed that. */
  async changeContract(applicationId: string, change: (text: string) => string): Promise<void> {
    const before = readFileSync(this.at('workflows', applicationId, 'contract.yml'), 'utf8');
    const after = change(before);
    if (after === before) throw new Error(`Nothing of the contract of ${applicationId} was changed.`);
    await this.#sign(applicationId, after);
  }

  async #sign(applicationId: string, text: string): Promise<void> {
    writeFileSync(this.at('workflows', applicationId, 'contract.yml'), text);
    const { code, stderr } = await runCli('render', '--pin', '--workflows', this.at('workflows'));
    if (code !== 0) throw new Error(`The contract cannot be signed: ${stderr}`);
  }

  /** Where clients reach a surface, past the proxy. */
  endpoint(applicationId: string, consumer: ConsumerId | null = 'client-claude'): Endpoint {
    const name = consumer === 'client-cursor' ? `${consumer}.${applicationId}` : consumer;
    return {
      url: this.host.mcpUrl(`${this.owner}-${applicationId}`),
      bearer: name === null ? null : this.secretIn(name),
    };
  }

  /** Runs a command in this process; the proxy counts anew. What `--reveal` shows is not remembered. */
  async run(command: string, ...args: string[]): Promise<Run> {
    this.proxy.requests.length = 0;
    const global = args.includes('--json') ? ['--json'] : [];
    const rest = args.filter((arg) => arg !== '--json');
    const run = await runCli(...global, command, '--file', this.#file(), ...rest).catch(
      (error: unknown): Run => {
        const { code, message } = error as { code?: string; message: string };
        return { code: 1, stdout: '', stderr: code === undefined ? message : `${code}: ${message}` };
      },
    );
    if (!args.includes('--reveal')) this.printed.push(run.stdout, run.stderr);
    return run;
  }

  /** Runs a command of the built pack, as it lies in the host, in a process that has no environment to speak of. */
  async runBuilt(command: string, ...args: string[]): Promise<Run> {
    return await this.#runBuilt(undefined, command, ...args);
  }

  /** The same, killed at the nth write, which n8n still gets to see. */
  async runKilled(nth: number, command: string, ...args: string[]): Promise<Run> {
    const killer = new AbortController();
    this.proxy.cutAt(nth, 'after', () => {
      killer.abort();
    });
    return await this.#runBuilt(killer.signal, command, ...args);
  }

  async #runBuilt(signal: AbortSignal | undefined, command: string, ...args: string[]): Promise<Run> {
    this.proxy.requests.length = 0;
    const program = join(
      ...[this.host.userFolder, '.n8n', 'nodes', 'node_modules', PACK],
      ...['dist', 'cli', 'mcp-curated.js'],
    );
    const run = await new Promise<Run>((resolve) => {
      const argv = [program, command, '--file', this.#file(), ...args];
      const options = { env: {}, killSignal: 'SIGKILL', ...(signal ? { signal } : {}) } as const;
      execFile(process.execPath, argv, options, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) || -1 : 0, stdout, stderr });
      });
    });
    this.printed.push(run.stdout, run.stderr);
    return run;
  }

  /** The id of the workflow that serves an application, whatever its name is. */
  async workflowId(applicationId: string): Promise<string> {
    const { code, stdout } = await this.run('plan', '--json');
    if (code === 1) throw new Error('There is no plan.');
    interface Row {
      application_id: string;
      workflow: string | null;
    }
    const { surfaces, clients } = JSON.parse(stdout) as { surfaces: Row[]; clients: Row[] };
    const found = [...surfaces, ...clients].find(({ application_id: id }) => id === applicationId);
    if (!found?.workflow) throw new Error(`${applicationId} has no workflow`);
    return found.workflow;
  }

  /** What n8n holds under the owner's name. Internal routes tell of credentials on every release. */
  async managed(): Promise<ManagedObjects> {
    const [workflows, tags, credentials] = await Promise.all([
      this.host.api.get<{ data: ManagedObjects['workflows'] }>('/workflows?limit=250'),
      this.host.api.get<{ data: { name: string }[] }>('/tags?limit=250'),
      this.host.rest('GET', '/rest/credentials'),
    ]);
    const listed = (credentials.body as { data: ManagedObjects['credentials'] }).data;
    const isOurs = ({ name }: { name: string }) =>
      name.startsWith(`${this.owner}:`) && name !== notOurs(this.owner);
    const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name);
    return {
      workflows: workflows.data.filter(isOurs).sort(byName),
      credentials: listed.filter((one) => isOurs(one) && one.type.startsWith('mcp')).sort(byName),
      tags: tags.data.map(({ name }) => name).filter((name) => name === this.owner),
    };
  }

  /** Secrets, in any form, that stand in a text. */
  leaksIn(text: string): string[] {
    return secretForms([...this.secrets]).filter((form) => text.includes(form));
  }

  #file(): string {
    const file = this.at('mcp-curated.yml');
    const { owner, consumers, surfaces, clients } = this;
    const n8n = { address: this.proxy.origin, api_key: 'file:secrets/api-key' };
    const content = { n8n, owner, workflows: 'workflows', consumers, surfaces, clients };
    writeFileSync(file, stringify(content, { aliasDuplicateObjects: false }));
    return file;
  }
}

/** The names of the tools that the SDK's client is shown, and it disconnects again. */
export async function toolNames({ url, bearer }: Endpoint): Promise<string[]> {
  const client = new Client({ name: 'e2e', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { Authorization: `Bearer ${String(bearer)}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  try {
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}
