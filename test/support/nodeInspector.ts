import { WebSocket } from 'undici';

import { http } from '../hosts/api';

/** The part of a CPU profile of V8 that tells where time went (Chrome DevTools Protocol, `Profiler.Profile`). */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node of each sample. */
  readonly samples: readonly number[];
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** A Node process that was started with `--inspect=127.0.0.1:<port>`, seen from outside. */
export class NodeInspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      this.#settle(String(data));
    });
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The inspected process is gone.'));
      this.#waiting.clear();
    });
  }

  static async attach(port: number): Promise<NodeInspector> {
    const { body } = await http({ method: 'GET', url: `http://127.0.0.1:${String(port)}/json/list` });
    const [target] = body as { webSocketDebuggerUrl: string }[];
    if (!target) throw new Error('The inspected process offers no target.');
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => {
        resolve();
      });
      socket.addEventListener('error', () => {
        reject(new Error('The inspected process does not take the connection.'));
      });
    });
    return new NodeInspector(socket);
  }

  /** The CPU profile of the process while `work` runs, sampled every 200 microseconds. */
  async profile(work: () => Promise<unknown>): Promise<CpuProfile> {
    await this.#send('Profiler.enable');
    await this.#send('Profiler.setSamplingInterval', { interval: 200 });
    await this.#send('Profiler.start');
    await work();
    return (await this.#send<{ profile: CpuProfile }>('Profiler.stop')).profile;
  }

  /** Bytes in use on the heap of JavaScript after a full collection. */
  async heapAfterCollection(): Promise<number> {
    // What is only weakly held by then goes with the second one.
    await this.#send('HeapProfiler.collectGarbage');
    await this.#send('HeapProfiler.collectGarbage');
    return (await this.#send<{ usedSize: number }>('Runtime.getHeapUsage')).usedSize;
  }

  close(): void {
    this.#socket.close();
  }

  #send<T = unknown>(method: string, params: object = {}): Promise<T> {
    const id = (this.#last += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #settle(text: string): void {
    const { id, result, error } = JSON.parse(text) as {
      id?: number;
      result?: never;
      error?: { message: string };
    };
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return;
    this.#waiting.delete(id);
    if (error) waiting.reject(new Error(error.message));
    else waiting.resolve(result as never);
  }
}
