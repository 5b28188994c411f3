import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Report, Row } from '../test/bench/server/report';

/**
 * `npm run bench:plot`: makes docs/images/bench.svg and the table of the README of docs/bench/server.json. The picture has
 * calls per second on a logarithmic scale, one group for each n8n and its settings and each number of connections.
 */

const ROOT = join(__dirname, '..');
const BARS = [
  { subject: 'call, recording none', label: 'ours, recording none', colour: '#0b7285' },
  { subject: 'call, recording refusals', label: 'ours, recording refusals', colour: '#15aabf' },
  { subject: 'call, recording all', label: 'ours, recording all', colour: '#99e9f2' },
  { subject: "call, n8n's own trigger", label: "n8n's own MCP Server Trigger", colour: '#e8590c' },
] as const;

const BAR = 16;
const GAP = 22;
const LEFT = 52;
const TOP = 46;
const HEIGHT = 240;
const LEGEND = 250;

/** What stands between these in the README is written by this script. */
const [BEGIN, END] = ['<!-- bench:begin -->', '<!-- bench:end -->'];
/** The number of connections that the README's table shows. */
const SHOWN = 8;

async function main(): Promise<void> {
  const report = JSON.parse(readFileSync(join(ROOT, 'docs/bench/server.json'), 'utf8')) as Report;
  writeFileSync(join(ROOT, 'docs/images/bench.svg'), plot(report));
  const file = join(ROOT, 'README.md');
  const readme = readFileSync(file, 'utf8');
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`README.md has no ${BEGIN} … ${END}`);
  const written = `${readme.slice(0, begin)}${BEGIN}\n\n${tableOf(report)}\n\n${readme.slice(end)}`;
  writeFileSync(file, await format(written, { ...(await resolveConfig(file)), filepath: file }));
}

/** One line per request and host, at {@link SHOWN} connections. */
function tableOf({ rows, cpu }: Report): string {
  const shown = rows.filter(({ connections }) => connections === SHOWN);
  const lines = shown.map((row) => {
    const ratio = row.times_per_second === null ? '' : `${String(row.times_per_second)} ×`;
    const p95 = row.part_of_p95 === null ? '' : `${String(row.part_of_p95)} ×`;
    return `| ${row.n8n} | ${row.settings} | ${row.subject} | ${String(row.per_second)} | ${ratio} | ${String(row.p95_ms)} | ${p95} |`;
  });
  const ours = cpu.map(
    ({ n8n, settings, ours: share }) => `${(share * 100).toFixed(1)} % on ${n8n} (${settings})`,
  );
  return [
    "| n8n | settings | request | per second | beside n8n's | p95 ms | beside n8n's |",
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
    `Share of our code in the CPU time of n8n during calls: ${ours.join(', ')}.`,
  ].join('\n');
}

function plot({ rows }: Report): string {
  const groups = [...new Map(rows.map((row) => [groupOf(row), row])).values()];
  const most = Math.max(...rows.map((row) => row.per_second), 10);
  const decades = Math.ceil(Math.log10(most));
  const y = (value: number) => TOP + HEIGHT - (HEIGHT * Math.log10(Math.max(value, 1))) / decades;
  const groupWidth = BARS.length * BAR + GAP;
  const width = LEFT + groups.length * groupWidth + 10;
  const parts = [...grid(decades, y, width), ...legend()];
  for (const [index, group] of groups.entries()) {
    const x = LEFT + index * groupWidth + GAP / 2;
    for (const [place, bar] of BARS.entries()) {
      const row = rows.find((one) => groupOf(one) === groupOf(group) && one.subject === bar.subject);
      if (row) parts.push(barOf(row, x + place * BAR, y(row.per_second), bar));
    }
    const middle = x + (BARS.length * BAR) / 2;
    parts.push(text(middle, TOP + HEIGHT + 16, `${String(group.connections)} conn.`, 'middle'));
    if (isFirstOfHost(groups, index)) {
      const last = groups.findLastIndex((other) => hostOf(other) === hostOf(group));
      const centre = LEFT + ((index + last + 1) / 2) * groupWidth;
      parts.push(text(centre, TOP + HEIGHT + 34, hostOf(group), 'middle'));
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(Math.max(width, 3 * LEGEND))} ${String(TOP + HEIGHT + 46)}" font-family="sans-serif" font-size="11" role="img">`,
    '<title>Calls per second of our trigger and of n8n’s own, logarithmic</title>',
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function barOf(row: Row, x: number, top: number, { label, colour }: (typeof BARS)[number]): string {
  const height = TOP + HEIGHT - top;
  const title = `n8n ${hostOf(row)}, ${String(row.connections)} connections, ${label}: ${String(row.per_second)} calls/s`;
  return [
    `<rect x="${fixed(x)}" y="${fixed(top)}" width="${String(BAR - 2)}" height="${fixed(height)}" fill="${colour}">`,
    `<title>${title}</title></rect>`,
    `<text x="${fixed(x + BAR / 2 - 1)}" y="${fixed(top - 3)}" text-anchor="middle" font-size="8" fill="#495057">${String(Math.round(row.per_second))}</text>`,
  ].join('');
}

function grid(decades: number, y: (value: number) => number, width: number): string[] {
  return Array.from({ length: decades + 1 }, (_, power) => {
    const at = fixed(y(10 ** power));
    const line = `<line x1="${String(LEFT)}" x2="${String(width)}" y1="${at}" y2="${at}" stroke="#dee2e6"/>`;
    return line + text(LEFT - 6, Number(at) + 4, String(10 ** power), 'end');
  });
}

function legend(): string[] {
  const places = [
    [LEFT, 4],
    [LEFT + LEGEND, 4],
    [LEFT, 20],
    [LEFT + LEGEND, 20],
  ];
  return BARS.map(({ label, colour }, index) => {
    const [x = 0, y = 0] = places[index] ?? [];
    return `<rect x="${String(x)}" y="${String(y)}" width="10" height="10" fill="${colour}"/>${text(x + 15, y + 9, `${label}, calls/s`, 'start')}`;
  });
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}" fill="#212529">${words}</text>`;
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function hostOf({ n8n, settings }: Row): string {
  return `${n8n}, ${settings} settings`;
}

function groupOf(row: Row): string {
  return `${hostOf(row)}, ${String(row.connections)}`;
}

function isFirstOfHost(groups: readonly Row[], index: number): boolean {
  const [before, group] = [groups[index - 1], groups[index]];
  return group !== undefined && (before === undefined || hostOf(before) !== hostOf(group));
}

void main();
