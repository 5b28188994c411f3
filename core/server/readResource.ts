import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { readPointer } from '../contract/paths';
import { matchUri, type ResourceDeclaration } from '../contract/resource';
import { validateArguments } from '../policy/arguments';
import { PolicyError } from '../policy/errors';
import { inPlace, invoke, listOf, refuseLarge } from './callTool';
import type { Exchange } from './exchange';
import { resourcesOf, type ServedResource, type ToolResult } from './tools';

/** What a consumer may read. */
export async function listResources(exchange: Exchange): Promise<readonly ServedResource[]> {
  return await listOf(exchange, resourcesOf);
}

/**
 * One `resources/read`: the operation behind the URI, under the same rules as its call. A resource of somebody else is
 * answered exactly as one that does not exist.
 *
 * @throws PolicyError
 */
export async function readResource(exchange: Exchange, uri: string): Promise<ReadResourceResult> {
  const { surface, consumer } = exchange;
  return await inPlace(exchange, async (signal) => {
    const found = wanted(await resourcesOf(surface, consumer), uri);
    if (!found) throw unknownResource();
    const { descriptor, resource, slots } = found;
    exchange.resource = descriptor.name;
    const served = await surface.find(descriptor.name);
    if (!served) throw unknownResource();
    const args = validateArguments(descriptor.inputSchema, typed(descriptor.inputSchema, slots));
    const result = await invoke(await served.connect(), args, { ...exchange, signal });
    const contents = [{ uri, mimeType: resource.mime_type, ...contentOf(result, resource) }];
    refuseLarge(contents, surface.limits.response_bytes);
    return { contents };
  });
}

interface Wanted extends ServedResource {
  readonly slots: Readonly<Record<string, string>>;
}

function wanted(resources: readonly ServedResource[], uri: string): Wanted | undefined {
  for (const served of resources) {
    const slots = matchUri(served.resource.uri_template, uri);
    if (slots) return { ...served, slots };
  }
  return undefined;
}

/** A URI holds texts; an argument of another type is read as JSON reads it, and then checked like any other. */
function typed(schema: Readonly<Record<string, unknown>>, slots: Readonly<Record<string, string>>): object {
  const properties = (schema['properties'] ?? {}) as Record<string, { type?: unknown } | undefined>;
  return Object.fromEntries(
    Object.entries(slots).map(([name, text]): [string, unknown] => {
      const type = properties[name]?.type;
      if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/.test(text))
        return [name, Number(text)];
      if (type === 'boolean' && (text === 'true' || text === 'false')) return [name, text === 'true'];
      return [name, text];
    }),
  );
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function contentOf(
  { structuredContent }: ToolResult,
  { content, encoding }: ResourceDeclaration,
): { text: string } | { blob: string } {
  if (content === null) return { text: JSON.stringify(structuredContent ?? null) };
  const text = readPointer(structuredContent, content);
  if (typeof text !== 'string') throw otherShape();
  if (encoding === 'text') return { text };
  // Some applications break the lines of it.
  const blob = text.replace(/\s+/g, '');
  if (!BASE64.test(blob) || blob.length % 4 !== 0) throw otherShape();
  return { blob };
}

function otherShape(): PolicyError {
  return new PolicyError(
    'upstream_unexpected_shape',
    'Upstream did not answer with the content that this resource promises.',
  );
}

function unknownResource(): PolicyError {
  return new PolicyError('resource_unknown', 'There is no resource at that URI here; list what there is.');
}
