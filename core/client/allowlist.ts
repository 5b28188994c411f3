import { z } from 'zod';
import { SHA256_PATTERN } from '../contract/canonical';
import { pinOf, type ToolDescriptor } from '../contract/pin';
import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import { parseIdentity, type ServerIdentity } from './identity';

/** One tool as it was reviewed. */
export interface ToolPin {
  /** The server's own name of the tool, byte for byte. */
  readonly name: string;
  /** `sha256:<hex>`, see `pinOf`. */
  readonly pin: string;
}

/** What of a foreign server may be used, and how it looked when a person said so. */
export interface Allowlist {
  readonly server: ServerIdentity;
  /** Never empty. */
  readonly tools: readonly ToolPin[];
  /** Pin of everything that the server listed; `undefined` where added tools are no concern. */
  readonly catalogue: string | undefined;
  /** What stands behind the pins, where it was kept: it shows what a drift is. By pin. */
  readonly reviewed: ReadonlyMap<string, ToolDescriptor>;
}

/** The same as it stands in parameters and files. */
export interface AllowlistText {
  readonly server: unknown;
  readonly tools: unknown;
  readonly catalogue?: unknown;
  /** JSON list of descriptors, as `Review` and `mcp-curated pin` print them. */
  readonly reviewed?: unknown;
}

/**
 * Reads an allowlist. Whatever is missing or unreadable is an error: it never means "all tools".
 *
 * @throws PolicyError `allowlist_empty` or `pin_malformed`
 */
export function parseAllowlist({ server, tools, catalogue, reviewed }: AllowlistText): Allowlist {
  const pins = parsePins(tools);
  return {
    server: parseIdentity(typeof server === 'string' ? server : ''),
    tools: pins,
    catalogue: parseCatalogue(catalogue),
    reviewed: parseReviewed(reviewed, pins),
  };
}

/** @throws PolicyError `allowlist_empty` or `pin_malformed` */
export function parsePins(tools: unknown): ToolPin[] {
  if (!Array.isArray(tools)) {
    throw new PolicyError(
      'pin_malformed',
      'The list of tools is unreadable; choose the tools from the list again.',
    );
  }
  if (tools.length === 0) {
    throw new PolicyError(
      'allowlist_empty',
      'No tool is chosen; choose at least one. An empty list never means all tools.',
    );
  }
  const pins = tools.map(parsePin);
  const twice = pins.find(({ name }, index) => pins.findIndex((other) => other.name === name) !== index);
  if (twice) {
    throw new PolicyError(
      'pin_malformed',
      `The tool ${shown(twice.name)} is pinned twice; keep the pin that you reviewed.`,
    );
  }
  return pins;
}

/**
 * Reads `name@sha256:<64 hex digits>`. A name may hold an `@`.
 *
 * @throws PolicyError `pin_malformed` that names the tool
 */
export function parsePin(value: unknown): ToolPin {
  const text = typeof value === 'string' ? value : '';
  const at = text.lastIndexOf('@');
  const name = at < 0 ? text : text.slice(0, at);
  const pin = at < 0 ? '' : text.slice(at + 1);
  if (name === '' || !SHA256_PATTERN.test(pin)) {
    throw new PolicyError(
      'pin_malformed',
      `The pin for ${shown(name) || 'a tool'} is missing or malformed; choose the tool from the list again, or write name@sha256:<hash>.`,
    );
  }
  return { name, pin };
}

export function pinText({ name, pin }: ToolPin): string {
  return `${name}@${pin}`;
}

function parseCatalogue(value: unknown): string | undefined {
  if (value === undefined || value === '' || value === null) return undefined;
  if (typeof value === 'string' && SHA256_PATTERN.test(value)) return value;
  throw new PolicyError(
    'pin_malformed',
    'The catalogue pin is malformed; choose it from the list again, or remove it.',
  );
}

/** Descriptors are data of a foreign server, so only their outline is checked; the pin says that they are the ones. */
const descriptorsSchema = z.array(
  z.object({
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    inputSchema: z.record(z.string(), z.unknown()),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    annotations: z.record(z.string(), z.unknown()).optional(),
  }),
);

/**
 * Descriptors that do not belong to a pin are ignored: after a tool was chosen anew, the old ones may still be there.
 *
 * @throws PolicyError `pin_malformed` for what is no list of descriptors
 */
export function parseReviewed(value: unknown, pins: readonly ToolPin[]): ReadonlyMap<string, ToolDescriptor> {
  const kept = new Map<string, ToolDescriptor>();
  if (value === undefined || value === '' || value === null) return kept;
  const wanted = new Set(pins.map(({ pin }) => pin));
  for (const descriptor of readDescriptors(value)) {
    const pin = pinOf(descriptor);
    if (wanted.has(pin)) kept.set(pin, descriptor);
  }
  return kept;
}

function readDescriptors(value: unknown): ToolDescriptor[] {
  try {
    const given: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return descriptorsSchema.parse(given);
  } catch {
    throw new PolicyError(
      'pin_malformed',
      'The reviewed descriptors are unreadable; paste what Review printed, or remove them.',
    );
  }
}

const shown = (name: string) => foreignText(name, 120);
