import { sha256Of } from './canonical';
import type { ResourceDeclaration } from './resource';

/** JSON Schema 2020-12 as data. */
export type JsonSchema = Record<string, unknown>;

/** MCP `ToolAnnotations` without the title, which stands beside the name. Hints for display, never a decision. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** What a model can see of a tool. */
export interface ToolDescriptor {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
}

/**
 * The pin of a tool: SHA-256 over the canonical form of everything that a model can see of it. A schema alone is not
 * enough, since a changed description is how tools get poisoned.
 *
 * @returns `sha256:<hex>`. Absent parts and `undefined` parts are the same.
 */
export function pinOf(tool: ToolDescriptor): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return sha256Of(withoutUndefined({ name, title, description, inputSchema, outputSchema, annotations }));
}

/** The pin of a resource: SHA-256 over everything that a client can see of it in a list. */
export function resourcePinOf(
  { name, title, description }: ToolDescriptor,
  { uri_template, mime_type }: ResourceDeclaration,
): string {
  return sha256Of(withoutUndefined({ uri_template, mime_type, name, title, description }));
}

/** The hash over the sorted pins of everything that a server lists. */
export function cataloguePin(pins: readonly string[]): string {
  return sha256Of([...pins].sort());
}

function withoutUndefined(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .map(([key, entry]) => [key, withoutUndefined(entry)]),
  );
}
