import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { TestSurface } from './publish';

/** How a client leaves a request behind. */
export const ABANDONMENTS = [
  'initialize and disappear',
  'leave without reading the answer',
  'send half of the request',
  'disconnect in the middle of a call',
  'read nothing and keep the connection',
] as const;
export type Abandonment = (typeof ABANDONMENTS)[number];

/** Time for half of a request to arrive (milliseconds). */
const HALF_MS = 60;

export interface AbandonedTools {
  /** Name of a tool that answers at once. */
  quick: string;
  /** Name of a tool whose upstream never answers; its argument is `workflow_id`. */
  slow: string;
  /** Resolves when the upstream has been asked for that id: the middle of the call. */
  reached: (workflowId: string) => Promise<void>;
}

/** A client of raw sockets that reads no answer to its end. `leave` closes what it has kept open. */
export class AbandoningClient {
  readonly #surface: TestSurface;
  readonly #tools: AbandonedTools;
  readonly #kept = new Set<Socket>();

  constructor(surface: TestSurface, tools: AbandonedTools) {
    this.#surface = surface;
    this.#tools = tools;
  }

  /** Sends one request and abandons it. */
  async abandon(how: Abandonment): Promise<void> {
    const { port, hostname } = new URL(this.#surface.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const workflowId = randomUUID();
    const request = this.#request(how, workflowId);
    if (how === 'send half of the request') {
      socket.write(request.slice(0, -20));
      await sleep(HALF_MS);
      socket.destroy();
      return;
    }
    socket.write(request);
    if (how === 'disconnect in the middle of a call') await this.#tools.reached(workflowId);
    else await once(socket, 'data');
    if (how === 'read nothing and keep the connection') {
      socket.pause();
      this.#kept.add(socket);
      if (this.#kept.size > 3) this.leave();
      return;
    }
    socket.destroy();
  }

  leave(): void {
    for (const socket of this.#kept) socket.destroy();
    this.#kept.clear();
  }

  #request(how: Abandonment, workflowId: string): string {
    const { url, bearer } = this.#surface;
    const { pathname, host } = new URL(url);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...this.#message(how, workflowId) });
    return [
      `POST ${pathname} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${bearer}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      '',
      body,
    ].join('\r\n');
  }

  #message(how: Abandonment, workflowId: string): object {
    if (how === 'initialize and disappear') {
      const clientInfo = { name: 'abandoning', version: '1.0.0' };
      return {
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
      };
    }
    const slow = how === 'disconnect in the middle of a call';
    const name = slow ? this.#tools.slow : this.#tools.quick;
    return { method: 'tools/call', params: { name, arguments: slow ? { workflow_id: workflowId } : {} } };
  }
}
