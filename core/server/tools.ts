import type { ContentBlock } from '@modelcontextprotocol/server';
import type { ToolDescriptor } from '../contract/pin';
import type { ResourceDeclaration } from '../contract/resource';
import type { Limits } from '../policy/limits';
import type { CallContext } from '../upstream/run';
import type { Consumer } from './consumers';

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
  /** How it is read as a resource; `undefined` for what is a tool only. */
  readonly resource?: ResourceDeclaration | undefined;
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
  /** Every name that can be served, as tool or as resource, in a fixed order; known without supplying a tool. */
  readonly names: readonly string[];
  /** Whether its tools may send log messages to a caller. */
  readonly logs: boolean;
  /** Whether it may serve resources; what they are can depend on what is connected. */
  readonly hasResources: boolean;
  /** The descriptors where a contract pins them; `undefined` where tools must be supplied to know them. */
  readonly pinned: readonly ToolDescriptor[] | undefined;
  /** What is served as a tool, in the order of the names. */
  descriptors(): Promise<readonly ToolDescriptor[]>;
  /** What is served as a resource, in the order of the names. */
  resources(): Promise<readonly ServedResource[]>;
  /** The served tool of that name; `undefined` when the surface serves none. Supplies no other tool. */
  find(name: string): Promise<ServedTool | undefined>;
}

/** An operation that can be read as a resource. */
export interface ServedResource {
  readonly descriptor: ToolDescriptor;
  readonly resource: ResourceDeclaration;
}

export interface ServedTool {
  readonly descriptor: ToolDescriptor;
  readonly resource: ResourceDeclaration | undefined;
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

/** What this consumer may read, in the order of the surface. */
export async function resourcesOf(
  surface: ServedSurface,
  consumer: Consumer,
): Promise<readonly ServedResource[]> {
  const granted = new Set(grantedNames(surface, consumer));
  return (await surface.resources()).filter(({ descriptor }) => granted.has(descriptor.name));
}
