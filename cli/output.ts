/** Results go to stdout, messages to stderr, so that a shell can use the results. */
export interface Output {
  /** @param json the result for `--json`; @param lines the same for a person */
  result(json: unknown, lines: () => string[]): void;
  error(message: string): void;
  /** What a person or a log should know beside the result; not with `--quiet`. */
  note(message: string): void;
  /** A line for a person who waits; nothing where nobody does. */
  readonly progress: (line: string) => void;
}

export type OutputFormat = 'human' | 'json' | 'quiet';

export function createOutput(format: OutputFormat): Output {
  return {
    result: (json, lines) => {
      if (format === 'json') process.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
      else if (format === 'human') for (const line of lines()) process.stdout.write(`${line}\n`);
    },
    error: (message) => {
      process.stderr.write(`${message}\n`);
    },
    note: (message) => {
      if (format !== 'quiet') process.stderr.write(`${message}\n`);
    },
    progress: (line) => {
      if (format === 'human' && process.stderr.isTTY) process.stderr.write(`${line}\n`);
    },
  };
}
