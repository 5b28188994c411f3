import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { ESLint, type Linter } from 'eslint';
import { packTarball } from '../test/support/pack';

/** Seven bundles of about 0.4 MB and sixty contracts with their workflows. */
const LARGEST_TARBALL_BYTES = 4_000_000;
const load = createRequire(__filename);

/** The rules by which n8n's package scanner judges a community pack that does not ask for n8n Cloud. */
function scanConfig(): Linter.Config[] {
  const parser = load('@typescript-eslint/parser') as Linter.Parser;
  return [
    n8nCommunityNodesPlugin.configs.recommendedWithoutN8nCloudSupport,
    { files: ['**/*.json'], languageOptions: { parser } },
  ];
}

/** Lints the packed tarball as n8n's scanner does, inline comments ignored, and checks its size and dependencies. */
async function main(): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-curated-scan-'));
  try {
    const tarball = await packTarball(folder);
    execFileSync('tar', ['-xzf', tarball, '-C', folder]);
    const root = path.join(folder, 'package');
    const eslint = new ESLint({
      cwd: root,
      allowInlineConfig: false,
      overrideConfigFile: true,
      overrideConfig: scanConfig(),
    });
    const results = await eslint.lintFiles(['**/*.js', '**/*.json']);
    const faults = results.reduce((sum, result) => sum + result.errorCount, 0);
    if (faults > 0) process.stderr.write(await (await eslint.loadFormatter('stylish')).format(results));
    const { size } = statSync(tarball);
    const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      dependencies?: object;
    };
    const dependencies = Object.keys(manifest.dependencies ?? {});
    process.stdout.write(
      `${path.basename(tarball)}: ${size} bytes, ${dependencies.length} dependencies, ${results.length} files linted, ${faults} faults\n`,
    );
    return faults === 0 && size < LARGEST_TARBALL_BYTES && dependencies.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : 'The scan failed.'}\n`);
    process.exitCode = 1;
  },
);
