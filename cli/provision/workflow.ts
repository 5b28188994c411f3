import {
  NODE_TYPES,
  NOTE_NODE_NAME,
  renderWorkflow,
  TRIGGER_NODE_NAME,
  type WorkflowNode,
} from '../../core/contract/render';
import type { JsonObject, N8nWorkflow, WorkflowBody } from '../n8n/publicApi';
import type { DesiredSurface } from './desired';
import { readLedger, withLedger, type Ledger } from './ledger';

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
  const rendered = renderWorkflow(contract, { owner });
  return {
    ...rendered,
    nodes: rendered.nodes.map((node) => bound(node, recording, credentials, ledger)),
  };
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
    case NODE_TYPES.readTool:
      return {
        ...node,
        ...(credentials ? { credentials: { mcpUpstreamApi: { ...credentials.upstream } } } : {}),
      };
    case NODE_TYPES.stickyNote:
      return { ...node, parameters: { ...node.parameters, content: withLedger(noteOf(node), ledger) } };
    default:
      return node;
  }
}

function noteOf(node: { readonly parameters?: unknown }): string {
  const { content } = (node.parameters ?? {}) as { content?: unknown };
  return typeof content === 'string' ? content : '';
}

/** The ledger that a workflow carries, in whichever of its notes it stands. */
export function ledgerOf({ nodes }: Pick<N8nWorkflow, 'nodes'>): Ledger | undefined {
  const notes = nodes.filter((node) => node['type'] === NODE_TYPES.stickyNote);
  const named = notes.filter((node) => node['name'] === NOTE_NODE_NAME);
  for (const node of [...named, ...notes]) {
    const ledger = readLedger(noteOf(node));
    if (ledger) return ledger;
  }
  return undefined;
}

/** Ids of our credentials that the nodes of a workflow use, whatever its ledger says. */
export function credentialIdsIn(
  { nodes }: Pick<N8nWorkflow, 'nodes'>,
  type: 'mcpConsumersApi' | 'mcpUpstreamApi',
): string[] {
  const ids = nodes.flatMap((node) => {
    const reference = (node['credentials'] as Record<string, { id?: unknown } | undefined> | undefined)?.[
      type
    ];
    return typeof reference?.id === 'string' ? [reference.id] : [];
  });
  return [...new Set(ids)];
}

/** The path that a workflow's trigger serves. */
export function servedPath({ nodes }: Pick<N8nWorkflow, 'nodes'>): string | undefined {
  const trigger = nodes.find((node) => node['type'] === NODE_TYPES.trigger);
  const path = (trigger?.['parameters'] as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? path : undefined;
}

/**
 * What is written over an existing workflow: ours, with what a person may add kept: where nodes stand on the canvas,
 * nodes of their own that are not tools of the trigger, and what those and the trigger's output lead to.
 */
export function mergedInto(observed: N8nWorkflow, wanted: ManagedWorkflow): WorkflowBody {
  const own = new Set(wanted.nodes.map(({ name }) => name));
  const kept = peoplesNodes(observed, own);
  const keptNames = new Set(kept.map((node) => node['name']));
  const nodes = wanted.nodes.map((node) => {
    const before = observed.nodes.find((one) => one['name'] === node.name);
    return before && Array.isArray(before['position'])
      ? { ...node, position: before['position'] as WorkflowNode['position'] }
      : node;
  });
  const main = mainOutput(observed, keptNames);
  return {
    ...wanted,
    nodes: [...nodes, ...kept],
    connections: {
      ...Object.fromEntries(Object.entries(observed.connections).filter(([name]) => keptNames.has(name))),
      ...wanted.connections,
      ...(main === undefined ? {} : { [TRIGGER_NODE_NAME]: { main } }),
    },
  };
}

/** Nodes that are not ours and give the trigger no tool. */
function peoplesNodes({ nodes, connections }: N8nWorkflow, own: ReadonlySet<string>): JsonObject[] {
  return nodes.filter((node) => {
    const name = String(node['name']);
    return !own.has(name) && node['type'] !== NODE_TYPES.trigger && !givesTools(connections, name);
  });
}

/** Whether a node is connected as a tool. */
export function givesTools(connections: JsonObject, name: string): boolean {
  const outputs = connections[name] as Record<string, unknown> | undefined;
  return Array.isArray(outputs?.['ai_tool']) && outputs['ai_tool'].flat().length > 0;
}

function mainOutput({ connections }: N8nWorkflow, kept: ReadonlySet<unknown>): unknown[][] | undefined {
  const outputs = connections[TRIGGER_NODE_NAME] as { main?: unknown } | undefined;
  if (!Array.isArray(outputs?.main)) return undefined;
  return outputs.main.map((targets: unknown) =>
    Array.isArray(targets) ? (targets as { node?: unknown }[]).filter(({ node }) => kept.has(node)) : [],
  );
}
