import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { HostError } from '../hosts/errors';

const run = promisify(execFile);
const CHECKOUT = join(__dirname, '..', '..');

/**
 * Packs the checkout as it would be published, into `outDir`. Builds nothing: what is packed is what `npm run
 * build` left in dist/.
 *
 * @param outDir a folder without another tarball in it; made if absent
 * @returns the path of the tarball
 * @throws HostError `pack_missing` if dist/ lacks a file that package.json promises to n8n
 */
export async function packTarball(outDir: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(CHECKOUT, 'package.json'), 'utf8')) as {
    n8n?: { nodes?: string[]; credentials?: string[] };
  };
  const promised = [...(manifest.n8n?.nodes ?? []), ...(manifest.n8n?.credentials ?? [])];
  const missing = promised.filter((file) => !existsSync(join(CHECKOUT, file)));
  if (missing.length > 0) {
    throw new HostError('pack_missing', `run "npm run build" first: ${missing.join(', ')} not found`);
  }
  await mkdir(outDir, { recursive: true });
  await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', outDir], {
    cwd: CHECKOUT,
    maxBuffer: 64 * 1024 * 1024,
  });
  // The shape of npm's JSON depends on npm's version; the folder does not.
  const tarballs = (await readdir(outDir)).filter((name) => name.endsWith('.tgz'));
  const [tarball, ...others] = tarballs;
  if (!tarball || others.length > 0) {
    throw new HostError('pack_missing', `${outDir} should hold one tarball and holds ${tarballs.length}`);
  }
  return join(outDir, tarball);
}
