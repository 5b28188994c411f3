import { dialectSchema } from './dialect';
import type { Fault } from './fault';
import { keepFaults } from './lintKeep';
import type { Operation } from './operation';
import type { JsonSchema } from './pin';
import { recordOf } from './recordOf';
import type { Contract } from './schema';

/** What no shape can say of one operation; paths start at the operation. */
export function* operationFaults(operation: Operation, contract: Contract): Generator<Fault> {
  const { input_schema: input, output_schema: output, request, pagination, response } = operation;
  const inputFault = schemaFault(input);
  if (inputFault !== undefined) yield [['input_schema'], inputFault];
  const outputFault = schemaFault(output);
  if (outputFault !== undefined) yield [['output_schema'], outputFault];
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
  if (outputFault === undefined) yield* keepFaults(operation);
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
