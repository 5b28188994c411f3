import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { lintDispositions, type DispositionsResult } from '../core/contract/dispositions';
import { foldersIn } from './contracts';

const FILE = 'dispositions.yml';

/** Reads `<folder>/dispositions.yml`; a folder without one has no dispositions. */
export async function readDispositions(folder: string): Promise<DispositionsResult> {
  const absolute = path.join(folder, FILE);
  try {
    const text = await readFile(absolute, 'utf8');
    const contracts = new Set(await foldersIn(folder));
    return lintDispositions(text, path.relative(process.cwd(), absolute), contracts);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ok: true, dispositions: [] };
    throw error;
  }
}
