import { createProgram } from '../../cli/main';

/** What a shell would see of one call. */
export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `mcp-curated` in this process. What it throws, a shell would see on stderr, with code 1. */
export async function runCli(...args: string[]): Promise<Run> {
  const output = { code: -1, stdout: '', stderr: '' };
  const write = (stream: 'stdout' | 'stderr') => (text: unknown) => {
    output[stream] += String(text);
    return true;
  };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    jest.spyOn(process[stream], 'write').mockImplementation(write(stream) as never),
  );
  try {
    const program = createProgram((code) => {
      output.code = code;
    });
    await program.parseAsync(['node', 'mcp-curated', ...args]);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return output;
}
