import type { ContentBlock } from '@modelcontextprotocol/server';
import type { ToolDescriptor } from '../contract/pin';
import type { Limits } from '../policy/limits';
import type { CallContext } from '../upstream/run';
import type { Consumer } from './consumers';
import type { ConnectedNode } from './nodePin';

/** What a tool gave back, already in MCP terms. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Record<string, unknown>;
}

/** A tool that is connected to the trigger right now. */
export interface ConnectedTool {
  readonly descriptor: ToolDescriptor;
  /** Hash of a Read Tool's whole definition; `null` for a native tool. */
  readonly definitionSha256: string | null;
  /** The node behind a native tool, where the host can tell. */
  readonly node?: ConnectedNode | undefined;
  /** @throws PolicyError with the code of what went wrong */
  invoke(args: Record<string, unknown>, context: CallContext): Promise<ToolResult>;
}

/** How a host finds what is connected. Supplying a tool can be slow or fail, so it happens only when it must. */
export interface ToolSource {
  /** The tool of that name, or `undefined` when none is connected. */
  find(name: string): Promise<ConnectedTool | undefined>;
  /** Every tool that can be supplied; a broken one is left out and reported by the host. */
  all(): Promise<readonly ConnectedTool[]>;
}

/** One endpoint: what it serves, to whom, within which limits. */
export interface ServedSurface {
  readonly applicationId: string;
  readonly name: string;
  readonly instructions: string | undefined;
  readonly limits: Limits;
  readonly credentialSubject: string | null;
  /** Consumers that the contract admits; `null` when the credential alone decides. */
  readonly allowedConsumers: ReadonlySet<string> | null;
  /** Every name that can be served, in a fixed order; known without supplying a tool. */
  readonly names: readonly string[];
  /** The descriptors where a contract pins them; `undefined` where tools must be supplied to know them. */
  readonly pinned: readonly ToolDescriptor[] | undefined;
  /** In the order of the names. */
  descriptors(): Promise<readonly ToolDescriptor[]>;
  /** The served tool of that name; `undefined` when the surface serves none. Supplies no other tool. */
  find(name: string): Promise<ServedTool | undefined>;
}

export interface ServedTool {
  readonly descriptor: ToolDescriptor;
  /**
   * The connected tool behind it, compared with its pin.
   * @throws PolicyError `tool_missing` or `schema_drift`
   */
  connect(): Promise<ConnectedTool>;
}

/** The one rule for list and call: a served tool is a consumer's when it is granted by name. */
export function grantedNames(surface: ServedSurface, consumer: Consumer): readonly string[] {
  return surface.names.filter((name) => consumer.tools.has(name));
}

/** What this consumer may call, in the order of the surface. */
export async function toolsOf(
  surface: ServedSurface,
  consumer: Consumer,
): Promise<readonly ToolDescriptor[]> {
  const granted = new Set(grantedNames(surface, consumer));
  return (await surface.descriptors()).filter(({ name }) => granted.has(name));
}
