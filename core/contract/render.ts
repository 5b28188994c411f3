import { createHash } from 'node:crypto';
import { definitionOf } from './definition';
import type { Contract } from './schema';
import { surfaceOf } from './surface';
import { UPSTREAM_FACES, upstreamFaceOf } from './upstreamFaces';

/** The node types of this pack as n8n names them after installation. */
export const NODE_TYPES = {
  trigger: 'n8n-nodes-mcp-curated.mcpBearerServerTrigger',
  readTool: UPSTREAM_FACES.web.node,
  stickyNote: 'n8n-nodes-base.stickyNote',
} as const;

export const TRIGGER_NODE_NAME = 'MCP Bearer Server Trigger';
export const NOTE_NODE_NAME = 'About this workflow';

/** Owner marker in the name of a workflow that no operator file names. */
export const DEFAULT_OWNER = 'mcp-curated';

export interface WorkflowNode {
  id: string;
  name: string;
  type: string;
  typeVersion: number;
  position: [number, number];
  parameters: Record<string, unknown>;
  webhookId?: string;
  credentials?: Record<string, { id: string; name: string }>;
}

/** Exactly the keys that every supported release accepts in a write. */
export interface RenderedWorkflow {
  name: string;
  nodes: WorkflowNode[];
  connections: Record<string, { ai_tool: { node: string; type: 'ai_tool'; index: number }[][] }>;
  settings: { executionOrder: 'v1' };
}

export interface RenderOptions {
  /** Marker before the application id in the workflow's name: `<owner>:<application_id>`. */
  readonly owner?: string;
}

/**
 * The workflow of a contract: one trigger with the pinned surface, one Read Tool per operation, one note. The same
 * contract always gives the same bytes: ids are derived, nothing is dated. Credentials are left out; the operator
 * (or the CLI) chooses the two.
 */
export function renderWorkflow(
  contract: Contract,
  { owner = DEFAULT_OWNER }: RenderOptions = {},
): RenderedWorkflow {
  const surface = surfaceOf(contract);
  const id = (node: string) => stableUuid(contract.application_id, node);
  const tools = contract.operations.map((operation, index): WorkflowNode => ({
    id: id(operation.name),
    name: operation.name,
    type: upstreamFaceOf(contract.adapter).node,
    typeVersion: 1,
    position: [index * 220, 320],
    parameters: { definition: JSON.stringify(definitionOf(contract, operation), null, 2) },
  }));
  const trigger: WorkflowNode = {
    id: id(TRIGGER_NODE_NAME),
    name: TRIGGER_NODE_NAME,
    type: NODE_TYPES.trigger,
    typeVersion: 2,
    position: [0, 0],
    parameters: {
      httpMethod: 'POST',
      path: contract.endpoint.path,
      serve: 'contract',
      surface: JSON.stringify(surface, null, 2),
      recording: 'refusals',
      // n8n answers a preflight by itself, and lets the page of any origin pass where this is empty.
      options: { allowedOrigins: 'none' },
    },
    webhookId: id('webhook'),
  };
  const note: WorkflowNode = {
    id: id(NOTE_NODE_NAME),
    name: NOTE_NODE_NAME,
    type: NODE_TYPES.stickyNote,
    typeVersion: 1,
    position: [-520, -140],
    parameters: { content: noteText(contract, surface.contract_sha256), height: 640, width: 440 },
  };
  return {
    name: `${owner}:${contract.application_id}`,
    nodes: [note, trigger, ...tools],
    connections: Object.fromEntries(
      tools.map((tool) => [
        tool.name,
        { ai_tool: [[{ node: TRIGGER_NODE_NAME, type: 'ai_tool', index: 0 }]] },
      ]),
    ),
    settings: { executionOrder: 'v1' },
  };
}

/** `workflow.json` as it is checked in. */
export function renderWorkflowFile(contract: Contract): string {
  return `${JSON.stringify(renderWorkflow(contract), null, 2)}\n`;
}

function noteText(contract: Contract, contractHash: string): string {
  return [
    `## ${contract.name} for AI agents, read only`,
    '',
    `Rendered from \`workflows/${contract.application_id}/contract.yml\` (tested with ${contract.upstream.name} ${contract.upstream.version}). Change the contract, not this workflow: a hand edit of a tool fails closed as schema_drift.`,
    '',
    `**Tools:** ${contract.operations.map((operation) => operation.name).join(', ')}`,
    '',
    '**To use it by hand:** choose a consumers credential in the trigger and an upstream credential in every tool, then activate.',
    '',
    `**Upstream identity:** ${contract.identity.trim()}`,
    '',
    `Contract ${contractHash}`,
  ].join('\n');
}

/** A UUID that depends on nothing but the names, in the shape of version 8 (RFC 9562: custom). */
function stableUuid(applicationId: string, part: string): string {
  const hex = createHash('sha256').update(`${applicationId}\n${part}`).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
