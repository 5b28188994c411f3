import { createHash } from 'node:crypto';
import { NODE_TYPES, NOTE_NODE_NAME, type WorkflowNode } from '../../core/contract/render';
import type { JsonObject, N8nWorkflow, WorkflowBody } from '../n8n/publicApi';
import type { OperatorClient } from '../operator/schema';
import { withClientLedger, type ClientLedger } from './clientLedger';
import { withoutLedger } from './ledger';

export const CLIENT_NODE_TYPES = {
  tool: 'n8n-nodes-mcp-curated.mcpAllowlistClientTool',
  action: 'n8n-nodes-mcp-curated.mcpAllowlistClient',
} as const;

const CREDENTIAL = 'mcpAllowlistClientApi';

/** A node of a client workflow, and which of its parameters are ours; all others are a person's. */
export interface ManagedNode {
  readonly node: WorkflowNode;
  readonly managed: readonly string[];
  /** Whether the node is put in when it is missing, and else left alone. */
  readonly isOffer: boolean;
}

export interface ClientWorkflow {
  readonly name: string;
  readonly clientId: string;
  readonly nodes: readonly ManagedNode[];
  /** Connections that are put in together with the nodes that they lead from. */
  readonly connections: Readonly<
    Record<string, Record<string, { node: string; type: string; index: number }[][]>>
  >;
}

const AGENT = 'AI Agent';
const CHAT = 'When chat message received';
const START = 'When clicking Execute';
const TOOLS = 'MCP Allowlist Client';

/**
 * A client workflow: the nodes that hold the pins, and around them what a person needs to go on with. The tools are
 * exactly the pinned ones. A chat model, prompts, arguments and everything else are a person's and stay as they are.
 */
export function clientWorkflow(
  client: OperatorClient,
  name: string,
  credential: { id: string; name: string },
  ledger: ClientLedger,
): ClientWorkflow {
  const note = offered(client, NOTE_NODE_NAME, NODE_TYPES.stickyNote, 1, [-420, -120], {
    content: withClientLedger(noteText(client), ledger),
    height: 420,
    width: 360,
  });
  const notes = { ...note, managed: ['content'], isOffer: false };
  const parts =
    client.kind === 'agent' ? agentParts(client, credential, notes) : callParts(client, credential, notes);
  return { name, clientId: client.id, ...parts };
}

type Parts = Pick<ClientWorkflow, 'nodes' | 'connections'>;

function agentParts(
  client: OperatorClient,
  credential: { id: string; name: string },
  note: ManagedNode,
): Parts {
  const chat = offered(client, CHAT, '@n8n/n8n-nodes-langchain.chatTrigger', 1.1, [0, 0], { options: {} });
  const tool = withCredential(
    offered(client, TOOLS, CLIENT_NODE_TYPES.tool, 1, [320, 240], {
      server: client.provider.server,
      tools: [...client.tools],
      options: optionsOf(client),
    }),
    credential,
  );
  return {
    nodes: [
      note,
      { ...chat, node: { ...chat.node, webhookId: stableId(client.id, 'webhook') } },
      offered(client, AGENT, '@n8n/n8n-nodes-langchain.agent', 2, [260, 0], { options: {} }),
      { ...tool, managed: ['server', 'tools', 'options.cataloguePin'], isOffer: false },
    ],
    connections: {
      [CHAT]: { main: [[{ node: AGENT, type: 'main', index: 0 }]] },
      [TOOLS]: { ai_tool: [[{ node: AGENT, type: 'ai_tool', index: 0 }]] },
    },
  };
}

function callParts(
  client: OperatorClient,
  credential: { id: string; name: string },
  note: ManagedNode,
): Parts {
  const calls = client.tools.map((pin, index): ManagedNode => {
    const tool = pin.slice(0, pin.lastIndexOf('@'));
    const call = offered(client, `Call ${tool}`, CLIENT_NODE_TYPES.action, 1, [260, index * 180], {
      resource: 'tool',
      operation: 'call',
      server: client.provider.server,
      tool: { __rl: true, mode: 'id', value: pin },
      arguments: '{}',
      options: optionsOf(client),
    });
    const managed = ['resource', 'operation', 'server', 'tool', 'options.cataloguePin'];
    return { ...withCredential(call, credential), managed, isOffer: false };
  });
  return {
    nodes: [note, offered(client, START, 'n8n-nodes-base.manualTrigger', 1, [0, 0], {}), ...calls],
    connections: {
      [START]: { main: [calls.map(({ node }) => ({ node: node.name, type: 'main', index: 0 }))] },
    },
  };
}

function optionsOf({ catalogue_pin }: OperatorClient): Record<string, unknown> {
  return catalogue_pin === undefined ? {} : { cataloguePin: catalogue_pin };
}

function offered(
  client: OperatorClient,
  name: string,
  type: string,
  typeVersion: number,
  position: [number, number],
  parameters: Record<string, unknown>,
): ManagedNode {
  const node = { id: stableId(client.id, name), name, type, typeVersion, position, parameters };
  return { node, managed: [], isOffer: true };
}

function withCredential(one: ManagedNode, { id, name }: { id: string; name: string }): ManagedNode {
  return { ...one, node: { ...one.node, credentials: { [CREDENTIAL]: { id, name } } } };
}

