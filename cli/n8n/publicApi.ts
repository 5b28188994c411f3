import type { RenderedWorkflow } from '../../core/contract/render';
import { foreignText } from '../../core/policy/redaction';
import { exchange } from './exchange';

export interface WorkflowSummary {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
}

/** n8n answered, but not with what was asked for. `status` is 0 when the answer was not the public API's at all. */
export class N8nApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = 'N8nApiError';
  }
}

const PAGE = 100;
const REQUEST_TIMEOUT_MS = 30_000;

/** The calls of n8n's public API (`/api/v1`) that every supported release has. */
export class N8nPublicApi {
  readonly #base: string;
  readonly #apiKey: string;

  /**
   * @param address of the instance, with or without a final slash or `/api/v1`
   * @throws Error when the address is none, or the key holds what no header can carry
   */
  constructor(address: string, apiKey: string) {
    if (!/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new Error('The API key holds characters that no HTTP header can carry; copy it from n8n again.');
    }
    this.#base = `${instanceAddress(address)}/api/v1`;
    this.#apiKey = apiKey;
  }

  /** All workflows, every page. An answer that is no list is an error, never "none". */
  async listWorkflows(): Promise<WorkflowSummary[]> {
    const workflows: WorkflowSummary[] = [];
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ limit: String(PAGE), ...(cursor === null ? {} : { cursor }) });
      const page = await this.#request('GET', `/workflows?${query.toString()}`);
      const { data, nextCursor } = (page ?? {}) as { data?: unknown; nextCursor?: string | null };
      if (!Array.isArray(data)) throw new N8nApiError(0, 'n8n did not answer with a list of workflows.');
      workflows.push(...(data as WorkflowSummary[]));
      if (nextCursor === cursor && cursor !== null) {
        throw new N8nApiError(0, 'n8n answered with the same page of workflows twice.');
      }
      cursor = nextCursor ?? null;
    } while (cursor !== null);
    return workflows;
  }

  async createWorkflow({ name, nodes, connections, settings }: RenderedWorkflow): Promise<WorkflowSummary> {
    return (await this.#request('POST', '/workflows', {
      name,
      nodes,
      connections,
      settings,
    })) as WorkflowSummary;
  }

  async activateWorkflow(id: string): Promise<void> {
    await this.#request('POST', `/workflows/${encodeURIComponent(id)}/activate`);
  }

  async deactivateWorkflow(id: string): Promise<void> {
    await this.#request('POST', `/workflows/${encodeURIComponent(id)}/deactivate`);
  }

  async deleteWorkflow(id: string): Promise<void> {
    await this.#request('DELETE', `/workflows/${encodeURIComponent(id)}`);
  }

  async createCredential(name: string, type: string, data: object): Promise<{ id: string; name: string }> {
    return (await this.#request('POST', '/credentials', { name, type, data })) as {
      id: string;
      name: string;
    };
  }

  async deleteCredential(id: string): Promise<void> {
    await this.#request('DELETE', `/credentials/${encodeURIComponent(id)}`);
  }

  async #request(method: string, path: string, body?: unknown): Promise<unknown> {
    const { status, text } = await exchange(
      this.#base + path,
      {
        method,
        headers: {
          accept: 'application/json',
          'x-n8n-api-key': this.#apiKey,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      REQUEST_TIMEOUT_MS,
    );
    const json = parsed(text);
    if (status < 200 || status > 299) {
      const said = (json as { message?: unknown } | null | undefined)?.message;
      if (typeof said !== 'string') throw notThePublicApi(status);
      const reason = foreignText(said, 300, [this.#apiKey]);
      throw new N8nApiError(status, `n8n answered ${method} ${bare(path)} with ${String(status)}: ${reason}`);
    }
    if (text !== '' && json === undefined) throw notThePublicApi(status);
    return json;
  }
}

function notThePublicApi(status: number): N8nApiError {
  return new N8nApiError(
    0,
    `The answer (${String(status)}) is not JSON of the public API of n8n; check the base address.`,
  );
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function bare(path: string): string {
  return path.split('?')[0] ?? path;
}
