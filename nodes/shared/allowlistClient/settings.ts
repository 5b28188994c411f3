import type { INode } from 'n8n-workflow';
import {
  parseAllowlist,
  parsePins,
  parseReviewed,
  type Allowlist,
  type ToolPin,
} from '../../../core/client/allowlist';
import type { ServerSettings } from '../../../core/client/toolServer';
import { PolicyError } from '../../../core/policy/errors';
import { staticParameter } from '../staticParameter';

/** Defaults and bounds of what a node's options say. */
const NUMBERS = {
  timeoutSeconds: { initial: 60, least: 1, most: 3_600 },
  responseBytes: { initial: 1_048_576, least: 1_024, most: 67_108_864 },
  resultCharacters: { initial: 50_000, least: 100, most: 10_000_000 },
  listAgeSeconds: { initial: 0, least: 0, most: 86_400 },
} as const;

export type NumberOption = keyof typeof NUMBERS;

export function initialOf(option: NumberOption): number {
  return NUMBERS[option].initial;
}

export interface ClientSettings extends ServerSettings {
  /** Most characters of a result that a model is shown. */
  readonly resultCharacters: number;
  /** In front of the names that a model sees. */
  readonly namePrefix: string;
}

/** @throws PolicyError `surface_unconfigured` for an option that is out of range or an expression */
export function settingsOf(node: INode): ClientSettings {
  const options = optionsOf(node);
  const prefix = fixed(options, 'namePrefix');
  return {
    timeoutSeconds: numberOf(options, 'timeoutSeconds'),
    responseBytes: numberOf(options, 'responseBytes'),
    resultCharacters: numberOf(options, 'resultCharacters'),
    listAgeSeconds: numberOf(options, 'listAgeSeconds'),
    compareEveryCall: fixed(options, 'compareEveryCall') === true,
    namePrefix: typeof prefix === 'string' ? prefix.trim() : '',
  };
}

/**
 * What the node may use. Read as it was saved: no expression decides which tools there are.
 *
 * @throws PolicyError `allowlist_empty`, `pin_malformed`, `surface_unconfigured`
 */
export function allowlistOf(node: INode): Allowlist {
  const { catalogue, reviewed } = reviewOf(node);
  return parseAllowlist({
    server: staticParameter(node, 'server') ?? '',
    tools: listOf(staticParameter(node, 'tools')),
    catalogue,
    reviewed,
  });
}

/** The same for a node that has one tool to choose: a resource locator, whose value is the pin. */
export function allowlistOfOne(node: INode): { allowlist: Allowlist; pinned: ToolPin } {
  const { catalogue, reviewed } = reviewOf(node);
  const tool = staticParameter(node, 'tool');
  const value = tool !== null && typeof tool === 'object' ? (tool as { value?: unknown }).value : tool;
  const tools = [fixedValue(value, 'tool') ?? ''];
  const [pinned] = parsePins(tools);
  if (!pinned) throw new PolicyError('allowlist_empty', 'No tool is chosen.');
  const server = staticParameter(node, 'server') ?? '';
  return { allowlist: parseAllowlist({ server, tools, catalogue, reviewed }), pinned };
}

/** What to compare a list with; nothing at all is no fault in a review. */
export function reviewedPins(
  node: INode,
): Pick<Allowlist, 'reviewed'> & { readonly pins: readonly ToolPin[] } {
  const tools = listOf(staticParameter(node, 'tools'));
  const pins = Array.isArray(tools) && tools.length === 0 ? [] : parsePins(tools);
  return { pins, reviewed: parseReviewed(reviewOf(node).reviewed, pins) };
}

/** The options about reviews. */
function reviewOf(node: INode): { catalogue: unknown; reviewed: unknown } {
  const options = optionsOf(node);
  return { catalogue: fixed(options, 'cataloguePin'), reviewed: fixed(options, 'reviewedDescriptors') };
}

/** A multi-select that was never opened saves nothing, and one that was emptied saves an empty list. */
function listOf(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return [];
  if (!Array.isArray(value)) return value;
  return value.map((entry) => fixedValue(entry, 'tools'));
}

function optionsOf(node: INode): Record<string, unknown> {
  const options = staticParameter(node, 'options');
  return options !== null && typeof options === 'object' ? (options as Record<string, unknown>) : {};
}

function fixed(options: Record<string, unknown>, name: string): unknown {
  return fixedValue(options[name], name);
}

function fixedValue(value: unknown, name: string): unknown {
  if (typeof value === 'string' && value.startsWith('=')) {
    throw new PolicyError(
      'surface_unconfigured',
      `The parameter ${name} must be a fixed value, not an expression.`,
    );
  }
  return value;
}

function numberOf(options: Record<string, unknown>, name: NumberOption): number {
  const { initial, least, most } = NUMBERS[name];
  const value = fixed(options, name) ?? initial;
  if (typeof value !== 'number' || !(value >= least && value <= most)) {
    throw new PolicyError(
      'surface_unconfigured',
      `The option ${name} must be between ${String(least)} and ${String(most)}.`,
    );
  }
  return value;
}
