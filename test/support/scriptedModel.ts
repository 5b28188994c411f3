import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One turn of the model: tools to call, or the last words. */
export type Turn = { call: string; args: object } | { say: string };

export interface ModelRequest {
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
        this.requests.push(JSON.parse(body || '{}') as ModelRequest);
        const turn = this.#turns.shift() ?? { say: 'the script is over' };
        response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
        response.end(JSON.stringify(completion(turn, this.requests.length)));
      });
    });
  }

  static async start(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
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
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function completion(turn: Turn, number: number): object {
  const isCall = 'call' in turn;
  const call = isCall && {
    id: `call_${String(number)}`,
    type: 'function',
    function: { name: turn.call, arguments: JSON.stringify(turn.args) },
  };
  return {
    id: `chatcmpl-${String(number)}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'scripted',
    choices: [
      {
        index: 0,
        finish_reason: isCall ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content: isCall ? null : turn.say,
          ...(call ? { tool_calls: [call] } : {}),
        },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}
