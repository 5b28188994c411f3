import { unusedIn } from './audit';
import { ifSupported, listAll, read, remove, slot, step, unlessGone, type Supported } from './calls';
import { detectCapabilities, type Capabilities } from './capabilities';
import { failedWith } from './errors';
import { textsIn } from './secretForms';
import {
  listOf,
  objectOf,
  readCredential,
  readMade,
  readTag,
  readWorkflow,
  type JsonObject,
  type N8nCredential,
  type N8nTag,
  type N8nWorkflow,
  type UnusedCredential,
} from './shapes';
import { N8nTransport, type N8nApiOptions, type RequestCounts } from './transport';
import { WorkflowWriter, type WorkflowBody, type WrittenWorkflow } from './workflowBody';

export type { Supported } from './calls';
export type { Capabilities, Capability } from './capabilities';
export { failedWith, N8nApiError, type N8nErrorCode } from './errors';
export type * from './shapes';
export type { N8nApiOptions, RequestCounts } from './transport';
export { droppedSettingsNote, type WorkflowBody, type WrittenWorkflow } from './workflowBody';

/**
 * The calls of n8n's public API (`/api/v1`) that every supported release has, and those that some have. Every method
 * throws N8nApiError, or the reason of the signal of the client's options.
 */
export class N8nPublicApi {
  readonly #transport: N8nTransport;
  readonly #writer: WorkflowWriter;
  /** What trying has shown. */
  readonly #tried: { canUpdateCredentials?: boolean; hasArchive?: boolean } = {};
  #excludesPinnedData = true;
  #capabilities: Promise<Capabilities> | undefined;

  /**
   * @param address of the instance, with or without a final slash or `/api/v1`
   * @throws Error when the address is none, or the key holds what no header can carry
   */
  constructor(address: string, apiKey: string, options: N8nApiOptions = {}) {
    if (!/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new Error('The API key holds characters that no HTTP header can carry; copy it from n8n again.');
    }
    this.#transport = new N8nTransport(`${instanceAddress(address)}/api/v1`, apiKey, options);
    this.#writer = new WorkflowWriter(this.#transport);
  }

  /** What was sent so far. */
  get requestCounts(): RequestCounts {
    return this.#transport.counts;
  }

