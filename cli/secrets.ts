import { readFile, stat } from 'node:fs/promises';

/**
 * Reads a secret from where a reference points: `env:NAME` or `file:PATH`. Secrets themselves never stand on a command
 * line, where every user of the machine can read them.
 *
 * @throws Error that names the reference and what to do, never the secret
 */
export async function readSecret(reference: string): Promise<string> {
  const [, kind, place = ''] = /^(env|file):(.+)$/s.exec(reference) ?? [];
  if (kind === 'env') return fromEnvironment(place);
  if (kind === 'file') return await fromFile(place);
  throw new Error(
    'A secret is referred to as env:NAME or file:PATH; it never stands on the command line itself.',
  );
}

function fromEnvironment(name: string): string {
  const secret = process.env[name]?.trim() ?? '';
  if (secret === '') throw new Error(`The environment variable ${name} is not set or empty.`);
  return secret;
}

/** Readable by anybody but the owner. */
const OTHERS = 0o077;

async function fromFile(path: string): Promise<string> {
  let secret: string;
  try {
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      throw new Error(`The file ${path} can be read by other users; run chmod 600 on it.`);
    }
    secret = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Error(`The file ${path} cannot be read (${code}).`, { cause: error });
  }
  if (secret === '') throw new Error(`The file ${path} is empty.`);
  return secret;
}