function noteText({ id, kind, provider, tools }: OperatorClient): string {
  return [
    `## Client ${id}, managed by mcp-curated`,
    '',
    `Uses ${provider.server} under pins: ${tools.map((pin) => pin.slice(0, pin.lastIndexOf('@'))).join(', ')}. Change the operator file, not these nodes; everything else in this workflow is yours and stays.`,
    ...(kind === 'agent' ? ['', '**To use it:** connect a chat model to the AI Agent, then activate.'] : []),
  ].join('\n');
}

/** A UUID that depends on nothing but the names, in the shape of version 8 (RFC 9562: custom). */
function stableId(clientId: string, part: string): string {
  const hex = createHash('sha256').update(`client\n${clientId}\n${part}`).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}

/** The value of a parameter by its path, such as `options.cataloguePin`; a note counts without its ledger. */
export function parameterAt(node: JsonObject | WorkflowNode, at: string): unknown {
  let value: unknown = node.parameters;
  for (const key of at.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  return node.type === NODE_TYPES.stickyNote && typeof value === 'string' ? withoutLedger(value) : value;
}

/** Nodes of ours that hold a pin which is not wanted any more, by the id that we gave them. */
export function staleNodes(observed: N8nWorkflow, { clientId, nodes }: ClientWorkflow): JsonObject[] {
  const types: readonly unknown[] = Object.values(CLIENT_NODE_TYPES);
  return observed.nodes.filter(
    ({ id, name, type }) =>
      types.includes(type) &&
      id === stableId(clientId, String(name)) &&
      !nodes.some(({ node }) => node.name === name),
  );
}

/** Connections without those that lead from or to some nodes. */
function withoutNodes(connections: JsonObject, gone: ReadonlySet<unknown>): JsonObject {
  if (gone.size === 0) return connections;
  const targets = (outputs: unknown) =>
    (outputs as ({ node?: unknown }[] | null)[]).map(
      (output) => output?.filter(({ node }) => !gone.has(node)) ?? [],
    );
  return Object.fromEntries(
    Object.entries(connections)
      .filter(([from]) => !gone.has(from))
      .map(([from, kinds]) => [
        from,
        Object.fromEntries(Object.entries(kinds as object).map(([kind, all]) => [kind, targets(all)])),
      ]),
  );
}

/** What is written over an existing client workflow: its own nodes with our parameters set, and nothing else changed. */
export function clientMergedInto(observed: N8nWorkflow, wanted: ClientWorkflow): WorkflowBody {
  const { name, nodes, connections } = wanted;
  const stale = staleNodes(observed, wanted);
  const isThere = (node: WorkflowNode) => observed.nodes.some((one) => one['name'] === node.name);
  const remaining = observed.nodes.filter((node) => !stale.includes(node));
  const kept = remaining.map((before) => {
    const ours = nodes.find(({ node }) => node.name === before['name']);
    return ours && !ours.isOffer ? merged(before, ours) : before;
  });
  const added = nodes.filter(({ node }) => !isThere(node)).map(({ node }) => node);
  const names = new Set(added.map((node) => node.name));
  const left = withoutNodes(observed.connections, new Set(stale.map((node) => node['name'])));
  const joined = Object.entries(connections).map(([from, outputs]) => [
    from,
    names.has(from) || !hasOutput(left[from]) ? outputs : withTargets(left[from], outputs, names),
  ]);
  return {
    name,
    nodes: [...kept, ...added],
    connections: { ...left, ...(Object.fromEntries(joined) as object) },
    settings: {},
  };
}

/** A person's connections of a node, and what leads from it to nodes that are new. */
function withTargets(
  before: unknown,
  wanted: ClientWorkflow['connections'][string],
  added: ReadonlySet<string>,
): object {
  const merged = structuredClone((before ?? {}) as Record<string, unknown[][]>);
  for (const [type, outputs] of Object.entries(wanted)) {
    const targets = outputs.flat().filter(({ node }) => added.has(node));
    if (targets.length === 0) continue;
    const [first = [], ...others] = merged[type] ?? [];
    merged[type] = [[...first, ...targets], ...others];
  }
  return merged;
}

function merged(before: JsonObject, { node, managed }: ManagedNode): JsonObject {
  const parameters = structuredClone((before['parameters'] ?? {}) as Record<string, unknown>);
  for (const at of managed) setAt(parameters, at, rawAt(node.parameters, at));
  return {
    ...before,
    type: node.type,
    typeVersion: node.typeVersion,
    parameters,
    ...(node.credentials
      ? { credentials: { ...(before['credentials'] as object | undefined), ...node.credentials } }
      : {}),
    disabled: false,
  };
}

function rawAt(parameters: Record<string, unknown>, at: string): unknown {
  let value: unknown = parameters;
  for (const key of at.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  return value;
}

function setAt(parameters: Record<string, unknown>, at: string, value: unknown): void {
  const keys = at.split('.');
  const last = keys.pop() ?? '';
  let container = parameters;
  for (const key of keys) container = (container[key] ??= {}) as Record<string, unknown>;
  if (value === undefined) Reflect.deleteProperty(container, last);
  else container[last] = value;
}

export function hasOutput(outputs: unknown): boolean {
  return Object.values((outputs ?? {}) as Record<string, unknown>).some(
    (targets) => Array.isArray(targets) && targets.flat().length > 0,
  );
}
