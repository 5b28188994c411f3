import { stringify } from 'yaml';
import { lintContract } from '../../../core/contract/lint';

const refusal = {
  application_id: 'web-app-penpot',
  classification: 'blocked',
  reason: 'interactive_browser_session',
  notes: 'The server needs an active browser tab and a plugin connection.',
};
const lint = (changes: object) => lintContract(stringify({ ...refusal, ...changes }), 'contract.yml');

describe('a reviewed refusal', () => {
  it('is a contract of its own kind, with a reason of the vocabulary and notes', () => {
    expect(lint({})).toEqual({ ok: true, disposition: refusal });
  });

  it.each([
    ['without a reason', { reason: undefined }, 'reason'],
    ['with an unknown reason', { reason: 'because' }, 'reason'],
    ['with notes that say nothing', { notes: 'no' }, 'notes'],
    ['that names an endpoint all the same', { endpoint: { path: 'x' } }, 'endpoint'],
    ['of an unknown classification', { classification: 'maybe' }, 'classification'],
  ])('is refused %s', (_what, changes, path) => {
    const result = lint(changes);
    expect(result.ok ? [] : result.findings.map((finding) => finding.path)).toContain(path);
  });
});
