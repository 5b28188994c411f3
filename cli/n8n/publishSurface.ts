import { setTimeout } from 'node:timers/promises';
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
  /** Path of the endpoint below the address of the instance. */
  readonly path: string;
}

export interface SurfaceWishes {
  readonly contract: Contract;
  /** Marker in the workflow's name, `<owner>:<application_id>`. */
  readonly owner: string;
  readonly consumers: readonly ConsumerGrant[];
  readonly upstream: UpstreamCredential;
}

/**
 * Makes a surface that is not there yet: two credentials, the workflow bound to them, activation. What was made is
 * taken away again when a later step fails, so that nothing is left half done.
 *
 * @throws Error when a workflow of that name exists already; it is not touched
 * @throws N8nApiError what n8n refused
 */
export async function publishSurface(api: N8nPublicApi, wishes: SurfaceWishes): Promise<PublishedSurface> {
  const workflow = renderWorkflow(wishes.contract, { owner: wishes.owner });
  const existing = (await api.listWorkflows()).filter(({ name }) => name === workflow.name);
  if (existing.length > 0) {
    throw new Error(
      `A workflow named ${workflow.name} exists already (${existing.map(({ id }) => id).join(', ')}); remove it first.`,
    );
  }
  const undo: (() => Promise<void>)[] = [];
  try {
    const consumers = await api.createCredential(`${workflow.name} consumers`, 'mcpConsumersApi', {
      consumers: {
        values: wishes.consumers.map(({ tools, ...grant }) => ({ ...grant, tools: tools.join(', ') })),
      },
    });
    undo.unshift(async () => {
      await api.deleteCredential(consumers.id);
    });
    const upstream = await api.createCredential(
      `${workflow.name} upstream`,
      'mcpUpstreamApi',
      wishes.upstream,
    );
    undo.unshift(async () => {
      await api.deleteCredential(upstream.id);
    });
    const { id } = await api.createWorkflow(bind(workflow, consumers, upstream));
    undo.unshift(async () => {
      await api.deleteWorkflow(id);
    });
    await api.activateWorkflow(id);
    return {
      workflowId: id,
      workflowName: workflow.name,
      credentialIds: [consumers.id, upstream.id],
      path: `/mcp/${wishes.contract.endpoint.path}`,
    };
  } catch (error) {
    for (const step of undo) await step().catch(() => undefined);
    throw error;
  }
}

const BUSY_RETRY_MS = 300;
const BUSY_TRIES = 30;

/** Takes a published surface away: first the endpoint, then the credentials. What is gone already is no fault. */
export async function withdrawSurface(api: N8nPublicApi, surface: PublishedSurface): Promise<void> {
  const steps = [
    async () => {
      await api.deactivateWorkflow(surface.workflowId);
    },
    async () => {
      await api.deleteWorkflow(surface.workflowId);
    },
    ...surface.credentialIds.map((id) => async () => {
      await api.deleteCredential(id);
    }),
  ];
  for (const step of steps) await untilDone(step);
}

/** n8n 2.x unpublishes in the background and answers 409 until that is done. */
async function untilDone(step: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await step();
      return;
    } catch (error) {
      const status = error instanceof N8nApiError ? error.status : undefined;
      if (status === 404) return;
      if (status !== 409 || attempt === BUSY_TRIES) throw error;
      await setTimeout(BUSY_RETRY_MS);
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
