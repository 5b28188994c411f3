import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer, listenOnLoopback } from './loopback';

/** One turn of the model: tools to call, or the last words. */
export type Turn = { call: string; args: object } | { say: string };

export interface ModelRequest {
  stream?: boolean;
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string; description: string; parameters: Record<string, unknown> } }[];
}

/** An OpenAI-compatible chat model that says what a script says, and remembers what it was asked. */
export class ScriptedModel {
  readonly requests: ModelRequest[] = [];
  readonly #server: Server;
  #turns: Turn[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
      request.on('end', () => {
        const asked = JSON.parse(body || '{}') as ModelRequest;
        this.requests.push(asked);
        const turn = this.#turns.shift() ?? { say: 'the script is over' };
        const type = asked.stream ? 'text/event-stream' : 'application/json';
        response.writeHead(200, { 'content-type': type, connection: 'close' });
        const number = this.requests.length;
        response.end(asked.stream ? streamed(turn, number) : JSON.stringify(completion(turn, number)));
      });
    });
  }

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    await listenOnLoopback(model.#server);
    return model;
  }

  /** Base address for an OpenAI credential. */
  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/v1`;
  }

  /** The turns of the next conversation; forgets what was asked before. */
  script(...turns: Turn[]): void {
    this.#turns = turns;
    this.requests.length = 0;
  }

  async stop(): Promise<void> {
    await closeServer(this.#server);
  }
}

/** The parts of the one message, as both forms hold it. */
function message(turn: Turn, number: number): { finish_reason: string; message: Record<string, unknown> } {
  if ('say' in turn) return { finish_reason: 'stop', message: { role: 'assistant', content: turn.say } };
  const call = {
    index: 0,
    id: `call_${String(number)}`,
    type: 'function',
    function: { name: turn.call, arguments: JSON.stringify(turn.args) },
  };
  return { finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } };
}

const head = (number: number) => ({
  id: `chatcmpl-${String(number)}`,
  created: 1_700_000_000,
  model: 'gpt-4o-mini',
});

function completion(turn: Turn, number: number): object {
  return {
    ...head(number),
    object: 'chat.completion',
    choices: [{ index: 0, ...message(turn, number) }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function streamed(turn: Turn, number: number): string {
  const { finish_reason, message: delta } = message(turn, number);
  const chunk = (choice: object) => ({
    ...head(number),
    object: 'chat.completion.chunk',
    choices: [{ index: 0, ...choice }],
  });
  const chunks = [chunk({ delta, finish_reason: null }), chunk({ delta: {}, finish_reason })];
  return [...chunks.map((one) => JSON.stringify(one)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}
