import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_TYPES, renderWorkflow, type RenderedWorkflow } from '../../core/contract/render';
import type { Contract } from '../../core/contract/schema';
import { credentialTypeOf, upstreamFaceOf } from '../../core/contract/upstreamFaces';
import type { UpstreamCredential } from '../../core/upstream/access';
import type { S3Credential } from '../../core/upstream/s3Access';
import type { DatabaseCredential } from '../../core/upstream/sqlAccess';
import { exchange } from './exchange';
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
  readonly upstream: UpstreamCredential | S3Credential | DatabaseCredential;
}

/**
 * Makes a surface that is not there yet: two credentials, the workflow bound to them, activation, and a look whether
 * the endpoint answers. What was made is taken away again when a later step fails, so that nothing is left half done.
 *
 * @param endpoint address of the surface as this process reaches it
 * @param signal when aborted: what was made is taken away again, and the reason is thrown
 * @throws Error when a workflow of that name exists, when somebody else serves the path, when the surface does not
 *   come up, or when something could not be taken away again; N8nApiError what n8n refused
 */
export async function publishSurface(
  api: N8nPublicApi,
  endpoint: string,
  wishes: SurfaceWishes,
  signal?: AbortSignal,
): Promise<PublishedSurface> {
  const workflow = renderWorkflow(wishes.contract, { owner: wishes.owner });
  const names = { consumers: `${workflow.name} consumers`, upstream: `${workflow.name} upstream` };
  const existing = (await api.listWorkflows()).filter(({ name }) => name === workflow.name);
  if (existing.length > 0) {
    const ids = existing.map(({ id }) => id).join(', ');
    throw new Error(
      `A workflow named ${workflow.name} exists already (${ids}); ` +
        `remove it and its two credentials named ${names.consumers} and ${names.upstream} first.`,
    );
  }
  // n8n 1.x lets a second workflow take a path over without a word.
  if ((await statusOf(endpoint, signal)) !== NOT_SERVED) {
    throw new Error(
      `Another workflow serves /mcp/${wishes.contract.endpoint.path} already; deactivate it first.`,
    );
  }
  const undo: Undo[] = [];
  try {
    // A request that writes is never cut off: nobody would know whether it has made something.
    signal?.throwIfAborted();
    const consumers = await api.createCredential(names.consumers, 'mcpConsumersApi', {
      consumers: {
        values: wishes.consumers.map(({ tools, ...grant }) => ({ ...grant, tools: tools.join(', ') })),
      },
    });
    undo.unshift([`credential ${consumers.id}`, () => untilDone(() => api.deleteCredential(consumers.id))]);
    signal?.throwIfAborted();
    const upstream = await api.createCredential(
      names.upstream,
      upstreamFaceOf(wishes.contract.adapter).credential,
      wishes.upstream,
    );
    undo.unshift([`credential ${upstream.id}`, () => untilDone(() => api.deleteCredential(upstream.id))]);
    signal?.throwIfAborted();
    const { id } = await api.createWorkflow(bind(workflow, consumers, upstream));
    undo.unshift([`workflow ${id}`, () => removeWorkflow(api, id)]);
    signal?.throwIfAborted();
    await api.activateWorkflow(id);
    await waitUntilServed(endpoint, workflow.name, signal);
    return { workflowId: id, workflowName: workflow.name, credentialIds: [consumers.id, upstream.id] };
  } catch (error) {
    const left = await undoAll(undo);
    if (left.length === 0) throw error;
    const reason = error instanceof Error ? error.message : 'Publishing failed';
    throw new Error(`${reason}; remove by hand what is left in n8n: ${left.join(', ')}.`, { cause: error });
  }
}

/**
 * Takes a published surface away: first the endpoint, then the credentials. What is gone already is no fault.
 *
 * @throws Error naming what is left
 */
export async function withdrawSurface(api: N8nPublicApi, surface: PublishedSurface): Promise<void> {
  const left = await undoAll([
    [`workflow ${surface.workflowId}`, () => removeWorkflow(api, surface.workflowId)],
    ...surface.credentialIds.map((id): Undo => [
      `credential ${id}`,
      () => untilDone(() => api.deleteCredential(id)),
    ]),
  ]);
  if (left.length > 0) throw new Error(`Remove by hand what is left in n8n: ${left.join(', ')}.`);
}

type Step = () => Promise<unknown>;
type Undo = readonly [what: string, step: Step];

/** Tries every step, also after one has failed. @returns what is left */
async function undoAll(undo: readonly Undo[]): Promise<string[]> {
  const left: string[] = [];
  for (const [what, step] of undo) {
    try {
      await step();
    } catch {
      left.push(what);
    }
  }
  return left;
}

async function removeWorkflow(api: N8nPublicApi, id: string): Promise<void> {
  // One that was never active may refuse this; whether it is gone in the end is what counts.
  await untilDone(() => api.deactivateWorkflow(id)).catch(() => undefined);
  await untilDone(() => api.deleteWorkflow(id));
}

const NOT_SERVED = 404;
const POLL_MS = 300;
const STATUS_LIMIT_MS = 10_000;
/** n8n 2.x publishes in the background and retries for 15 seconds; while it does, it refuses to delete. */
const BACKGROUND_LIMIT_MS = 25_000;

/** n8n 2.x answers that a workflow is active before its endpoint is there, and also when it never will be. */
async function waitUntilServed(endpoint: string, name: string, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + BACKGROUND_LIMIT_MS;
  let status = await statusOf(endpoint, signal);
  while (status === NOT_SERVED && Date.now() < deadline) {
    await sleep(POLL_MS);
    status = await statusOf(endpoint, signal);
  }
  if (status !== 401) {
    throw new Error(
      `${name} was activated but its endpoint answers ${status} instead of asking for a bearer; n8n's log says why.`,
    );
  }
}

/** The status of a request without a bearer: 401 from a surface that works, 404 where nothing is served. */
async function statusOf(endpoint: string, signal?: AbortSignal): Promise<number> {
  signal?.throwIfAborted();
  return (await exchange(endpoint, { method: 'POST', signal: signal ?? null }, STATUS_LIMIT_MS)).status;
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
      const type = credentialTypeOf(node.type);
      return type === undefined ? node : { ...node, credentials: { [type]: reference(upstream) } };
    }),
  };
}
