import { dialectSchema } from './dialect';
import type { Fault } from './fault';
import { keepFaults } from './lintKeep';
import { requestFaults } from './lintRequest';
import { resourceFaults } from './lintResource';
import type { Operation } from './operation';
import type { JsonSchema } from './pin';
import { recordOf } from './recordOf';
import { choicesOf, isWebRequest } from './request';
import type { Contract } from './schema';

/** What no shape can say of one operation; paths start at the operation. */
export function* operationFaults(operation: Operation, contract: Contract): Generator<Fault> {
  const { input_schema: input, output_schema: output, pagination, response } = operation;
  const inputFault = schemaFault(input);
  if (inputFault !== undefined) yield [['input_schema'], inputFault];
  const outputFault = schemaFault(output);
  if (outputFault !== undefined) yield [['output_schema'], outputFault];
  yield* inputFaults(input);
  yield* requestFaults(operation, contract);
  yield* kindFaults(operation, contract);
  yield* resourceFaults(operation);
  yield* paginationFaults(operation);
  if (response.items === null && (pagination.style !== 'none' || response.map !== null)) {
    yield [['response', 'items'], 'is needed for pages and for map'];
  }
  if (response.items !== null && response.record !== undefined) {
    yield [['response', 'record'], 'is for one record; this operation answers with a list'];
  }
  if (response.lists !== undefined && response.format !== 'xml') {
    yield [['response', 'lists'], 'belongs to the format xml'];
  }
  if (response.items === null && choicesOf(operation.request).length > 0) {
    yield [['request', 'arguments'], 'choose among records, and this operation answers with one'];
  }
  if (response.items === null && Object.keys(response.envelope).length > 0) {
    yield [['response', 'envelope'], 'belongs to lists; keep the values of a single record instead'];
  }
  if (outputFault === undefined) yield* keepFaults(operation);
  if (contract.adapter.type === 'prometheus_readonly') yield* prometheusFaults(operation);
}

const KIND_OF_ADAPTER: Record<Contract['adapter']['type'], Operation['request']['kind']> = {
  openapi_allowlist: 'http',
  resource_readonly: 'http',
  prometheus_readonly: 'http',
  graphql_allowlist: 'graphql',
  s3_prefix: 's3',
  named_query: 'sql',
};

function* kindFaults({ request }: Operation, { adapter, auth }: Contract): Generator<Fault> {
  const kind = KIND_OF_ADAPTER[adapter.type];
  if (request.kind !== kind)
    yield [['request', 'kind'], `must be ${kind} in an adapter of type ${adapter.type}`];
  if (adapter.type !== 'resource_readonly') return;
  // Document 003: a bounded, published, non-secret set of content.
  if (auth !== 'public_read_only')
    yield [['request'], 'of a resource_readonly adapter is public: auth must be public_read_only'];
  if (request.kind === 'http' && request.method !== 'GET')
    yield [['request', 'method'], 'must be GET in a resource_readonly adapter'];
}

/** Document 003: query, range query, labels, metadata and targets; no administration, no configuration. */
const PROMETHEUS_PATH = /^\/api\/v1\/(?:query|query_range|labels|label\/\{\w+\}\/values|metadata|targets)$/;

function* prometheusFaults({ request }: Operation): Generator<Fault> {
  if (!isWebRequest(request)) return;
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
  if (style === 'offset' && size === null) {
    yield [['pagination', 'size_argument'], 'is needed by the style offset'];
  }
  if (style === 'page' && size === null && pagination.more === undefined) {
    yield [
      ['pagination', 'size_argument'],
      'is needed by the style page, unless upstream says whether there is more',
    ];
  }
  const counts = style === 'page' || style === 'offset';
  if (counts && position !== null && recordOf(properties[position])['type'] !== 'integer') {
    yield [['pagination', 'position_argument'], `must be an integer in style ${style}`];
  }
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
