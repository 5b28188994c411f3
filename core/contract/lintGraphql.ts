import {
  GraphQLError,
  Kind,
  OperationTypeNode,
  parse,
  visit,
  type DocumentNode,
  type TypeNode,
  type VariableDefinitionNode,
} from 'graphql';
import type { Fault } from './fault';
import type { Operation } from './operation';
import { recordOf } from './recordOf';
import type { GraphqlRequest } from './request';
import { namesIn, type Template } from './template';

const DEEPEST_SELECTION = 12;
/** JSON Schema types of an argument by the scalar of a variable; enums and scalars of upstream are text. */
const SCALARS: Record<string, readonly string[]> = {
  Int: ['integer'],
  Float: ['integer', 'number'],
  Boolean: ['boolean'],
  ID: ['string', 'integer'],
};

/**
 * One checked-in query: parsed, without mutation, subscription, introspection or directives, and with variables that
 * are declared, filled and of the type of the argument that fills them.
 */
export function* graphqlFaults(operation: Operation, request: GraphqlRequest): Generator<Fault> {
  const at = ['request', 'document'];
  let document: DocumentNode;
  try {
    document = parse(request.document, { maxLexicalTokens: 2_000 });
  } catch (error) {
    yield [at, `is not GraphQL: ${error instanceof GraphQLError ? error.message : 'it cannot be parsed'}`];
    return;
  }
  const [definition, second] = document.definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION || second !== undefined) {
    yield [at, 'must hold exactly one query and nothing else'];
    return;
  }
  if (definition.operation !== OperationTypeNode.QUERY)
    yield [at, `must be a query, not a ${definition.operation}`];
  for (const reason of selectionFaults(document)) yield [at, reason];
  yield* variableFaults(operation, request, definition.variableDefinitions ?? []);
  if (request.reads_because !== undefined) {
    yield [['request', 'reads_because'], 'is not needed: the document is a query'];
  }
}

function selectionFaults(document: DocumentNode): string[] {
  const faults = new Set<string>();
  let depth = 0;
  visit(document, {
    Directive: () => void faults.add('must not hold directives'),
    Field: ({ name: { value } }) => {
      if (value.startsWith('__') && value !== '__typename') faults.add('must not introspect');
    },
    SelectionSet: {
      enter: () => {
        depth += 1;
        if (depth > DEEPEST_SELECTION)
          faults.add(`must not select deeper than ${String(DEEPEST_SELECTION)} levels`);
      },
      leave: () => {
        depth -= 1;
      },
    },
  });
  return [...faults];
}

function* variableFaults(
  { input_schema: input }: Operation,
  { document, variables }: GraphqlRequest,
  definitions: readonly VariableDefinitionNode[],
): Generator<Fault> {
  const at = ['request', 'variables'];
  const declared = definitions.map(({ variable }) => variable.name.value);
  for (const name of Object.keys(variables)) {
    if (!declared.includes(name)) yield [[...at, name], 'is no variable of the document'];
  }
  const required: unknown[] = Array.isArray(input['required']) ? input['required'] : [];
  for (const { variable, type, defaultValue } of definitions) {
    const { value: name } = variable.name;
    const used = document.split(new RegExp(`\\$${name}\\b`)).length > 2;
    if (!used) yield [['request', 'document'], `declares $${name} and does not use it`];
    const template = variables[name];
    if (template === undefined) {
      if (type.kind === Kind.NON_NULL_TYPE && !defaultValue) yield [at, `must give $${name}`];
      continue;
    }
    const argument = soleArgument(template);
    if (argument === undefined) continue;
    const schema = recordOf(recordOf(input['properties'])[argument.$value]);
    if (
      type.kind === Kind.NON_NULL_TYPE &&
      argument.otherwise === undefined &&
      Object.keys(schema).length > 0
    ) {
      if (!required.includes(argument.$value))
        yield [at, `$${name} must have a value: require ${argument.$value}`];
    }
    const allowed = SCALARS[namedType(type)] ?? ['string'];
    if (Object.keys(schema).length > 0 && !allowed.includes(String(schema['type']))) {
      yield [[...at, name], `is ${namedType(type)} and cannot be filled by a ${String(schema['type'])}`];
    }
  }
}

/** The one argument that a variable is, where it is no more than that. */
function soleArgument(template: Template): { $value: string; otherwise?: Template } | undefined {
  const isOne =
    template !== null &&
    typeof template === 'object' &&
    Object.hasOwn(template, '$value') &&
    namesIn(template).size === 1;
  return isOne ? (template as { $value: string }) : undefined;
}

function namedType(type: TypeNode): string {
  if (type.kind === Kind.NAMED_TYPE) return type.name.value;
  return type.kind === Kind.LIST_TYPE ? 'list' : namedType(type.type);
}
