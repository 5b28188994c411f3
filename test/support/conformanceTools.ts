import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { closeServer, listenOnLoopback, originOf } from './loopback';

/** One red pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** The head of a sound file without a sound. */
export const WAV = Buffer.from(
  'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\0\0\0\0',
  'latin1',
).toString('base64');

type Tell = (method: string, params: Record<string, unknown>) => Promise<void>;

interface ToolOfSuite {
  readonly description: string;
  readonly inputSchema?: Record<string, unknown>;
  answer(tell: Tell, token: string | number | undefined): Promise<Record<string, unknown>>;
}

const text = (said: string) => ({ type: 'text', text: said });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, said: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: said },
});
const fixed = (description: string, ...content: object[]): ToolOfSuite => ({
  description,
  answer: () => Promise.resolve({ content }),
});
const logging: ToolOfSuite = {
  description: 'Logs while it works',
  answer: async (tell) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await tell('notifications/message', { level: 'info', data });
      await sleep(50);
    }
    return { content: [text('Logged.')] };
  },
};

/** What the scenarios of the conformance suite call, as its descriptions say. */
const TOOLS: Readonly<Record<string, ToolOfSuite>> = {
  test_simple_text: fixed('Returns text', text('This is a simple text response for testing.')),
  test_image_content: fixed('Returns an image', image),
  test_audio_content: fixed('Returns a sound', { type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: fixed(
    'Returns a resource',
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ),
  test_multiple_content_types: fixed(
    'Returns several types',
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ),
  test_tool_with_logging: logging,
  test_logging_tool: logging,
  test_error_handling: {
    description: 'Always fails',
    answer: () =>
      Promise.resolve({
        isError: true,
        content: [text('This tool intentionally returns an error for testing')],
      }),
  },
  test_tool_with_progress: {
    description: 'Tells how far it is',
    answer: async (tell, progressToken) => {
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await tell('notifications/progress', { progressToken, progress, total: 100 });
        }
        await sleep(50);
      }
      return { content: [text('Done.')] };
    },
  },
  json_schema_2020_12_tool: {
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    answer: () => Promise.resolve({ content: [text('ok')] }),
  },
};

export const SUITE_TOOLS = Object.keys(TOOLS);

export interface ToolsOfSuite {
  /** The MCP endpoint of a server that somebody else could run. */
  readonly endpoint: string;
  /** Calls that were cancelled before they were answered. */
  cancelled(): number;
  stop(): Promise<void>;
}

/** An MCP server of the 2025 era, made with SDK v1, that offers what the conformance suite wants to call. */
export async function startSuiteTools(): Promise<ToolsOfSuite> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let cancelled = 0;
  const onCancel = () => {
    cancelled += 1;
  };
  const http: HttpServer = createServer((request, response) => {
    void (async () => {
      const body = request.method === 'POST' ? await jsonOf(request) : undefined;
      const known = sessions.get(String(request.headers['mcp-session-id']));
      const transport = known ?? (await opened(sessions, onCancel));
      await transport.handleRequest(request, response, body);
    })().catch(() => response.destroy());
  });
  await listenOnLoopback(http);
  return {
    endpoint: `${originOf(http)}/mcp`,
    cancelled: () => cancelled,
    stop: async () => {
      await Promise.all(
        [...sessions.values()].map(async (transport) => {
          await transport.close();
        }),
      );
      await closeServer(http);
    },
  };
}

async function opened(
  sessions: Map<string, StreamableHTTPServerTransport>,
  onCancel: () => void,
): Promise<StreamableHTTPServerTransport> {
  // The low-level server: the schemas are plain JSON.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const server = new Server(
    { name: 'suite', version: '1.0.0' },
    { capabilities: { tools: {}, logging: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries({ ...TOOLS, ...HANGING }).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: (inputSchema ?? { type: 'object', properties: {} }) as { type: 'object' },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    signal.addEventListener('abort', onCancel);
    const tool = { ...TOOLS, ...HANGING }[params.name];
    if (!tool) throw new Error('unknown tool');
    const tell: Tell = async (method, told) => {
      await sendNotification({ method, params: told });
    };
    const answer = tool.answer(tell, params._meta?.progressToken);
    const over = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(new Error('cancelled'));
      });
    });
    return await Promise.race([answer, over]);
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
  });
  await server.connect(transport);
  return transport;
}

/** Says how far it is, and then nothing any more. */
const HANGING: Readonly<Record<string, ToolOfSuite>> = {
  hangs: {
    description: 'Never answers',
    answer: async (tell, progressToken) => {
      if (progressToken !== undefined) await tell('notifications/progress', { progressToken, progress: 1 });
      return await new Promise(() => undefined);
    },
  },
};

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
}
