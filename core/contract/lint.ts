import type { z } from 'zod';
import { sha256Of } from './canonical';
import type { Fault } from './fault';
import { operationFaults } from './lintOperation';
import { settingsOf } from './lintRequest';
import { contractSchema, dispositionSchema, sessionOf, type Contract, type Disposition } from './schema';
import { resourceOverlaps } from './lintResource';
import { readSource, type Source } from './source';
import { surfaceOf } from './surface';
import { namesIn } from './template';
import { CLASSIFICATIONS, SERVED } from './vocabulary';

/** One fault of a contract: where, and what to do about it. */
export interface Finding {
  readonly file: string;
  /** Dotted path inside the document, `operations.0.request.path`; empty for the document itself. */
  readonly path: string;
  readonly line: number;
  readonly reason: string;
}

/** A surface that can be deployed, or the reviewed reason why an application gets none. */
export type LintResult =
  | { ok: true; contract: Contract; disposition?: undefined }
  | { ok: true; contract?: undefined; disposition: Disposition }
  | { ok: false; findings: Finding[] };

/** Reads and checks one `contract.yml`. Never throws for what stands in the file. */
export function lintContract(text: string, file: string): LintResult {
  const source = readSource(text);
  if (Array.isArray(source))
    return { ok: false, findings: source.map((fault) => ({ file, path: '', ...fault })) };
  const finding = ([path, reason]: Fault): Finding => ({
    file,
    path: path.map(String).join('.'),
    line: source.lineOf(path),
    reason,
  });
  if (isNegative(source.data)) {
    const refusal = dispositionSchema.safeParse(source.data);
    if (refusal.success) return { ok: true, disposition: refusal.data };
    const faults = refusal.error.issues.flatMap((issue) => faultsOf(issue, source));
    return { ok: false, findings: faults.map(finding) };
  }
  const parsed = contractSchema.safeParse(source.data);
  const faults = parsed.success
    ? agreementFaults(parsed.data)
    : parsed.error.issues.flatMap((issue) => faultsOf(issue, source));
  if (!parsed.success || faults.length > 0) return { ok: false, findings: faults.map(finding) };
  return { ok: true, contract: parsed.data };
}

function isNegative(data: unknown): boolean {
  const classification = (data as { classification?: unknown } | null | undefined)?.classification;
  return classification !== SERVED && CLASSIFICATIONS.some((known) => known === classification);
}

/** What zod says, in words that tell an author what to do. */
function faultsOf(issue: z.core.$ZodIssue, source: Source): Fault[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => [[...path, key], 'is not a known key']);
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => [path, message]);
  if (path.length === 0 || source.has(path)) return [[path, issue.message]];
  return [[path, `is missing: ${issue.message.replace(/^Invalid input: |, received undefined$/g, '')}`]];
}

/** A hash is worth a word only when there is nothing left to change. */
function agreementFaults(contract: Contract): Fault[] {
  const faults = [...semanticFaults(contract)];
  return faults.length > 0 ? faults : [...hashFaults(contract)];
}

/** What no shape can say: the parts of a contract have to agree with each other. */
function* semanticFaults(contract: Contract): Generator<Fault> {
  const names = contract.operations.map((operation) => operation.name);
  if (new Set(names).size !== names.length) yield [['operations'], 'name one tool twice'];
  if (JSON.stringify([...contract.tools.allowlist].sort()) !== JSON.stringify([...names].sort())) {
    yield [['tools', 'allowlist'], `must name exactly the operations: ${names.join(', ')}`];
  }
  yield* undecidedFaults(contract, []);
  yield* authFaults(contract);
  yield* authenticationFaults(contract);
  yield* capabilityFaults(contract);
  if (contract.limits.page_size > contract.limits.result_items) {
    yield [['limits', 'page_size'], 'must not be larger than result_items, which cuts every page'];
  }
  yield* resourceOverlaps(contract.operations);
  for (const [index, operation] of contract.operations.entries()) {
    for (const [path, reason] of operationFaults(operation, contract)) {
      yield [['operations', index, ...path], reason];
    }
  }
}

/** What a scaffolded contract leaves to a person must not be served before that person has looked at it. */
function* undecidedFaults(value: unknown, path: string[]): Generator<Fault> {
  if (typeof value === 'string' && value.startsWith('TODO')) yield [path, 'still says TODO'];
  if (value === null || typeof value !== 'object') return;
  for (const [key, entry] of Object.entries(value)) yield* undecidedFaults(entry, [...path, key]);
}

