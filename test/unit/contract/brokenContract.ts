import { stringify } from 'yaml';
import { lintContract, type Finding } from '../../../core/contract/lint';
import { rawContract } from './checkedIn';

export const FILE = 'workflows/web-app-n8n/contract.yml';

/** As a value: take the part out instead. */
export const REMOVED = Symbol('removed');

/** Dotted path to new value. */
export type Changes = Readonly<Record<string, unknown>>;

export const findingsIn = (text: string): readonly Finding[] => {
  const result = lintContract(text, FILE);
  return result.ok ? [] : result.findings;
};

/** A checked-in contract as YAML with some parts set, added or removed. */
export function contractWith(changes: Changes, applicationId?: string): string {
  const contract = rawContract(applicationId);
  for (const [path, value] of Object.entries(changes)) setAt(contract, path.split('.'), value);
  return stringify(contract, { aliasDuplicateObjects: false });
}

export function setAt(root: unknown, path: readonly (string | number)[], value: unknown): void {
  const holder = path
    .slice(0, -1)
    .reduce((at: unknown, key) => (at as Record<string | number, unknown>)[key], root) as object;
  const last = path.at(-1) ?? '';
  if (value === REMOVED) Reflect.deleteProperty(holder, last);
  else Reflect.set(holder, last, value);
}

export type Row = readonly [fault: string, changes: Changes, reason: RegExp, foundAt?: string];

/** One test per row: the changes give a finding at `foundAt`, or where the first of them was made. */
export function itRefuses(rows: readonly Row[], under = ''): void {
  for (const [fault, changes, reason, foundAt = Object.keys(changes)[0] ?? ''] of rows) {
    it(`refuses ${fault}`, () => {
      const placed = Object.entries(changes).map(([path, value]) => [under + path, value] as const);
      const findings = findingsIn(contractWith(Object.fromEntries(placed)));
      const there = findings.filter(({ path }) => path === under + foundAt);
      expect(there.map((finding) => finding.reason)).toContainEqual(expect.stringMatching(reason));
      for (const { file, line } of findings) expect([file, line > 0]).toEqual([FILE, true]);
    });
  }
}
