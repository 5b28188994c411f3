import {
  NODE_TYPES,
  NOTE_NODE_NAME,
  renderWorkflow,
  type RenderedWorkflow,
  type WorkflowNode,
} from '../../core/contract/render';
import type { Contract } from '../../core/contract/schema';
import { credentialTypeOf, type UpstreamFace } from '../../core/contract/upstreamFaces';
import type { N8nWorkflow, WorkflowBody } from '../n8n/publicApi';
import { surfaceName, type DesiredSurface } from './desired';
import { readLedger, withLedger, type Ledger } from './ledger';

export { givesTools, mergedInto } from './merge';

export interface CredentialReference {
  readonly id: string;
  readonly name: string;
}

export interface SurfaceCredentials {
  readonly consumers: CredentialReference;
  readonly upstream: CredentialReference;
}

/** A managed workflow as it is written. */
export interface ManagedWorkflow extends WorkflowBody {
  readonly nodes: readonly WorkflowNode[];
  readonly connections: Record<string, Record<string, unknown>>;
}

/**
 * The workflow of a surface, bound to its credentials and with the ledger in its note.
 *
 * @param credentials `undefined` for a surface that is out of service
 */
export function managedWorkflow(
  { contract, name, recording }: Pick<DesiredSurface, 'contract' | 'name' | 'recording'>,
  credentials: SurfaceCredentials | undefined,
  ledger: Ledger,
): ManagedWorkflow {
  const [owner = ''] = name.split(':');
  const rendered = renderedOf(contract, owner);
  return {
    ...rendered,
    nodes: rendered.nodes.map((node) => bound(node, recording, credentials, ledger)),
  };
}

/** A run renders the workflow of a contract for its plan and for each write; the pins in it cost most of a plan. */
const renderings = new WeakMap<Contract, RenderedWorkflow>();

function renderedOf(contract: Contract, owner: string): RenderedWorkflow {
  const known = renderings.get(contract);
  if (known?.name === surfaceName(owner, contract.application_id)) return known;
  const rendered = renderWorkflow(contract, { owner });
  renderings.set(contract, rendered);
  return rendered;
}

function bound(
  node: WorkflowNode,
  recording: DesiredSurface['recording'],
  credentials: SurfaceCredentials | undefined,
  ledger: Ledger,
): WorkflowNode {
  switch (node.type) {
    case NODE_TYPES.trigger:
      return {
        ...node,
        parameters: { ...node.parameters, recording },
        ...(credentials ? { credentials: { mcpConsumersApi: { ...credentials.consumers } } } : {}),
      };
    case NODE_TYPES.stickyNote:
      return { ...node, parameters: { ...node.parameters, content: withLedger(noteOf(node), ledger) } };
    default: {
      const type = credentialTypeOf(node.type);
      if (type === undefined || !credentials) return node;
      return { ...node, credentials: { [type]: { ...credentials.upstream } } };
    }
  }
}

function noteOf(node: { readonly parameters?: unknown }): string {
  const { content } = (node.parameters ?? {}) as { content?: unknown };
  return typeof content === 'string' ? content : '';
}

/** What was read is read once: a plan asks for the ledger of every workflow at every surface. */
const ledgers = new WeakMap<object, { readonly ledger: Ledger | undefined }>();

/** The ledger that a workflow carries, in whichever of its notes it stands. */
export function ledgerOf({ nodes }: Pick<N8nWorkflow, 'nodes'>): Ledger | undefined {
  const known = ledgers.get(nodes);
  if (known) return known.ledger;
  const notes = nodes.filter((node) => node['type'] === NODE_TYPES.stickyNote);
  const named = notes.filter((node) => node['name'] === NOTE_NODE_NAME);
  const ledger = [...named, ...notes]
    .map((node) => readLedger(noteOf(node)))
    .find((one) => one !== undefined);
  ledgers.set(nodes, { ledger });
  return ledger;
}

export type ManagedCredentialType = 'mcpConsumersApi' | UpstreamFace['credential'] | 'mcpAllowlistClientApi';

/**
 * Ids of credentials that the nodes of a workflow use, whatever its ledger says.
 *
 * @param name only those of this name: what a person chose instead is not ours; all when left out
 */
export function credentialIdsIn(
  { nodes }: Pick<N8nWorkflow, 'nodes'>,
  type: ManagedCredentialType,
  name?: string,
): string[] {
  const ids = nodes.flatMap((node) => {
    const references = node['credentials'] as
      Record<string, { id?: unknown; name?: unknown } | undefined> | undefined;
    const reference = references?.[type];
    const isOurs = name === undefined || reference?.name === name;
    return isOurs && typeof reference?.id === 'string' ? [reference.id] : [];
  });
  return [...new Set(ids)];
}

/** The path that a workflow's trigger serves. */
export function servedPath({ nodes }: Pick<N8nWorkflow, 'nodes'>): string | undefined {
  const trigger = nodes.find((node) => node['type'] === NODE_TYPES.trigger);
  const path = (trigger?.['parameters'] as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? path : undefined;
}