function* authFaults({ auth, auth_subject: subject, credential, operations }: Contract): Generator<Fault> {
  const ofSomebody = ['consumer', 'tenant', 'account', 'secret'];
  const bound = operations.some(({ request }) =>
    Object.values(request.bound).some(({ from }) => ofSomebody.includes(from)),
  );
  if (auth === 'public_read_only' && (credential !== null || bound || subject !== 'anonymous')) {
    yield [
      ['auth'],
      'public_read_only needs an anonymous subject, no credential and no argument bound to a tenant',
    ];
  }
  if (auth === 'bearer_token' && subject !== 'anonymous' && credential === null) {
    yield [['credential'], `must name the upstream identity of subject ${subject}`];
  }
}

const NAMED_KINDS = ['header', 'query'];

function* authenticationFaults({ adapter, credential, operations }: Contract): Generator<Fault> {
  const { authentication, settings = {} } = adapter;
  const session = sessionOf(adapter);
  const at = ['adapter', 'authentication'];
  const { kind, name, secret } = authentication;
  if ((kind === 'none') !== (secret === null))
    yield [[...at, 'secret'], 'says what to enter, for every kind but none'];
  if (NAMED_KINDS.includes(kind) && name === null) yield [[...at, 'name'], `is needed by the kind ${kind}`];
  if ((kind === 'session') !== (session !== undefined)) {
    yield [['adapter', 'session'], 'belongs to the authentication session, which needs it'];
  }
  for (const value of session ? namesIn(session.body.content) : []) {
    if (value !== 'account' && value !== 'secret') {
      yield [['adapter', 'session', 'body', 'content'], `uses ${value}; there are account and secret`];
    }
  }
  if (credential === null && kind !== 'none' && !authentication.optional) {
    yield [['credential'], `must name the identity that is shown by ${kind}`];
  }
  const used = operations.flatMap(({ request }) => settingsOf(request));
  for (const setting of Object.keys(settings)) {
    if (!used.includes(setting)) yield [['adapter', 'settings', setting], 'is used by no operation'];
  }
}

function* capabilityFaults({ capabilities, tools, operations }: Contract): Generator<Fault> {
  if (!capabilities.tools) yield [['capabilities', 'tools'], 'must be true: the surface serves tools'];
  const declared = operations.some(({ resource }) => resource !== undefined);
  if (capabilities.resources !== declared) {
    const reason = declared
      ? 'true: an operation declares a resource'
      : 'false: no operation declares a resource';
    yield [['capabilities', 'resources'], `must be ${reason}`];
  }
  for (const capability of ['prompts', 'sampling', 'elicitation', 'roots'] as const) {
    if (capabilities[capability]) {
      yield [['capabilities', capability], 'is not served by this release and must be false'];
    }
  }
  if (!tools.read_only_default) yield [['tools', 'read_only_default'], 'must be true'];
  if (tools.mutating_tools_enabled) {
    yield [['tools', 'mutating_tools_enabled'], 'must be false: no adapter of this release writes'];
  }
  for (const [index, { annotations }] of operations.entries()) {
    if (!annotations.readOnlyHint || annotations.destructiveHint) {
      yield [
        ['operations', index, 'annotations'],
        'must say readOnlyHint true and destructiveHint false: every operation only reads',
      ];
    }
  }
}

const AFTER_REVIEW = 'after the review: npm run render -- --pin';

function* hashFaults(contract: Contract): Generator<Fault> {
  const expected = expectedHashes(contract);
  if (contract.tools.schema_sha256 !== expected.schema_sha256) {
    yield [
      ['tools', 'schema_sha256'],
      `must be ${expected.schema_sha256}: what a model sees has changed; ${AFTER_REVIEW}`,
    ];
  }
  if (contract.adapter.specification_sha256 !== expected.specification_sha256) {
    yield [
      ['adapter', 'specification_sha256'],
      `must be ${expected.specification_sha256}: how upstream is called has changed; ${AFTER_REVIEW}`,
    ];
  }
}

/** The two hashes that a reviewer signs off by checking them in. */
export function expectedHashes(contract: Contract): { schema_sha256: string; specification_sha256: string } {
  return {
    schema_sha256: surfaceOf(contract).catalogue_pin,
    specification_sha256: sha256Of({
      operations: contract.operations,
      session: sessionOf(contract.adapter) ?? null,
    }),
  };
}
