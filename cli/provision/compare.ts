import { NODE_TYPES, type WorkflowNode } from '../../core/contract/render';
import { canonicalJson } from '../../core/contract/canonical';
import { foreignText } from '../../core/policy/redaction';
import type { JsonObject, N8nWorkflow } from '../n8n/publicApi';
import { withoutLedger } from './ledger';
import { givesTools } from './merge';
import type { ManagedWorkflow } from './workflow';

/** One difference between what is there and what is wanted. Values are for a person; secrets are never values. */
export interface Change {
  /** Such as `nodes.prometheus_query.parameters.definition`. */
  readonly field: string;
  readonly from: string;
  readonly to: string;
}

const ABSENT = '(absent)';
const SHOWN_CHARACTERS = 120;

/**
 * What a write would change in a workflow, field by field. What n8n adds by itself, key order, and where a person has
 * put nodes on the canvas are no change.
 */
export function workflowChanges(observed: N8nWorkflow, wanted: ManagedWorkflow): Change[] {
  const changes: Change[] = [];
  if (observed.name !== wanted.name)
    changes.push({ field: 'name', from: shown(observed.name), to: wanted.name });
  for (const node of wanted.nodes) {
    const before = observed.nodes.find((one) => one['name'] === node.name);
    if (before) changes.push(...nodeChanges(before, node));
    else changes.push({ field: `nodes.${node.name}`, from: ABSENT, to: node.type });
  }
  const own = new Set(wanted.nodes.map(({ name }) => name));
  for (const node of observed.nodes) {
    const name = String(node['name']);
    const isForeignTool = givesTools(observed.connections, name) || node['type'] === NODE_TYPES.trigger;
    if (own.has(name) || !isForeignTool) continue;
    changes.push({ field: `nodes.${foreignText(name, 80)}`, from: shown(node['type']), to: ABSENT });
  }
  for (const [name, outputs] of Object.entries(wanted.connections)) {
    const before = observed.connections[name];
    if (same(before, outputs)) continue;
    changes.push({ field: `connections.${name}`, from: shown(before), to: shown(outputs) });
  }
  changes.push(...settingChanges(observed.settings, wanted.settings));
  return changes;
}

function settingChanges(observed: JsonObject, wanted: object): Change[] {
  return Object.entries(wanted)
    .filter(([key, value]) => !same(observed[key], value))
    .map(([key, value]) => ({ field: `settings.${key}`, from: shown(observed[key]), to: shown(value) }));
}

/** What a person can switch on at any node and what changes what it does. */
const FLAGS = ['disabled', 'executeOnce', 'alwaysOutputData', 'retryOnFail', 'continueOnFail'];

function nodeChanges(before: JsonObject, node: WorkflowNode): Change[] {
  const at = `nodes.${node.name}`;
  const changes: Change[] = [];
  const compare = (field: string, from: unknown, to: unknown) => {
    if (!same(from, to)) changes.push({ field: `${at}.${field}`, from: shown(from), to: shown(to) });
  };
  compare('type', before['type'], node.type);
  compare('typeVersion', before['typeVersion'], node.typeVersion);
  if (node.webhookId !== undefined) compare('webhookId', before['webhookId'], node.webhookId);
  for (const flag of FLAGS) if (before[flag] === true) compare(flag, true, false);
  const onError = before['onError'] ?? 'stopWorkflow';
  if (onError !== 'stopWorkflow') compare('onError', onError, 'stopWorkflow');
  const given = (before['parameters'] ?? {}) as JsonObject;
  const names = node.type === NODE_TYPES.stickyNote ? ['content'] : keysOf(given, node.parameters);
  for (const name of names) {
    compare(
      `parameters.${name}`,
      parameter(node.type, given[name]),
      parameter(node.type, node.parameters[name]),
    );
  }
  for (const type of keysOf(before['credentials'] ?? {}, node.credentials ?? {})) {
    compare(`credentials.${type}`, idOf(before['credentials'], type), idOf(node.credentials, type));
  }
  return changes;
}

/** A note is compared without its ledger, and a JSON parameter by what it says. */
function parameter(nodeType: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (nodeType === NODE_TYPES.stickyNote) return withoutLedger(value);
  if (!value.startsWith('{')) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

function keysOf(one: object, other: object): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

function idOf(credentials: unknown, type: string): unknown {
  return (credentials as Record<string, { id?: unknown } | undefined> | undefined)?.[type]?.id;
}

/** Whether two JSON values say the same, whatever their key order. */
export function same(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

/** A value as a person reads it in a plan: bounded, and without what a terminal would obey. */
export function shown(value: unknown): string {
  if (value === undefined) return ABSENT;
  return foreignText(typeof value === 'string' ? value : JSON.stringify(value), SHOWN_CHARACTERS);
}
