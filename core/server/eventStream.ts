/** The open end of an HTTP answer that is written bit by bit. The host flushes after every write. */
export interface EventSink {
  write(text: string): void;
  end(): void;
}

/** Opens the answer with status 200. Called at most once per request. */
export type OpenEventStream = (headers: Readonly<Record<string, string>>) => EventSink;

/** A proxy that buffers or compresses would hold events back until the answer is over. */
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Idle connections are cut by proxies after a minute or less. */
const KEEP_ALIVE_MS = 15_000;

/** An answer as Server-Sent Events. Opened by the first message, so that a call that tells nothing is answered as JSON. */
export class EventStream {
  readonly #open: OpenEventStream;
  readonly #headers: Readonly<Record<string, string>>;
  #sink: EventSink | undefined;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;

  constructor(open: OpenEventStream, headers: Readonly<Record<string, string>>) {
    this.#open = open;
    this.#headers = headers;
  }

  get isOpen(): boolean {
    return this.#sink !== undefined;
  }

  /** Bytes written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Writes one JSON-RPC message as one event. */
  message(message: unknown): void {
    this.raw(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** Writes text that is made of whole events already. */
  raw(text: string): void {
    if (!this.#sink) {
      this.#sink = this.#open({ ...HEADERS, ...this.#headers });
      this.#timer = setInterval(() => {
        this.#write(': keepalive\n\n');
      }, KEEP_ALIVE_MS).unref();
    }
    this.#write(text);
  }

  /** Ends the answer, if it was opened. */
  end(): void {
    clearInterval(this.#timer);
    this.#sink?.end();
  }

  #write(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    this.#sink?.write(text);
  }
}
