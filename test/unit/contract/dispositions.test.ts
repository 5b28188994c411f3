import { readFileSync } from 'node:fs';
import path from 'node:path';
import { lintDispositions } from '../../../core/contract/dispositions';
import { APPLICATION_IDS, WORKFLOWS } from './checkedIn';

const FILE = 'workflows/dispositions.yml';
const text = readFileSync(path.join(WORKFLOWS, 'dispositions.yml'), 'utf8');
const contracts = new Set(APPLICATION_IDS);
const lint = (yaml: string) => lintDispositions(yaml, FILE, contracts);

const entry = `
  classification: no_surface
  reason: no_remote_surface
  notes: Publishes static pages and nothing else.
`;

it('every application of the audit has a contract or a disposition, and none has both', () => {
  const audited = readFileSync(path.resolve(__dirname, '../../fixtures/auditedApplications.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const read = lint(text);
  const disposed = read.ok ? read.dispositions.map(({ application_id: id }) => id) : [];
  expect(read).toMatchObject({ ok: true });
  const decided = [...APPLICATION_IDS, ...disposed];
  expect(audited.filter((id) => !decided.includes(id))).toEqual([]);
  expect(disposed.filter((id) => !audited.includes(id))).toEqual([]);
});

describe('dispositions.yml', () => {
  it.each([
    ['an entry twice', `a-b:${entry}a-b:${entry}`, /unique/],
    ['an application that has a contract', `web-app-n8n:${entry}`, /has a contract in a folder of its own/],
    ['an unknown reason', `a-b:${entry.replace('no_remote_surface', 'because')}`, /Invalid option/],
    ['a served application', `a-b:${entry.replace('no_surface', 'adapter_server')}`, /Invalid option/],
    [
      'no reason',
      `a-b:\n  classification: blocked\n  notes: Nobody has looked at it so far.\n`,
      /reason|Invalid/,
    ],
    ['an unknown key', `a-b:${entry}  url: https://app.test\n`, /url/],
    ['a name that is no id', `A_b:${entry}`, /application id|key/],
  ])('refuses %s', (_what, yaml, reason) => {
    const read = lint(yaml);
    expect(read.ok ? [] : read.findings.map((finding) => finding.reason)).toContainEqual(
      expect.stringMatching(reason),
    );
  });
});
