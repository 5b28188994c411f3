import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import { currentExchange } from './fetch';

/** Content blocks that the protocol knows (MCP 2025-11-25 and 2026-07-28, `ContentBlock`). */
const KNOWN_BLOCKS = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** How an unreadable block is passed on: as text that says so. */
export function unknownBlockNote(type: unknown): string {
  const named = typeof type === 'string' ? `"${foreignText(type, 40)}"` : 'that has no name';
  return `[1 block of unknown type ${named} was not shown]`;
}

/**
 * A transport that gets two things right which the SDK leaves to chance:
 *
 * - content blocks of types that the SDK does not know would make it refuse the whole answer. Such a block becomes a
 *   text that names its type, so that nothing is dropped without a word;
 * - a request whose stream ended without an answer would wait until its time is over. It is told at once.
 */
export function watchedTransport<T extends Transport>(transport: T): T {
  const waiting = new Set<unknown>();
  let receive: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => receive,
    set: (handler: Transport['onmessage']) => {
      receive =
        handler &&
        ((message, extra) => {
          if (!('method' in message)) waiting.delete(message.id);
          handler(readable(message), extra);
        });
    },
  });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!('method' in message && 'id' in message)) {
      await send(message, options);
      return;
    }
    const { id } = message;
    const exchange = currentExchange();
    waiting.add(id);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (waiting.delete(id)) exchange?.fail(lost());
    };
    await send(message, { ...options, onRequestStreamEnd }).catch((error: unknown) => {
      waiting.delete(id);
      throw error;
    });
  };
  return transport;
}

function lost(): PolicyError {
  return new PolicyError('upstream_unreachable', 'The MCP server ended the connection without an answer.');
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
