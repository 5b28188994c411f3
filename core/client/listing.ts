import { z } from 'zod';
import { cataloguePin, pinOf, type ToolDescriptor } from '../contract/pin';
import { PolicyError } from '../policy/errors';
import type { Connection } from './connection';
import type { ServerIdentity } from './identity';

/** A tool as a server lists it. */
export interface ListedTool {
  /** What a model would see of it. */
  readonly descriptor: ToolDescriptor;
  readonly pin: string;
  /** Length of it as JSON. */
  readonly characters: number;
}

/** Everything that a server lists, at one moment. */
export interface Listing {
  readonly identity: ServerIdentity;
  readonly tools: readonly ListedTool[];
  readonly cataloguePin: string;
  /** Entries that are no tools: they cannot be pinned and so are never used. */
  readonly unreadable: number;
}

const MOST_PAGES = 64;
const MOST_TOOLS = 2_000;
/** Of all tools together, as JSON. */
const MOST_CHARACTERS = 16_777_216;

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

const object = z.record(z.string(), z.unknown());
/** Other fields (icons, `_meta`, execution hints) are not shown to a model and are no part of the pin. */
const toolSchema = z.object({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: object,
  outputSchema: object.optional(),
  annotations: object.optional(),
});

/**
 * Reads the whole list of a server, page by page. One entry that is no tool does not hide the others.
 *
 * @throws PolicyError `list_too_long` for a list without an end; whatever the request throws
 */
export async function listTools(
  { client, identity }: Connection,
  options: { timeout: number; signal: AbortSignal },
): Promise<Listing> {
  const tools: ListedTool[] = [];
  const cursors = new Set<string>();
  let unreadable = 0;
  let characters = 0;
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, pageSchema, options);
    for (const entry of page.tools) {
      const tool = listedTool(entry);
      characters += tool?.characters ?? 0;
      if (tool) tools.push(tool);
      else unreadable += 1;
    }
    if (tools.length > MOST_TOOLS || characters > MOST_CHARACTERS) throw endless();
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) break;
    if (cursors.has(cursor) || cursors.size >= MOST_PAGES - 1) throw endless();
    cursors.add(cursor);
  } while (cursor !== '');
  return { identity, tools, cataloguePin: cataloguePin(tools.map(({ pin }) => pin)), unreadable };
}

function listedTool(entry: unknown): ListedTool | undefined {
  const parsed = toolSchema.safeParse(entry);
  if (!parsed.success) return undefined;
  const descriptor = parsed.data as ToolDescriptor;
  try {
    return { descriptor, pin: pinOf(descriptor), characters: JSON.stringify(descriptor).length };
  } catch {
    // Nested deeper than the stack, for example.
    return undefined;
  }
}

function endless(): PolicyError {
  return new PolicyError(
    'list_too_long',
    `The server's list of tools has more than ${String(MOST_PAGES)} pages, ${String(MOST_TOOLS)} tools or ${String(MOST_CHARACTERS)} characters, or no end; such a server cannot be used.`,
  );
}
