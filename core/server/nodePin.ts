import type { PinnedNode } from '../contract/surface';
import { BASE_URL } from '../contract/templateCheck';
import type { ToolDescriptor } from '../contract/pin';

/** The node behind a native tool, as the host has it. */
export interface ConnectedNode {
  readonly type: string;
  readonly typeVersion: number;
  /** With everything that is the default. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The same parameters as the host fills them up with what is the default. */
  withDefaults(parameters: Record<string, unknown>): Record<string, unknown>;
}

/** An origin with a path prefix at most: no user, query, fragment or expression. */
const ADDRESS = String.raw`(https?:\/\/[A-Za-z0-9.:[\]-]+(?:\/(?!\.{1,2}\/)[A-Za-z0-9._~-]+)*)`;

/**
 * Whether a native tool is the one that a contract pins. Its own schema says little, and differs between releases of n8n,
 * so the node behind it is compared: type, version and every parameter. What an operator may choose is the address of the
 * application, the same in all of them.
 */
export function isPinnedNode(
  { node, descriptor }: { readonly node: PinnedNode; readonly descriptor: ToolDescriptor },
  connected: { readonly node?: ConnectedNode | undefined; readonly descriptor: ToolDescriptor },
): boolean {
  const found = connected.node;
  if (!found || found.type !== node.type || found.typeVersion !== node.type_version) return false;
  const addresses = new Set<string>();
  return (
    connected.descriptor.name === descriptor.name &&
    sameValue(found.withDefaults(node.parameters), found.parameters, addresses) &&
    addresses.size <= 1
  );
}

function sameValue(pinned: unknown, found: unknown, addresses: Set<string>): boolean {
  if (typeof pinned === 'string' && pinned.includes(BASE_URL)) return sameText(pinned, found, addresses);
  if (pinned === null || typeof pinned !== 'object') return Object.is(pinned, found);
  if (found === null || typeof found !== 'object' || Array.isArray(pinned) !== Array.isArray(found))
    return false;
  const entries = found as Record<string, unknown>;
  return (
    Object.entries(pinned).every(
      ([key, value]) => Object.hasOwn(entries, key) && sameValue(value, entries[key], addresses),
    ) && Object.entries(entries).every(([key, value]) => Object.hasOwn(pinned, key) || isEmpty(value))
  );
}

/** What the editor adds when a node is opened and saved. */
const isEmpty = (value: unknown): boolean =>
  value !== null && typeof value === 'object' && Object.keys(value).length === 0;

function sameText(pinned: string, found: unknown, addresses: Set<string>): boolean {
  if (typeof found !== 'string') return false;
  const [before = '', ...after] = pinned.split(BASE_URL).map(literal);
  const match = new RegExp(`^${[before, ...after].join(ADDRESS)}$`).exec(found);
  for (const address of match?.slice(1) ?? []) addresses.add(address);
  return match !== null;
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
