import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import type { EventStream } from './eventStream';
import type { JsonRpcMessage } from './inbound';

/**
 * One 2025-era request and its answer. The SDK's own transport decides before the call whether it streams, and then
 * answers every call with events; here the first notice of a tool decides, so that most answers stay plain JSON.
 */
export class LegacyTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #stream: EventStream | undefined;
  #supported: readonly string[] = [];
  #answered: (message: JSONRPCMessage) => void = () => undefined;

  /** @param stream where notices may go; `undefined` for a caller that takes one JSON body only */
  constructor(stream: EventStream | undefined) {
    this.#stream = stream;
  }

  /** Revisions that the connected server speaks. */
  get supportedVersions(): readonly string[] {
    return this.#supported;
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#supported = versions;
  }

  async start(): Promise<void> {
    await Promise.resolve();
  }

  /** Hands the message to the server; resolves with its answer, or with nothing for a notification. */
  async exchange(message: JsonRpcMessage): Promise<JSONRPCMessage | undefined> {
    if (message.id === undefined) {
      this.onmessage?.(message);
      return undefined;
    }
    return await new Promise((resolve) => {
      this.#answered = resolve;
      this.onmessage?.(message);
    });
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#answered(message);
    // What belongs to no request has no stream to go to.
    else if (options?.relatedRequestId !== undefined) this.#stream?.message(message);
    await Promise.resolve();
  }

  async close(): Promise<void> {
    this.onclose?.();
    await Promise.resolve();
  }
}
