import type { Fault } from './fault';
import { graphqlFaults } from './lintGraphql';
import type { Operation } from './operation';
import { recordOf } from './recordOf';
import { nodeFaults } from './lintNode';
import { s3Faults } from './lintS3';
import { sqlFaults } from './lintSql';
import type { ArgumentPlacement, HttpRequest, OperationRequest, WebRequest } from './request';
import type { Contract } from './schema';
import { namesIn, slotsOf, type Template } from './template';

/** What no shape can say of how upstream is asked; paths start at the operation. */
export function* requestFaults(operation: Operation, contract: Contract): Generator<Fault> {
  const { request } = operation;
  yield* placementFaults(operation);
  yield* bindingFaults(request, contract);
  yield* settingFaults(request, contract);
  if (request.kind === 'node') yield* nodeFaults(operation, request);
  else if (request.kind === 's3') yield* s3Faults(operation, request, contract);
  else if (request.kind === 'sql') yield* sqlFaults(operation, request, contract);
  else yield* webFaults(operation, request);
}

function* webFaults(operation: Operation, request: WebRequest): Generator<Fault> {
  yield* slotFaults(operation, request);
  yield* templateFaults(request);
  if (request.kind === 'http') yield* methodFaults(request);
  else yield* graphqlFaults(operation, request);
}

/** Every argument has a place, and every place an argument. */
function* placementFaults({ input_schema: input, request, pagination }: Operation): Generator<Fault> {
  const declared = Object.keys(recordOf(input['properties']));
  const placed = Object.keys(request.arguments);
  for (const name of declared) {
    if (!placed.includes(name)) yield [['request', 'arguments'], `must place the argument ${name}`];
  }
  for (const [name, placement] of Object.entries(request.arguments)) {
    const at = ['request', 'arguments', name];
    if (!declared.includes(name)) yield [at, 'is not in the input schema'];
    if (Object.hasOwn(request.bound, name)) yield [at, 'is bound, so no caller may give it'];
    if (placement.in === 'result') yield* choiceFaults(at, name, placement, pagination);
  }
}

function* choiceFaults(
  at: string[],
  name: string,
  { match, at: paths }: Extract<ArgumentPlacement, { in: 'result' }>,
  pagination: Operation['pagination'],
): Generator<Fault> {
  const counts = match === 'limit' || match === 'offset';
  if (counts === paths.length > 0) {
    yield [[...at, 'at'], counts ? 'must be empty' : 'must name where a record is looked at'];
  }
  if (match === 'limit' && pagination.size_argument !== name) {
    yield [at, 'must be the size_argument of pagination'];
  }
  if (match === 'offset' && (pagination.style !== 'offset' || pagination.position_argument !== name)) {
    yield [at, 'must be the position_argument of pagination, in style offset'];
  }
}

/** A slot must exist once, and every slot must be filled. */
function* slotFaults({ input_schema: input }: Operation, request: WebRequest): Generator<Fault> {
  const slots = slotsOf(request.path);
  const fillers = Object.entries({ ...request.arguments, ...request.bound });
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
  const targets = fillers.flatMap(([, placement]) =>
    placement.in === 'path' || placement.in === 'query' ? [`${placement.in} ${placement.as}`] : [],
  );
  if (request.kind === 'http') {
    for (const name of Object.keys(request.fixed_query)) targets.push(`query ${name}`);
    for (const name of Object.keys(request.computed_query ?? {})) targets.push(`query ${name}`);
  }
  for (const [, placement] of fillers) {
    if (placement.in === 'path' && !slots.includes(placement.as)) {
      yield [['request', 'path'], `has no slot {${placement.as}}`];
    }
  }
  if (new Set(targets).size !== targets.length) yield [['request'], 'fills one place of the request twice'];
}

