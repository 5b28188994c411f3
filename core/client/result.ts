import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { headOf, REDACTED } from '../policy/redaction';

/** What a call gave back: the server's blocks as they came, each of a known type. */
export interface CallOutcome {
  readonly isError: boolean;
  readonly content: readonly ContentBlock[];
  /** `undefined` where the server sent none. */
  readonly structured: unknown;
}

/** A file that came inside of a result or a resource. */
export interface Attachment {
  readonly data: Buffer;
  readonly mimeType: string;
  readonly fileName: string | undefined;
}

/**
 * @param secrets of the credential: a server that repeats what it was shown must not show it to a model
 */
export function outcomeOf(result: CallToolResult, secrets: readonly string[]): CallOutcome {
  const { isError, content, structuredContent } = withoutSecrets(result, secrets);
  return { isError: isError === true, content, structured: structuredContent };
}

/** A shorter one would be found by chance, such as the name of a tenant in a header. */
const LEAST_SECRET_CHARACTERS = 16;

/** An answer of a server in which nothing of our credential is left. The same object where there was nothing. */
export function withoutSecrets<T extends object>(result: T, secrets: readonly string[]): T {
  const wanted = secrets.filter((secret) => secret.length >= LEAST_SECRET_CHARACTERS);
  if (wanted.length === 0) return result;
  const text = JSON.stringify(result);
  const escaped = wanted.map((secret) => JSON.stringify(secret).slice(1, -1));
  if (!escaped.some((secret) => text.includes(secret))) return result;
  const clean = escaped.reduce((shown, secret) => shown.replaceAll(secret, REDACTED), text);
  return JSON.parse(clean) as T;
}

/**
 * A result as text for a model: text as it is, structured content as JSON where the text does not say the same, and for
 * everything else a line that says what it is. Links are named and never followed.
 *
 * @param most characters; what is beyond is cut off, and the text says how much that is
 */
export function resultText({ content, structured }: CallOutcome, most: number): string {
  const parts = content.map(blockText);
  if (structured !== undefined && !content.some((block) => saysTheSame(block, structured))) {
    parts.push(JSON.stringify(structured));
  }
  const text = parts.filter((part) => part !== '').join('\n\n');
  return bounded(text === '' ? '(the tool returned nothing)' : text, most);
}

/** A result in blocks alone, and what structured content says that is no object, or stands alone, as one of them. */
export function blocksOf({ content, structured }: CallOutcome): readonly ContentBlock[] {
  if (structured === undefined) return content;
  const isObject = structured !== null && typeof structured === 'object' && !Array.isArray(structured);
  const isSaid = content.some((block) => isObject || saysTheSame(block, structured));
  return isSaid ? content : [...content, { type: 'text', text: JSON.stringify(structured) }];
}

/** Text that says how much of it was left out. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = headOf(text, most);
  return `${head}\n[cut off here: ${String(text.length - head.length)} more characters were not shown]`;
}

/** MCP asks servers to repeat structured content as JSON text; a model needs it once. */
function saysTheSame(block: ContentBlock, structured: unknown): boolean {
  if (block.type !== 'text') return false;
  try {
    return JSON.stringify(JSON.parse(block.text)) === JSON.stringify(structured);
  } catch {
    return false;
  }
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type}, ${block.mimeType}, ${bytesOf(block.data)}: not shown here]`;
    case 'resource':
      return resourceText(block.resource);
    case 'resource_link': {
      const { name, uri, mimeType, description } = block;
      const kind = mimeType === undefined ? '' : ` (${mimeType})`;
      return `[link to the resource ${name} <${uri}>${kind}: not followed]${description === undefined ? '' : ` ${description}`}`;
    }
  }
}

type ResourceContents = Extract<ContentBlock, { type: 'resource' }>['resource'];

/** One part of a resource as text. */
export function resourceText(resource: ResourceContents): string {
  const kind = resource.mimeType === undefined ? '' : ` (${resource.mimeType})`;
  if ('text' in resource) return `Resource ${resource.uri}${kind}:\n${resource.text}`;
  return `[resource ${resource.uri}${kind}, ${bytesOf(resource.blob)}: not shown here]`;
}

function bytesOf(base64: string): string {
  return `${String(Buffer.byteLength(base64, 'base64'))} bytes`;
}

/** Files inside of a result, in order: images, audio, and resources that are no text. */
export function attachmentsOf(content: readonly ContentBlock[]): Attachment[] {
  return content.flatMap((block): Attachment[] => {
    if (block.type === 'image' || block.type === 'audio') {
      return [{ data: Buffer.from(block.data, 'base64'), mimeType: block.mimeType, fileName: undefined }];
    }
    return block.type === 'resource' ? attachmentOf(block.resource) : [];
  });
}

export function attachmentOf(resource: ResourceContents): Attachment[] {
  if (!('blob' in resource)) return [];
  const fileName = /([^/\\?#]{1,120})(?:[?#].*)?$/.exec(resource.uri)?.[1];
  const mimeType = resource.mimeType ?? 'application/octet-stream';
  return [{ data: Buffer.from(resource.blob, 'base64'), mimeType, fileName }];
}

/** A block as an item of n8n holds it: data that became a file is left out, and its place says which one it is. */
export function blockForItem(block: ContentBlock, nextFile: () => string): Record<string, unknown> {
  if (block.type === 'image' || block.type === 'audio') {
    const { data: _data, ...rest } = block;
    return { ...rest, binary: nextFile() };
  }
  if (block.type === 'resource' && 'blob' in block.resource) {
    const { blob: _blob, ...rest } = block.resource;
    return { ...block, resource: rest, binary: nextFile() };
  }
  return { ...block };
}
