import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_TYPES, renderWorkflow, type RenderedWorkflow } from '../../core/contract/render';
import type { Contract } from '../../core/contract/schema';
import type { UpstreamCredential } from '../../core/upstream/access';
import { N8nApiError, type N8nPublicApi } from './publicApi';

/** One row of the consumers credential. n8n gets the hash, never the bearer. */
export interface ConsumerGrant {
  readonly id: string;
  readonly tokenSha256: string;
  readonly tools: readonly string[];
}

export interface PublishedSurface {
  readonly workflowId: string;
  readonly workflowName: string;
  readonly credentialIds: readonly string[];
}

export interface SurfaceWishes {
  readonly contract: Contract;
  /** Marker in the workflow's name, `<owner>:<application_id>`. */
  readonly owner: string;
  readonly consumers: readonly ConsumerGrant[];
  readonly upstream: UpstreamCredential;
}

/**
 * Makes a surface that is not there yet: two credentials, the workflow bound to them, activation, and a look whether
 * the endpoint answers. What was made is taken away again when a later step fails, so that nothing is left half done.
 *
 * @param endpoint address of the surface as this process reaches it
 * @throws Error when a workflow of that name exists, when somebody else serves the path, or when the surface does not
 *   come up; N8nApiError what n8n refused
 */
export async function publishSurface(
  api: N8nPublicApi,
  endpoint: string,
  wishes: SurfaceWishes,
): Promise<PublishedSurface> {
  const workflow = renderWorkflow(wishes.contract, { owner: wishes.owner });
  const existing = (await api.listWorkflows()).filter(({ name }) => name === workflow.name);
  if (existing.length > 0) {
    const ids = existing.map(({ id }) => id).join(', ');
    throw new Error(`A workflow named ${workflow.name} exists already (${ids}); remove it first.`);
  }
  // n8n 1.x lets a second workflow take a path over without a word.
  if ((await statusOf(endpoint)) !== NOT_SERVED) {
    throw new Error(
      `Another workflow serves /mcp/${wishes.contract.endpoint.path} already; deactivate it first.`,
    );
  }
  const undo: Step[] = [];
  try {
    const consumers = await api.createCredential(`${workflow.name} consumers`, 'mcpConsumersApi', {
      consumers: {
        values: wishes.consumers.map(({ tools, ...grant }) => ({ ...grant, tools: tools.join(', ') })),
      },
    });
    undo.unshift(() => api.deleteCredential(consumers.id));
    const upstream = await api.createCredential(
      `${workflow.name} upstream`,
      'mcpUpstreamApi',
      wishes.upstream,
    );
    undo.unshift(() => api.deleteCredential(upstream.id));
    const { id } = await api.createWorkflow(bind(workflow, consumers, upstream));
    undo.unshift(
      () => api.deactivateWorkflow(id),
      () => api.deleteWorkflow(id),
    );
    await api.activateWorkflow(id);
    await waitUntilServed(endpoint, workflow.name);
    return { workflowId: id, workflowName: workflow.name, credentialIds: [consumers.id, upstream.id] };
  } catch (error) {
    for (const step of undo) await untilDone(step).catch(() => undefined);
    throw error;
  }
}

/** Takes a published surface away: first the endpoint, then the credentials. What is gone already is no fault. */
export async function withdrawSurface(api: N8nPublicApi, surface: PublishedSurface): Promise<void> {
  await untilDone(() => api.deactivateWorkflow(surface.workflowId));
  await untilDone(() => api.deleteWorkflow(surface.workflowId));
  for (const id of surface.credentialIds) await untilDone(() => api.deleteCredential(id));
}

type Step = () => Promise<void>;

const NOT_SERVED = 404;
const POLL_MS = 300;
/** n8n 2.x publishes in the background and retries for 15 seconds; while it does, it refuses to delete. */
const BACKGROUND_LIMIT_MS = 25_000;

/** n8n 2.x answers that a workflow is active before its endpoint is there, and also when it never will be. */
async function waitUntilServed(endpoint: string, name: string): Promise<void> {
  const deadline = Date.now() + BACKGROUND_LIMIT_MS;
  let status = await statusOf(endpoint);
  while (status === NOT_SERVED && Date.now() < deadline) {
    await sleep(POLL_MS);
    status = await statusOf(endpoint);
  }
  if (status !== 401) {
    throw new Error(
      `${name} was activated but its endpoint answers ${status} instead of asking for a bearer; n8n's log says why.`,
    );
  }
}

/** The status of a request without a bearer: 401 from a surface that works, 404 where nothing is served. */
async function statusOf(endpoint: string): Promise<number> {
  const response = await fetch(endpoint, { method: 'POST', redirect: 'manual' });
  await response.arrayBuffer();
  return response.status;
}

async function untilDone(step: Step): Promise<void> {
  const deadline = Date.now() + BACKGROUND_LIMIT_MS;
  for (;;) {
    try {
      await step();
      return;
    } catch (error) {
      const status = error instanceof N8nApiError ? error.status : undefined;
      if (status === 404) return;
      if (status !== 409 || Date.now() > deadline) throw error;
      await sleep(POLL_MS);
    }
  }
}

function bind(
  workflow: RenderedWorkflow,
  consumers: { id: string; name: string },
  upstream: { id: string; name: string },
): RenderedWorkflow {
  const reference = ({ id, name }: { id: string; name: string }) => ({ id, name });
  return {
    ...workflow,
    nodes: workflow.nodes.map((node) => {
      if (node.type === NODE_TYPES.trigger)
        return { ...node, credentials: { mcpConsumersApi: reference(consumers) } };
      if (node.type === NODE_TYPES.readTool)
        return { ...node, credentials: { mcpUpstreamApi: reference(upstream) } };
      return node;
    }),
  };
}
