import { graphqlFaults } from '../../../core/contract/lintGraphql';
import type { Operation } from '../../../core/contract/operation';
import type { GraphqlRequest } from '../../../core/contract/request';

const input = {
  type: 'object',
  properties: { q: { type: 'string' }, limit: { type: 'integer' } },
  required: ['q'],
};

const good: GraphqlRequest = {
  kind: 'graphql',
  path: '/graphql',
  document: 'query Find($q: String!, $limit: Int) { things(q: $q, first: $limit) { __typename id } }',
  variables: { q: { $value: 'q' }, limit: { $value: 'limit' } },
  arguments: { q: { in: 'template' }, limit: { in: 'template' } },
  bound: {},
  fixed_headers: {},
};

const faults = (changes: Partial<GraphqlRequest>) => {
  const request = { ...good, ...changes };
  return [...graphqlFaults({ input_schema: input, request } as unknown as Operation, request)].map(
    ([, reason]) => reason,
  );
};

describe('lint of a GraphQL document', () => {
  it('finds nothing in a query whose variables fit', () => {
    expect(faults({})).toEqual([]);
  });

  it.each([
    ['text that is no GraphQL', { document: 'query {' }, /is not GraphQL/],
    [
      'a mutation',
      { document: 'mutation M($q: String!, $limit: Int) { drop(q: $q, n: $limit) { id } }' },
      /not a mutation/,
    ],
    [
      'a subscription',
      { document: 'subscription S($q: String!, $limit: Int) { on(q: $q, n: $limit) { id } }' },
      /not a subscription/,
    ],
    [
      'a mutation behind a query',
      { document: `${good.document} mutation M { drop { id } }` },
      /exactly one query/,
    ],
    ['a type definition', { document: 'type Query { a: Int }' }, /exactly one query/],
    [
      'introspection',
      {
        document:
          'query Q($q: String!, $limit: Int) { __schema { types { name } } a(q: $q, n: $limit) { id } }',
      },
      /introspect/,
    ],
    [
      'a directive',
      { document: 'query Q($q: String!, $limit: Int) { a(q: $q, n: $limit) @include(if: true) { id } }' },
      /directives/,
    ],
    [
      'a selection without end',
      {
        document: `query Q($q: String!, $limit: Int) { a(q: $q, n: $limit) ${'{ b '.repeat(13)}${'}'.repeat(13)} }`,
      },
      /deeper/,
    ],
    [
      'a variable that is not declared',
      { variables: { ...good.variables, other: 1 } },
      /no variable of the document/,
    ],
    [
      'a variable that is declared and unused',
      { document: 'query Q($q: String!, $limit: Int) { a(q: $q) { id } }' },
      /does not use it/,
    ],
    ['a required variable without a value', { variables: { limit: { $value: 'limit' } } }, /must give \$q/],
    [
      'a required variable from an optional argument',
      { document: good.document.replace('Int)', 'Int!)') },
      /require limit/,
    ],
    [
      'an argument of another type',
      { document: good.document.replace('$limit: Int', '$limit: String') },
      /cannot be filled by a integer/,
    ],
    [
      'text for a number',
      { document: good.document.replace('$q: String!', '$q: Int!') },
      /cannot be filled by a string/,
    ],
  ])('refuses %s', (_what, changes, reason) => {
    expect(faults(changes)).toContainEqual(expect.stringMatching(reason));
  });
});
