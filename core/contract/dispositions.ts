import { z } from 'zod';
import type { Finding } from './lint';
import { dispositionSchema, type Disposition } from './schema';
import { readSource } from './source';
import { APPLICATION_ID_PATTERN } from './vocabulary';

const fileSchema = z.record(
  z.string().regex(APPLICATION_ID_PATTERN, 'must be an application id'),
  dispositionSchema.omit({ application_id: true }),
);

export type DispositionsResult =
  | { readonly ok: true; readonly dispositions: readonly Disposition[] }
  | { readonly ok: false; readonly findings: readonly Finding[] };

/**
 * Reads `dispositions.yml`: applications that were looked at and get no surface, by application id (document 003,
 * "Exhaustive Application-ID Audit").
 *
 * @param contracts ids of applications that have a contract: what stands there does not stand here as well
 */
export function lintDispositions(
  text: string,
  file: string,
  contracts: ReadonlySet<string>,
): DispositionsResult {
  const source = readSource(text);
  if (Array.isArray(source)) {
    return { ok: false, findings: source.map((fault) => ({ file, path: '', ...fault })) };
  }
  const parsed = fileSchema.safeParse(source.data);
  if (!parsed.success) {
    const findings = parsed.error.issues.map(({ path, message }) => ({
      file,
      path: path.map(String).join('.'),
      line: source.lineOf(path),
      reason: message,
    }));
    return { ok: false, findings };
  }
  const ids = Object.keys(parsed.data);
  const twice = ids.filter((id) => contracts.has(id));
  if (twice.length > 0) {
    const reason = 'has a contract in a folder of its own; take it out here';
    return {
      ok: false,
      findings: twice.map((id) => ({ file, path: id, line: source.lineOf([id]), reason })),
    };
  }
  const dispositions = Object.entries(parsed.data).map(([id, entry]) => ({ application_id: id, ...entry }));
  return { ok: true, dispositions };
}
