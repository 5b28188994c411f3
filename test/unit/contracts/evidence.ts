import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { AUTHENTICATION_KINDS } from '../../../core/contract/schema';

/**
 * What an upstream application asks for and answers, read from its own sources and documentation and not from our
 * contract. A contract is held against it: the two are written apart, so that a slip in one shows.
 */
export const EVIDENCE = path.resolve(__dirname, '../../evidence');

const texts = z.record(z.string(), z.string());

const requestSchema = z.strictObject({
  method: z.string(),
  path: z.string().startsWith('/'),
  /** The whole query, the fixed part and signatures included. */
  query: z.record(z.string(), z.union([z.string(), z.array(z.string())])).default({}),
  /** Besides accept, accept-encoding, content-type and what shows the identity. */
  headers: texts.default({}),
  /** JSON data, `{form: …}` or `{xml: …}`. */
  body: z.unknown().optional(),
});

const answerSchema = z.strictObject({
  status: z.int().default(200),
  type: z.string().default('application/json'),
  headers: texts.default({}),
  /** JSON data, or text for other types. */
  body: z.unknown(),
});

const failureSchema = answerSchema.extend({ code: z.string() });

const operationEvidence = z.strictObject({
  arguments: z.record(z.string(), z.unknown()),
  request: requestSchema,
  response: answerSchema,
  /** Paths in the body at which no caller may ever see what stands there. */
  private: z.array(z.string()),
  /** Answers that upstream is known to give when it fails. */
  failures: z.array(failureSchema).default([]),
});

const evidenceSchema = z.strictObject({
  application_id: z.string(),
  version: z.string(),
  sources: z.array(z.url()).min(1),
  /** The upstream credential as an operator fills it in; `{secret}` is made up anew by the tests. */
  access: z.strictObject({
    authentication: z.enum(AUTHENTICATION_KINDS),
    name: z.string().default(''),
    secret: z.string().default(''),
    settings: z.string().default(''),
  }),
  /** How the identity shows in every request. */
  identity: z.strictObject({ headers: texts.default({}), query: texts.default({}) }),
  sign_in: z.strictObject({ request: requestSchema, response: answerSchema }).optional(),
  operations: z.record(z.string(), operationEvidence),
});

export type Evidence = z.infer<typeof evidenceSchema>;
export type OperationEvidence = z.infer<typeof operationEvidence>;
export type RequestEvidence = z.infer<typeof requestSchema>;

/** Every file of evidence, by application id. */
export const EVIDENCE_FILES: ReadonlyMap<string, Evidence> = new Map(
  readdirSync(EVIDENCE)
    .filter((name) => name.endsWith('.yml'))
    .map((name) => {
      const parsed = evidenceSchema.safeParse(parse(readFileSync(path.join(EVIDENCE, name), 'utf8')));
      if (!parsed.success) throw new Error(`${name}: ${z.prettifyError(parsed.error)}`);
      return [parsed.data.application_id, parsed.data];
    }),
);

export function evidenceOf(applicationId: string): Evidence {
  const found = EVIDENCE_FILES.get(applicationId);
  if (!found) throw new Error(`There is no test/evidence/${applicationId}.yml.`);
  return found;
}

/** What evidence says of one operation. */
export function exampleOf({ application_id: id, operations }: Evidence, tool: string): OperationEvidence {
  const found = operations[tool];
  if (!found) throw new Error(`test/evidence/${id}.yml says nothing of ${tool}.`);
  return found;
}
