import type { ContentBlock } from '@modelcontextprotocol/server';
import type { ToolDescriptor } from '../contract/pin';
import type { Limits } from '../policy/limits';
import type { CallContext } from '../upstream/call';
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
  /** In a fixed order. Answered without supplying a tool where a contract pins them. */
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
function isGranted(consumer: Consumer, name: string): boolean {
  return consumer.tools.has(name);
}

/** What this consumer may call, in the order of the surface. */
export async function toolsOf(
  surface: ServedSurface,
  consumer: Consumer,
): Promise<readonly ToolDescriptor[]> {
  const served = await surface.descriptors();
  return served.filter(({ name }) => isGranted(consumer, name));
}

/** The tool that this consumer asks for, or `undefined`, whether it is not there or somebody else's. */
export async function toolOf(
  surface: ServedSurface,
  consumer: Consumer,
  name: unknown,
): Promise<ServedTool | undefined> {
  return typeof name === 'string' && isGranted(consumer, name) ? await surface.find(name) : undefined;
}