/** A template takes what is placed in it, all of it and nothing else. */
function* templateFaults(request: WebRequest): Generator<Fault> {
  const given = Object.entries(request.arguments).flatMap(([name, { in: place }]) =>
    place === 'template' ? [name] : [],
  );
  const bound = Object.values(request.bound).flatMap(({ in: place, as }) =>
    place === 'template' ? [as] : [],
  );
  const known = [...given, ...bound];
  if (new Set(known).size !== known.length)
    yield [['request', 'bound'], 'gives one value of the template twice'];
  const used = new Set<string>();
  for (const [path, template] of templatesOf(request)) {
    for (const name of namesIn(template)) {
      used.add(name);
      if (!known.includes(name))
        yield [['request', ...path], `uses ${name}, which nothing places in a template`];
    }
  }
  for (const name of known) {
    if (!used.has(name)) yield [['request'], `places ${name} in a template that does not use it`];
  }
  if (request.kind === 'http' && request.body) yield* bodyFaults(request.body);
}

function* templatesOf(request: WebRequest): Generator<[path: string[], template: Template]> {
  if (request.kind === 'graphql') {
    yield [['variables'], request.variables];
    return;
  }
  yield [['computed_query'], request.computed_query ?? {}];
  if (!request.body) return;
  const { format, content } = request.body;
  if (format !== 'xml') yield [['body', 'content'], content];
  else if (typeof content === 'string') yield [['body', 'content'], { $text: content, escape: 'none' }];
}

function* bodyFaults({ format, content }: NonNullable<HttpRequest['body']>): Generator<Fault> {
  const at = ['request', 'body', 'content'];
  if (format === 'xml' && typeof content !== 'string') yield [at, 'must be text for the format xml'];
  if (format === 'form' && (content === null || typeof content !== 'object' || Array.isArray(content))) {
    yield [at, 'must be values by name for the format form'];
  }
  if (format === 'json' && (content === null || typeof content !== 'object')) {
    yield [at, 'must be an object or a list for the format json'];
  }
}

function* bindingFaults({ bound }: OperationRequest, { adapter }: Contract): Generator<Fault> {
  const { kind } = adapter.authentication;
  for (const [name, { from, setting, in: place }] of Object.entries(bound)) {
    const at = ['request', 'bound', name];
    if ((from === 'setting') !== (setting !== undefined)) {
      yield [[...at, 'setting'], 'belongs to from: setting, which needs it'];
    }
    if (from === 'secret' && (kind !== 'body' || place !== 'template')) {
      yield [at, 'a secret goes into a body only, under the authentication body'];
    }
    if (from === 'account' && kind !== 'basic' && kind !== 'session') {
      yield [at, 'only basic and session have an account'];
    }
  }
}

/** What an operator has to say is declared, with a description. */
function* settingFaults(request: OperationRequest, { adapter }: Contract): Generator<Fault> {
  for (const name of settingsOf(request)) {
    if (adapter.settings?.[name] === undefined) {
      yield [['request'], `uses the setting ${name}, which adapter.settings does not declare`];
    }
  }
}

/** Names of the settings that a request uses. */
export function settingsOf(request: OperationRequest): string[] {
  return [
    ...(request.kind === 'sql' && request.declared_columns ? [request.declared_columns.setting] : []),
    ...Object.values(request.bound).flatMap(({ setting }) => setting ?? []),
    ...Object.values(request.arguments).flatMap((placement) =>
      placement.in === 'result' ? [] : (placement.allowed_by ?? []),
    ),
  ];
}

function* methodFaults({ method, body, reads_because: because }: HttpRequest): Generator<Fault> {
  if (method === 'GET') {
    if (body !== undefined) yield [['request', 'body'], 'must not be there for GET'];
    if (because !== undefined) yield [['request', 'reads_because'], 'is for methods other than GET'];
    return;
  }
  if (body === undefined)
    yield [['request', 'body'], `is needed by ${method}, which is for fixed search bodies`];
  if (because === undefined) {
    yield [['request', 'reads_because'], `is needed by ${method}: say why this request only reads`];
  }
}
