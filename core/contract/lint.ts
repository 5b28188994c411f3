import type { z } from 'zod';
import { sha256Of } from './canonical';
import { dialectSchema } from './dialect';
import type { Operation } from './operation';
import type { JsonSchema } from './pin';
import { contractSchema, dispositionSchema, type Contract, type Disposition } from './schema';
import { readSource, type Source } from './source';
import { surfaceOf } from './surface';
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
    ? [...semanticFaults(parsed.data)]
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

type Fault = [path: PropertyKey[], reason: string];

/** What no shape can say: the parts of a contract have to agree with each other. */
function* semanticFaults(contract: Contract): Generator<Fault> {
  const names = contract.operations.map((operation) => operation.name);
  if (new Set(names).size !== names.length) yield [['operations'], 'name one tool twice'];
  if (JSON.stringify([...contract.tools.allowlist].sort()) !== JSON.stringify([...names].sort())) {
    yield [['tools', 'allowlist'], `must name exactly the operations: ${names.join(', ')}`];
  }
  yield* authFaults(contract);
  yield* capabilityFaults(contract);
  for (const [index, operation] of contract.operations.entries()) {
    for (const [path, reason] of operationFaults(operation, contract)) {
      yield [['operations', index, ...path], reason];
    }
  }
  yield* hashFaults(contract);
}

function* authFaults({ auth, auth_subject: subject, credential, operations }: Contract): Generator<Fault> {
  const bound = operations.some((operation) => Object.keys(operation.request.bound).length > 0);
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

function* capabilityFaults({ capabilities, tools, operations }: Contract): Generator<Fault> {
  if (!capabilities.tools) yield [['capabilities', 'tools'], 'must be true: the surface serves tools'];
  for (const capability of ['resources', 'prompts', 'sampling', 'elicitation', 'roots'] as const) {
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
        'must say readOnlyHint true and destructiveHint false for a GET',
      ];
    }
  }
}

function* operationFaults(operation: Operation, contract: Contract): Generator<Fault> {
  const { input_schema: input, output_schema: output, request, pagination, response } = operation;
  for (const [key, schema] of [
    ['input_schema', input],
    ['output_schema', output],
  ] as const) {
    const fault = schemaFault(schema);
    if (fault !== undefined) yield [[key], fault];
  }
  yield* inputFaults(input);
  const declared = Object.keys(input['properties'] ?? {});
  const placed = Object.keys(request.arguments);
  for (const name of declared) {
    if (!placed.includes(name)) yield [['request', 'arguments'], `must place the argument ${name}`];
  }
  for (const name of placed) {
    if (!declared.includes(name)) yield [['request', 'arguments', name], 'is not in the input schema'];
  }
  yield* slotFaults(operation);
  yield* paginationFaults(operation);
  if (response.items === null && (pagination.style !== 'none' || response.map !== null)) {
    yield [['response', 'items'], 'is needed for pages and for map'];
  }
  if (response.items === null && Object.keys(response.envelope).length > 0) {
    yield [['response', 'envelope'], 'belongs to lists; keep the values of a single record instead'];
  }
  if (contract.adapter.type === 'prometheus_readonly') yield* prometheusFaults(operation);
}

/** Document 003: query, range query, labels, metadata and targets; no administration, no configuration. */
const PROMETHEUS_PATH = /^\/api\/v1\/(?:query|query_range|labels|label\/\{\w+\}\/values|metadata|targets)$/;

function* prometheusFaults({ request }: Operation): Generator<Fault> {
  if (!PROMETHEUS_PATH.test(request.path)) {
    yield [['request', 'path'], 'must be a query, labels, label values, metadata or targets below /api/v1'];
  }
  if (/\/query(?:_range)?$/.test(request.path) && request.arguments['query'] === undefined) {
    // The reach of an expression is measured under this name.
    yield [['request', 'arguments'], 'must place query'];
  }
}

function* paginationFaults({ pagination, input_schema: input }: Operation): Generator<Fault> {
  const properties = recordOf(input['properties']);
  const { style, size_argument: size, position_argument: position } = pagination;
  for (const [key, name] of Object.entries({ size_argument: size, position_argument: position })) {
    if (name !== null && !Object.hasOwn(properties, name)) {
      yield [['pagination', key], `${name} is not in the input schema`];
    }
  }
  const { type, minimum } = recordOf(size === null ? undefined : properties[size]);
  if (size !== null && (type !== 'integer' || typeof minimum !== 'number' || minimum < 1)) {
    // Many upstreams read 0 as "everything".
    yield [['pagination', 'size_argument'], 'must be an integer with minimum 1 or more'];
  }
  const counts = style === 'page' || style === 'offset';
  if (counts && position !== null && recordOf(properties[position])['type'] !== 'integer') {
    yield [['pagination', 'position_argument'], `must be an integer in style ${style}`];
  }
}

