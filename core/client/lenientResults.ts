import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

/** Content blocks that the protocol knows (MCP 2025-11-25 and 2026-07-28, `ContentBlock`). */
const KNOWN_BLOCKS = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** How an unreadable block is passed on: as text that says so. */
export function unknownBlockNote(type: unknown): string {
  const named = typeof type === 'string' ? `"${type.slice(0, 40)}"` : 'that has no name';
  return `[1 block of unknown type ${named} was not shown]`;
}

/**
 * Makes a transport tolerate content blocks of types that the SDK does not know: it would refuse the whole answer.
 * Such a block becomes a text that names its type, so that nothing is dropped without a word.
 */
export function withLenientResults<T extends Transport>(transport: T): T {
  let receive: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => receive,
    set: (handler: Transport['onmessage']) => {
      receive =
        handler &&
        ((message, extra) => {
          handler(readable(message), extra);
        });
    },
  });
  return transport;
}

function readable<T extends JSONRPCMessage>(message: T): T {
  const { result } = message as { result?: { content?: unknown } };
  if (!Array.isArray(result?.content)) return message;
  if (result.content.every(isKnown)) return message;
  const content = result.content.map((block: unknown) =>
    isKnown(block)
      ? block
      : { type: 'text', text: unknownBlockNote((block as { type?: unknown } | null)?.type) },
  );
  return { ...message, result: { ...result, content } };
}

function isKnown(block: unknown): boolean {
  return (
    block !== null && typeof block === 'object' && KNOWN_BLOCKS.has((block as { type?: string }).type ?? '')
  );
}
