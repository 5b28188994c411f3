import type { Fault } from './fault';
import type { Operation } from './operation';
import { recordOf } from './recordOf';
import type { S3Request } from './request';
import type { Contract } from './schema';

/** The arguments that an action understands; where objects are is said by the operator, what is read by these. */
const ARGUMENTS: Record<S3Request['action'], readonly string[]> = {
  list: ['bucket', 'prefix', 'limit', 'cursor'],
  head: ['bucket', 'key'],
  get: ['bucket', 'key'],
};

/** What no shape can say of an operation on an object store; paths start at the operation. */
export function* s3Faults(operation: Operation, request: S3Request, contract: Contract): Generator<Fault> {
  const { action, arguments: places, bound } = request;
  for (const [name, { in: place }] of Object.entries(places)) {
    const at = ['request', 'arguments', name];
    if (!ARGUMENTS[action].includes(name))
      yield [at, `is no argument of ${action}; there are ${ARGUMENTS[action].join(', ')}`];
    if (place !== 'template') yield [[...at, 'in'], 'must be template in a request of kind s3'];
  }
  if (Object.keys(bound).length > 0)
    yield [['request', 'bound'], 'must be empty: where objects are is declared in the credential'];
  yield* action === 'list' ? listFaults(operation) : objectFaults(operation, contract, action);
}

function* listFaults({ pagination, response }: Operation): Generator<Fault> {
  const { style, size_argument: size, position_argument: position, next } = pagination;
  const isPaged = style === 'cursor' && size === 'limit' && position === 'cursor' && next === '/next';
  if (!isPaged) yield [['pagination'], 'must be: style cursor, size limit, position cursor, next /next'];
  if (response.items !== '/items') yield [['response', 'items'], 'must be /items for a list of objects'];
}

function* objectFaults(
  { input_schema: input, response }: Operation,
  { limits }: Contract,
  action: S3Request['action'],
): Generator<Fault> {
  const required: unknown[] = Array.isArray(input['required']) ? input['required'] : [];
  if (recordOf(input['properties'])['key'] === undefined || !required.includes('key'))
    yield [['input_schema', 'required'], 'must list key'];
  if (response.items !== null) yield [['response', 'items'], 'must be null: the answer is one object'];
  if (action === 'get' && response.text_characters < limits.response_bytes) {
    yield [
      ['response', 'text_characters'],
      'must not be smaller than limits.response_bytes: an object is refused, not cut',
    ];
  }
}
