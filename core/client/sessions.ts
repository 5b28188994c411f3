import type { ToolServer } from './toolServer';

/** How long a server stays connected when nobody uses it. */
export interface Lifetime {
  /** Milliseconds without use after which it is closed; 0: at once. */
  readonly lingerMs: number;
  /** Tells the host to call back when the execution is over or cancelled. */
  readonly onEnd: (close: () => void) => void;
}

/** The right to use a server. */
export interface Lease {
  readonly server: ToolServer;
  /** Gives it back; calling it again does nothing. */
  readonly release: () => Promise<void>;
}

interface Entry {
  readonly server: ToolServer;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Servers in use, one per key. An agent supplies its tools again after every round of calls, and newer ones run each
 * call as a node of its own: with one key per execution and node all of it goes over one connection.
 */
export class Sessions {
  readonly #entries = new Map<string, Entry>();

  lease(key: string, make: () => ToolServer, { lingerMs, onEnd }: Lifetime): Lease {
    const entry = this.#entries.get(key) ?? this.#open(key, make(), onEnd);
    clearTimeout(entry.timer);
    entry.users += 1;
    let released = false;
    return {
      server: entry.server,
      release: async () => {
        if (released) return;
        released = true;
        entry.users -= 1;
        if (entry.users > 0) return;
        if (lingerMs === 0) await this.#close(key, entry);
        else entry.timer = setTimeout(() => void this.#close(key, entry), lingerMs).unref();
      },
    };
  }

  /** Servers that are connected or may be. */
  get size(): number {
    return this.#entries.size;
  }

  #open(key: string, server: ToolServer, onEnd: Lifetime['onEnd']): Entry {
    const entry: Entry = { server, users: 0, timer: undefined };
    this.#entries.set(key, entry);
    onEnd(() => void this.#close(key, entry));
    return entry;
  }

  async #close(key: string, entry: Entry): Promise<void> {
    clearTimeout(entry.timer);
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    await entry.server.close();
  }
}
