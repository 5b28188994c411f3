import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const EXPECTED = path.resolve(__dirname, '../../expected');
const updates = process.env['UPDATE_EXPECTED'] === '1';

/**
 * A checked-in expectation, one file each, so that a change of what a model sees is a difference that somebody reviews.
 * `UPDATE_EXPECTED=1` writes what was found.
 *
 * @returns what is checked in; a sentence that says what to do where nothing is
 */
export function expectedFile(name: string, found: string): string {
  const file = path.join(EXPECTED, name);
  if (updates) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, found);
  }
  if (!existsSync(file)) return `test/expected/${name} is missing; UPDATE_EXPECTED=1 writes it.`;
  return readFileSync(file, 'utf8');
}