  /** What this instance can do, asked for once; what was `unknown` is known once it was tried. */
  async capabilities(): Promise<Capabilities> {
    this.#capabilities ??= detectCapabilities(this.#transport);
    try {
      return { ...(await this.#capabilities), ...this.#tried };
    } catch (error) {
      this.#capabilities = undefined;
      throw error;
    }
  }

  /** All workflows, archived ones too, every page. An answer that is no list is an error, never "none". */
  async listWorkflows(): Promise<N8nWorkflow[]> {
    return await this.#workflows({});
  }

  /** The workflows with exactly this name, however many there are. */
  async workflowsNamed(name: string): Promise<N8nWorkflow[]> {
    return (await this.#workflows({ name })).filter((workflow) => workflow.name === name);
  }

  /** @returns undefined when there is none */
  async getWorkflow(id: string): Promise<N8nWorkflow | undefined> {
    const answer = await unlessGone(this.#transport, read('workflow:read', `/workflows/${slot(id)}`));
    return answer === undefined ? undefined : readWorkflow(answer);
  }

  /** @throws N8nApiError `outcome_unknown` when the answer was lost; the workflow may be there or not */
  async createWorkflow(wanted: WorkflowBody): Promise<WrittenWorkflow> {
    return await this.#writer.write(
      { method: 'POST', path: '/workflows', scope: 'workflow:create', kind: 'create' },
      wanted,
      {},
    );
  }

  /**
   * Replaces name, nodes and connections. Settings that are not mentioned stay as they are.
   *
   * n8n saves what an active workflow is to become before it tries to run it: after `rejected` or `conflict` the
   * workflow may hold the new nodes. On 2.x the version before keeps running, on 1.100.1 nothing does.
   *
   * @param existing its settings as listed; looked up when left out
   */
  async updateWorkflow(id: string, wanted: WorkflowBody, existing?: object): Promise<WrittenWorkflow> {
    const path = `/workflows/${slot(id)}`;
    const kept =
      existing ?? readWorkflow(await this.#transport.request(read('workflow:read', path))).settings;
    return await this.#writer.write(
      { method: 'PUT', path, scope: 'workflow:update', kind: 'write' },
      wanted,
      kept,
    );
  }

  /**
   * n8n 2.x answers before the endpoint is there, and also when it never will be; where the path is another
   * workflow's it says so. 1.100.1 takes the path over without a word.
   */
  async activateWorkflow(id: string): Promise<N8nWorkflow> {
    // Releases between 2.4 and 2.14 read fields of the body without asking whether there is one.
    const call = { ...step(id, 'activate', 'workflow:activate'), body: {} };
    return readWorkflow(await this.#transport.request(call));
  }

  async deactivateWorkflow(id: string): Promise<N8nWorkflow> {
    return readWorkflow(await this.#transport.request(step(id, 'deactivate', 'workflow:deactivate')));
  }

  async archiveWorkflow(id: string): Promise<Supported> {
    const outcome = await ifSupported(this.#transport, step(id, 'archive', 'workflow:delete'));
    this.#tried.hasArchive = outcome === 'done';
    return outcome;
  }

  /** One that is not archived is no fault. */
  async unarchiveWorkflow(id: string): Promise<Supported> {
    try {
      const outcome = await ifSupported(this.#transport, step(id, 'unarchive', 'workflow:delete'));
      this.#tried.hasArchive = outcome === 'done';
      return outcome;
    } catch (error) {
      if (failedWith(error, 'rejected') && /is not archived/i.test(error.message)) return 'done';
      throw error;
    }
  }

  /** @throws N8nApiError `conflict` from 2.x while the workflow is published or is just being unpublished */
  async deleteWorkflow(id: string): Promise<void> {
    await this.#transport.request(remove(`/workflows/${slot(id)}`, 'workflow:delete'));
  }

  async listTags(): Promise<N8nTag[]> {
    return await listAll(this.#transport, {
      path: '/tags',
      scope: 'tag:list',
      what: 'tags',
      read: readTag,
    });
  }

  /** @throws N8nApiError `conflict` when there is one, and for a name that n8n does not take (1 to 24 characters) */
  async createTag(name: string): Promise<N8nTag> {
    const answer = await this.#transport.request({
      method: 'POST',
      path: '/tags',
      body: { name },
      scope: 'tag:create',
      kind: 'create',
    });
    return readMade(answer, 'the tag', readTag);
  }

  /** Exactly these tags from now on. @returns them */
  async setWorkflowTags(id: string, tagIds: readonly string[]): Promise<N8nTag[]> {
    const answer = await this.#transport.request({
      method: 'PUT',
      path: `/workflows/${slot(id)}/tags`,
      body: tagIds.map((tagId) => ({ id: tagId })),
      scope: 'workflowTags:update',
      kind: 'write',
    });
    return listOf(answer, 'tags').map(readTag);
  }

  async deleteTag(id: string): Promise<void> {
    await this.#transport.request(remove(`/tags/${slot(id)}`, 'tag:delete'));
  }

  /** All credentials without what is in them; `unsupported` before 2.8. */
  async listCredentials(): Promise<N8nCredential[] | 'unsupported'> {
    try {
      return await listAll(this.#transport, {
        path: '/credentials',
        scope: 'credential:list',
        what: 'credentials',
        read: readCredential,
      });
    } catch (error) {
      if (failedWith(error, 'method_not_supported')) return 'unsupported';
      throw error;
    }
  }

  /**
   * The credentials that no workflow uses, from n8n's security audit, which every release has. It reads everything
   * that n8n holds: for the clean-up after an interrupted run, not for every run.
   */
  async unusedCredentials(): Promise<UnusedCredential[]> {
    const answer = await this.#transport.request({
      method: 'POST',
      path: '/audit',
      body: { additionalOptions: { categories: ['credentials'] } },
      scope: 'securityAudit:generate',
      kind: 'read',
    });
    return unusedIn(answer);
  }

  /** @throws N8nApiError `outcome_unknown` when the answer was lost; the credential may be there or not */
  async createCredential(name: string, type: string, data: object): Promise<N8nCredential> {
    const answer = await this.#transport.request({
      method: 'POST',
      path: '/credentials',
      body: { name, type, data },
      scope: 'credential:create',
      kind: 'create',
      secrets: textsIn(data),
    });
    return readMade(answer, 'the credential', readCredential);
  }

  /** `data` replaces all that was in it. `unsupported` before 2.4. */
  async updateCredential(
    id: string,
    { name, data }: { readonly name?: string; readonly data?: object },
  ): Promise<Supported> {
    const outcome = await ifSupported(this.#transport, {
      method: 'PATCH',
      path: `/credentials/${slot(id)}`,
      body: { ...(name === undefined ? {} : { name }), ...(data === undefined ? {} : { data }) },
      scope: 'credential:update',
      kind: 'write',
      secrets: textsIn(data),
    });
    this.#tried.canUpdateCredentials = outcome === 'done';
    return outcome;
  }

  async deleteCredential(id: string): Promise<void> {
    await this.#transport.request(remove(`/credentials/${slot(id)}`, 'credential:delete'));
  }

  /** The JSON Schema of a credential's data; undefined when n8n does not know the type: the pack is not installed. */
  async credentialSchema(type: string): Promise<JsonObject | undefined> {
    const answer = await unlessGone(this.#transport, read('none', `/credentials/schema/${slot(type)}`));
    return answer === undefined ? undefined : objectOf(answer, 'the schema of a credential');
  }

  /** Without what people pinned to nodes for trying out: it can be large, and is nobody else's business. */
  async #workflows(filter: Readonly<Record<string, string>>): Promise<N8nWorkflow[]> {
    const pages = async (more: Readonly<Record<string, string>>) =>
      await listAll(this.#transport, {
        path: '/workflows',
        scope: 'workflow:list',
        what: 'workflows',
        read: readWorkflow,
        filter: { ...more, ...filter },
      });
    if (!this.#excludesPinnedData) return await pages({});
    try {
      return await pages({ excludePinnedData: 'true' });
    } catch (error) {
      if (!failedWith(error, 'rejected') || !error.message.includes('excludePinnedData')) throw error;
      this.#excludesPinnedData = false;
      return await pages({});
    }
  }
}

/**
 * The address of an n8n instance without `/api/v1` and without a final slash.
 *
 * @throws Error when it is no http or https address
 */
export function instanceAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Error('The address of n8n must be an http or https address such as https://n8n.example.com.');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}
