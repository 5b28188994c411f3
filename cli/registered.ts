import type { Command } from 'commander';
import { createOutput, type Output, type OutputFormat } from './output';

/** How a command tells the shell how it went. */
export type Exit = (code: number) => void;

interface CommonOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export function outputOf(command: Command): Output {
  const { json, quiet } = command.optsWithGlobals<CommonOptions>();
  const format: OutputFormat = json ? 'json' : quiet ? 'quiet' : 'human';
  return createOutput(format);
}

/** The text below the options of `--help`. */
export const example = (line: string): string => `\nExample:\n  ${line}`;
