import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** One `tools/call` as its client saw it. */
export interface CallOutcome {
  readonly client: string;
  /** HTTP status of the answer; 0 when there was none. */
  readonly status: number;
  readonly correlationId: string | null;
  /** Text of the result; undefined when the client threw. */
  readonly text: string | undefined;
}

/** A real client that calls one tool and remembers every HTTP answer that it got. */
export interface RecordingClient {
  readonly id: string;
  /** HTTP status of every answer, calls and all else. */
  readonly statuses: readonly number[];
  call(name: string, args: Record<string, unknown>): Promise<CallOutcome>;
  close(): Promise<void>;
}

const INFO = { name: 'queue', version: '1.0.0' };

/** Connects a client of the SDK v1 (2025-era) or v2 (2026-07-28), and reads the list as agents do. */
export async function recordingClient(
  sdk: 'v1' | 'v2',
  { url, id, bearer }: { url: string; id: string; bearer: string },
): Promise<RecordingClient> {
  const statuses: number[] = [];
  let last: { status: number; correlationId: string | null } = { status: 0, correlationId: null };
  const recordingFetch = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    statuses.push(response.status);
    last = { status: response.status, correlationId: response.headers.get('x-correlation-id') };
    return response;
  };
  const options = { fetch: recordingFetch, requestInit: { headers: { Authorization: `Bearer ${bearer}` } } };
  const client = await connected(sdk, new URL(url), options);
  await client.listTools();
  return {
    id,
    statuses,
    call: async (name, args) => {
      last = { status: 0, correlationId: null };
      let text: string | undefined;
      try {
        const result = await client.callTool({ name, arguments: args });
        text = result.isError === true ? undefined : JSON.stringify(result);
      } catch {
        // What was answered is in `last`; a client that cannot read it throws.
      }
      return { client: id, ...last, text };
    },
    close: async () => {
      await client.close();
    },
  };
}

type Options = ConstructorParameters<typeof TransportV1>[1] & ConstructorParameters<typeof TransportV2>[1];

async function connected(sdk: 'v1' | 'v2', url: URL, options: Options): Promise<ClientV1 | ClientV2> {
  if (sdk === 'v1') {
    const client = new ClientV1(INFO);
    await client.connect(new TransportV1(url, options));
    return client;
  }
  const client = new ClientV2(INFO, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new TransportV2(url, options));
  return client;
}
