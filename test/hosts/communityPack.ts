import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { HostError } from './errors';

const run = promisify(execFile);

interface PackManifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  [field: string]: unknown;
}

/**
 * Installs a packed tarball into a user folder the way n8n's own "Install community node" does it
 * (community-packages.service.js, the same steps in 1.100.1 and 2.41.1): unpack below
 * `.n8n/nodes/node_modules`, drop development, peer and optional dependencies, let npm install the rest, and
 * note the package in `.n8n/nodes/package.json`. Node types become `<package name>.<node name>`.
 *
 * npm works offline here, so a dependency that slipped in fails instead of being fetched.
 *
 * @returns name and version of the pack
 * @throws HostError `pack_missing`, `pack_invalid`
 */
export async function installPack(
  userFolder: string,
  tarball: string,
  nodeBinary: string,
): Promise<{ name: string; version: string }> {
  const { name, version } = await readManifest(tarball);
  const nodesFolder = join(userFolder, '.n8n', 'nodes');
  const packFolder = join(nodesFolder, 'node_modules', name);
  await mkdir(packFolder, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', packFolder, '--strip-components=1']);

  const manifestFile = join(packFolder, 'package.json');
  const {
    devDependencies: _dev,
    peerDependencies: _peer,
    optionalDependencies: _optional,
    ...manifest
  } = JSON.parse(await readFile(manifestFile, 'utf8')) as PackManifest;
  await writeFile(manifestFile, JSON.stringify(manifest, null, 2));

  const flags = ['--audit=false', '--fund=false', '--bin-links=false', '--install-strategy=shallow'];
  const env = { ...process.env, PATH: `${dirname(nodeBinary)}:${process.env['PATH'] ?? ''}` };
  try {
    await run('npm', ['install', '--offline', '--ignore-scripts=true', '--package-lock=false', ...flags], {
      cwd: packFolder,
      env,
    });
  } catch (error) {
    throw new HostError('pack_invalid', `${tarball}: npm install failed offline; runtime dependencies?`, {
      cause: error,
    });
  }
  const list = { name: 'installed-nodes', private: true, dependencies: { [name]: version } };
  await writeFile(join(nodesFolder, 'package.json'), JSON.stringify(list, null, 2));
  return { name, version };
}

async function readManifest(tarball: string): Promise<PackManifest> {
  let text: string;
  try {
    text = (await run('tar', ['-xzOf', tarball, 'package/package.json'])).stdout;
  } catch (error) {
    throw new HostError('pack_missing', `${tarball} cannot be read as an npm tarball`, { cause: error });
  }
  const manifest = JSON.parse(text) as Partial<PackManifest>;
  const { name, version } = manifest;
  if (!name || !version || !('n8n' in manifest)) {
    throw new HostError('pack_invalid', `${tarball}: package.json has no name, version or "n8n" section`);
  }
  if (Object.keys(manifest.dependencies ?? {}).length > 0) {
    throw new HostError('pack_invalid', `${tarball} has runtime dependencies; the pack must have none`);
  }
  return { ...manifest, name, version };
}
