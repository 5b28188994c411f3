import { NODE_TYPES, TRIGGER_NODE_NAME, type WorkflowNode } from '../../core/contract/render';
import type { JsonObject, N8nWorkflow, WorkflowBody } from '../n8n/publicApi';
import type { ManagedWorkflow } from './workflow';

/**
 * What is written over an existing workflow: ours, with what a person may add kept: where nodes stand on the canvas and
 * what is noted at them, nodes of their own that are not tools of the trigger, and what those and the trigger's output
 * lead to.
 */
export function mergedInto(observed: N8nWorkflow, wanted: ManagedWorkflow): WorkflowBody {
  const own = new Set<unknown>(wanted.nodes.map(({ name }) => name));
  const kept = peoplesNodes(observed, own);
  const keptNames = new Set(kept.map((node) => node['name']));
  const nodes = wanted.nodes.map((node) => {
    const before = observed.nodes.find((one) => one['name'] === node.name);
    return before ? { ...node, ...personal(before), parameters: sized(before, node) } : node;
  });
  const main = mainOutput(observed, keptNames);
  const theirs = Object.entries(observed.connections).filter(([name]) => keptNames.has(name));
  const names = new Set([...own, ...keptNames]);
  return {
    ...wanted,
    nodes: [...nodes, ...kept],
    connections: {
      ...Object.fromEntries(theirs.map(([name, outputs]) => [name, leadingTo(outputs, names)])),
      ...wanted.connections,
      ...(main === undefined ? {} : { [TRIGGER_NODE_NAME]: { main } }),
    },
  };
}

/** What does not change what a node does. */
const PERSONAL = ['position', 'notes', 'notesInFlow'];

function personal(before: JsonObject): Partial<WorkflowNode> {
  return Object.fromEntries(PERSONAL.filter((key) => key in before).map((key) => [key, before[key]]));
}

/** A note keeps its size and colour; what is in it is ours. */
function sized(before: JsonObject, { type, parameters }: WorkflowNode): Record<string, unknown> {
  if (type !== NODE_TYPES.stickyNote) return parameters;
  return { ...parameters, ...(before['parameters'] as object | undefined), content: parameters['content'] };
}

/** Nodes that are not ours and give the trigger no tool. */
function peoplesNodes({ nodes, connections }: N8nWorkflow, own: ReadonlySet<unknown>): JsonObject[] {
  return nodes.filter((node) => {
    const name = String(node['name']);
    return !own.has(name) && node['type'] !== NODE_TYPES.trigger && !givesTools(connections, name);
  });
}

/** Whether a node gives the trigger a tool. Tools of an agent that a person has added are that agent's. */
export function givesTools(connections: JsonObject, name: string): boolean {
  const outputs = connections[name] as Record<string, unknown> | undefined;
  const targets = Array.isArray(outputs?.['ai_tool']) ? (outputs['ai_tool'] as unknown[]).flat() : [];
  return targets.some((target) => nodeOf(target) === TRIGGER_NODE_NAME);
}

function mainOutput({ connections }: N8nWorkflow, kept: ReadonlySet<unknown>): unknown[][] | undefined {
  const outputs = connections[TRIGGER_NODE_NAME] as { main?: unknown } | undefined;
  return Array.isArray(outputs?.main) ? targetsAmong(outputs.main, kept) : undefined;
}

/** A node that goes takes the connections to it along. */
function leadingTo(outputs: unknown, names: ReadonlySet<unknown>): object {
  const kinds = Object.entries((outputs ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    kinds.map(([kind, lists]) => [kind, Array.isArray(lists) ? targetsAmong(lists, names) : lists]),
  );
}

function targetsAmong(lists: readonly unknown[], names: ReadonlySet<unknown>): unknown[][] {
  return lists.map((targets) =>
    Array.isArray(targets) ? (targets as unknown[]).filter((target) => names.has(nodeOf(target))) : [],
  );
}

function nodeOf(target: unknown): unknown {
  return (target as { node?: unknown } | null | undefined)?.node;
}
