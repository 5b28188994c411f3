import { specTypeSchemas, type ContentBlock } from '@modelcontextprotocol/server';
import type { ToolResult } from '../../core/server/tools';

/**
 * What a native tool gave back, as MCP content, where it is more than text: blocks of MCP, which n8n's own MCP Client
 * Tool hands on, or blocks of LangChain with a picture or sound in them.
 *
 * @returns `undefined` for anything else. One block that is neither makes all of it data, which is shown as JSON.
 */
export function contentOf(output: unknown): ToolResult | undefined {
  const { content, structuredContent } = unwrapped(output);
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const blocks = content.map((block) => mcpBlock(block) ?? langchainBlock(block));
  if (!blocks.every((block) => block !== undefined)) return undefined;
  const isObject = structuredContent !== null && typeof structuredContent === 'object';
  return {
    content: blocks,
    ...(isObject && !Array.isArray(structuredContent)
      ? { structuredContent: structuredContent as Record<string, unknown> }
      : {}),
  };
}

/** A result of MCP, a message of LangChain, or the blocks alone. */
function unwrapped(output: unknown): { content?: unknown; structuredContent?: unknown } {
  if (Array.isArray(output)) return { content: output };
  return output !== null && typeof output === 'object' ? output : {};
}

function mcpBlock(block: unknown): ContentBlock | undefined {
  const result = specTypeSchemas.ContentBlock['~standard'].validate(block);
  return 'issues' in result && result.issues ? undefined : (block as ContentBlock);
}

interface LangchainBlock {
  readonly type?: unknown;
  readonly image_url?: string | { readonly url?: unknown };
  readonly source_type?: unknown;
  readonly mime_type?: unknown;
  readonly data?: unknown;
}

const DATA_URL = /^data:((?:image|audio)\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]+={0,2})$/i;

/** `{type: 'image_url'}` with a data URL, and `{type: 'image' | 'audio', source_type: 'base64'}`. Links are not followed. */
function langchainBlock(block: unknown): ContentBlock | undefined {
  if (block === null || typeof block !== 'object') return undefined;
  const { type, image_url: link, source_type: source, mime_type: mimeType, data } = block as LangchainBlock;
  if (type === 'image_url') {
    const url = typeof link === 'string' ? link : link?.url;
    const [, kind, base64] = (typeof url === 'string' && DATA_URL.exec(url)) || [];
    return kind === undefined || base64 === undefined ? undefined : fileBlock(kind, base64);
  }
  if (source !== 'base64' || typeof mimeType !== 'string' || typeof data !== 'string') return undefined;
  return type === 'image' || type === 'audio' ? fileBlock(mimeType, data) : undefined;
}

function fileBlock(mimeType: string, data: string): ContentBlock | undefined {
  const type = mimeType.startsWith('audio/') ? 'audio' : 'image';
  return mcpBlock({ type, mimeType, data });
}
