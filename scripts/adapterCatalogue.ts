import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findingLine, findingsOf, isSurface, readContracts, type ContractFile } from '../cli/contracts';
import { readDispositions } from '../cli/dispositions';
import type { Contract, Disposition } from '../core/contract/schema';

const WORKFLOWS = path.resolve(__dirname, '../workflows');
const FILE = path.resolve(__dirname, '../docs/adapters.md');
const BEGIN = '<!-- begin: written by npm run docs -->';
const END = '<!-- end -->';

type Surface = ContractFile & { result: { ok: true; contract: Contract } };

const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
const row = (...cells: string[]): string => `| ${cells.map(cell).join(' | ')} |`;

function overview(surfaces: readonly Surface[]): string[] {
  return [
    row('application', 'tools', 'kind', 'authentication', 'tested with', 'status'),
    row('---', '---', '---', '---', '---', '---'),
    ...surfaces.map(({ result: { contract: one } }) =>
      row(
        `[${one.name}](#${one.application_id})`,
        one.operations.map(({ name }) => `\`${name}\``).join(', '),
        one.adapter.type,
        one.adapter.authentication.kind,
        one.upstream.version,
        one.maturity,
      ),
    ),
  ];
}

function section({ result: { contract: one } }: Surface): string[] {
  const { authentication, settings = {} } = one.adapter;
  const { kind, name, secret, optional } = authentication;
  const entered = [name === null ? '' : `name: ${name}`, secret === null ? '' : `secret: ${secret}`].filter(
    Boolean,
  );
  return [
    `### ${one.application_id}`,
    '',
    `${one.name} ${one.upstream.version}, read from ${one.upstream.sources.map((url, index) => `[${String(index + 1)}](${url})`).join(', ')}.`,
    '',
    ...one.operations.map(({ name: tool, title }) => `- \`${tool}\`: ${cell(title)}`),
    '',
    `- **Identity:** ${cell(one.identity)}`,
    `- **Authentication:** ${kind}${entered.length === 0 ? '' : ` (${cell(entered.join('; '))})`}${optional && kind !== 'none' ? '; optional' : ''}`,
    ...Object.entries(settings).map(
      ([setting, { description, example }]) =>
        `- **Setting \`${setting}\`:** ${cell(description)} Example: \`${setting} = ${example}\``,
    ),
    `- **Limits:** ${Object.entries(one.limits)
      .map(([limit, value]) => `${limit} ${String(value)}`)
      .join(', ')}`,
    '',
  ];
}

function refused(dispositions: readonly Disposition[]): string[] {
  return [
    row('application', 'classification', 'reason', 'notes'),
    row('---', '---', '---', '---'),
    ...dispositions.map((one) => row(`\`${one.application_id}\``, one.classification, one.reason, one.notes)),
  ];
}

async function catalogue(): Promise<string> {
  const files = await readContracts(WORKFLOWS);
  const read = await readDispositions(WORKFLOWS);
  const findings = [...findingsOf(files), ...(read.ok ? [] : read.findings)];
  if (findings.length > 0 || !read.ok) throw new Error(findings.map(findingLine).join('\n'));
  const surfaces = files.filter(isSurface);
  const looked = files.flatMap(({ result }) => (result.ok && result.disposition ? [result.disposition] : []));
  const dispositions = [...looked, ...read.dispositions].sort((one, other) =>
    one.application_id < other.application_id ? -1 : 1,
  );
  return [
    `## ${String(surfaces.length)} applications with a surface`,
    '',
    ...overview(surfaces),
    '',
    ...surfaces.flatMap(section),
    '## Applications without a surface',
    '',
    ...refused(dispositions),
  ].join('\n');
}

/** `npm run docs`: writes the catalogue between its markers; `--check` only says whether it is up to date. */
async function main(): Promise<void> {
  const text = await readFile(FILE, 'utf8');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${FILE} has no markers.`);
  const written = `${text.slice(0, begin)}${BEGIN}\n\n${await catalogue()}\n\n${text.slice(end)}`;
  if (written === text) return;
  if (process.argv.includes('--check'))
    throw new Error('docs/adapters.md is not up to date; npm run docs writes it.');
  await writeFile(FILE, written);
}

void main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
