const { readdir, readFile } = require('node:fs/promises');
const path = require('node:path');

const PACKAGE_OF = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/**
 * The licences of everything that went into the bundles, as one text: bundling takes the packages' own files away.
 *
 * @param {import('esbuild').Metafile[]} metafiles of each esbuild run
 */
async function thirdPartyLicenses(metafiles) {
  const folders = new Set();
  for (const { inputs } of metafiles.flatMap(({ outputs }) => Object.values(outputs))) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = PACKAGE_OF.exec(file)?.[1];
      if (folder && bytesInOutput > 0) folders.add(folder);
    }
  }
  const texts = await Promise.all([...folders].sort().map(licenceOf));
  return `Parts of these packages are bundled.\n\n${[...new Set(texts)].join('\n')}`;
}

async function licenceOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => LICENCE_FILE.test(file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  const heading = `${name} ${version} (${license ?? 'licence in its text'})`;
  return [`${'='.repeat(80)}\n${heading}\n${'='.repeat(80)}`, ...texts.map((text) => text.trim()), ''].join(
    '\n\n',
  );
}

module.exports = { thirdPartyLicenses };
