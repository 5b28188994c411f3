import type { OpenEventStream } from '../../../core/server/eventStream';

export interface RecordedStream {
  readonly open: OpenEventStream;
  headers(): Readonly<Record<string, string>> | undefined;
  /** The JSON-RPC messages of the events, in order. */
  messages(): { method?: string; params?: Record<string, unknown>; result?: unknown; error?: unknown }[];
  text(): string;
  readonly ended: () => boolean;
}

/** A host's end of a streamed answer that remembers what was written. */
export function recordedStream(): RecordedStream {
  let headers: Readonly<Record<string, string>> | undefined;
  let text = '';
  let ended = false;
  return {
    open: (given) => {
      headers = given;
      return {
        write: (chunk) => {
          text += chunk;
        },
        end: () => {
          ended = true;
        },
      };
    },
    headers: () => headers,
    messages: () =>
      text
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => JSON.parse(line.slice(6)) as ReturnType<RecordedStream['messages']>[number]),
    text: () => text,
    ended: () => ended,
  };
}