/** A slot must exist once, and every slot must be filled. */
function* slotFaults({ request, input_schema: input }: Operation): Generator<Fault> {
  const slots = [...request.path.matchAll(/\{([a-z0-9_]+)\}/g)].map(([, slot]) => slot ?? '');
  const fillers = [...Object.entries(request.arguments), ...Object.entries(request.bound)];
  const required: unknown[] = Array.isArray(input['required']) ? input['required'] : [];
  if (new Set(slots).size !== slots.length) yield [['request', 'path'], 'holds one slot twice'];
  for (const slot of slots) {
    const filling = fillers.filter(([, placement]) => placement.in === 'path' && placement.as === slot);
    if (filling.length !== 1) yield [['request', 'path'], `{${slot}} must be filled by exactly one argument`];
    for (const [name] of filling) {
      if (Object.hasOwn(request.arguments, name) && !required.includes(name)) {
        yield [['input_schema', 'required'], `must list ${name}, which fills the path`];
      }
    }
  }
  const targets = fillers.map(([, placement]) => `${placement.in} ${placement.as}`);
  for (const name of Object.keys(request.fixed_query)) targets.push(`query ${name}`);
  for (const [, placement] of fillers) {
    if (placement.in === 'path' && !slots.includes(placement.as)) {
      yield [['request', 'path'], `has no slot {${placement.as}}`];
    }
  }
  if (new Set(targets).size !== targets.length) yield [['request'], 'fills one place of the request twice'];
}

/** Inputs are closed and bounded, so that a caller can fill declared slots and nothing else. */
function* inputFaults(input: JsonSchema): Generator<Fault> {
  if (input['type'] !== 'object') yield [['input_schema', 'type'], 'must be object'];
  if (input['additionalProperties'] !== false) {
    yield [['input_schema', 'additionalProperties'], 'must be false'];
  }
  if (input['patternProperties'] !== undefined) {
    yield [['input_schema', 'patternProperties'], 'must not be there: declare every argument by its name'];
  }
  for (const [name, given] of Object.entries(recordOf(input['properties']))) {
    const schema = recordOf(given);
    const at = ['input_schema', 'properties', name];
    if (typeof schema['description'] !== 'string') yield [at, 'needs a description for the model'];
    switch (schema['type']) {
      case 'string':
        if (schema['maxLength'] === undefined && schema['enum'] === undefined) {
          yield [at, 'needs maxLength or enum'];
        }
        break;
      case 'integer':
      case 'number':
        if (schema['maximum'] === undefined || schema['minimum'] === undefined) {
          yield [at, 'needs minimum and maximum'];
        }
        break;
      case 'boolean':
        break;
      default:
        yield [at, 'must be of type string, integer, number or boolean'];
    }
  }
}

function schemaFault(schema: JsonSchema): string | undefined {
  const issue = dialectSchema.safeParse(schema).error?.issues[0];
  if (!issue) return undefined;
  const at = issue.path.map(String).join('.');
  const reason =
    issue.code === 'unrecognized_keys' ? `has no keyword ${issue.keys.join(', ')}` : issue.message;
  return `is not a strict JSON Schema 2020-12: ${at === '' ? '' : `${at} `}${reason}`;
}

function* hashFaults(contract: Contract): Generator<Fault> {
  const expected = expectedHashes(contract);
  if (contract.tools.schema_sha256 !== expected.schema_sha256) {
    yield [['tools', 'schema_sha256'], `must be ${expected.schema_sha256}: what a model sees has changed`];
  }
  if (contract.adapter.specification_sha256 !== expected.specification_sha256) {
    yield [
      ['adapter', 'specification_sha256'],
      `must be ${expected.specification_sha256}: how upstream is called has changed`,
    ];
  }
}

/** The two hashes that a reviewer signs off by checking them in. */
export function expectedHashes(contract: Contract): { schema_sha256: string; specification_sha256: string } {
  return {
    schema_sha256: surfaceOf(contract).catalogue_pin,
    specification_sha256: sha256Of(contract.operations),
  };
}

/** What is no object is reported as no schema elsewhere; here it has no parts. */
function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
