import { z } from 'zod';
import { isContractHeader, isHeaderValue } from '../policy/headers';
import { PATH_PATTERN } from './paths';
import { templateSchema } from './template';

const pointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'must be a JSON pointer such as /data/result');

export const argumentName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be snake_case')
  .refine((name) => !(name in Object.prototype), 'is reserved: every object has a member of that name');
const headerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]*$/, 'must be lower case')
  .refine(isContractHeader, 'is reserved: it would frame, redirect or authorize the request');
const headerValue = z.string().refine(isHeaderValue, 'must be printable text without a line break');
const settingName = argumentName.describe('Name of a setting of the upstream credential.');

/**
 * No scheme, host, query, dot segment or template other than one `{slot}` per segment, with a fixed ending such as
 * `.json` at most.
 */
const REQUEST_PATH = /^(?:\/(?:\{[a-z][a-z0-9_]*\}(?:\.[a-z]+)?|(?!\.+(?:\/|$))[A-Za-z0-9._~:@-]+))*\/?$/;

const requestPath = z
  .string()
  .min(1)
  .max(300)
  .startsWith('/')
  .regex(REQUEST_PATH, 'must be a fixed path; a slot is a whole segment such as /users/{id}');

/** The value must stand in a list that the operator wrote into the credential: buckets, collections, projects. */
const allowedBy = settingName.optional();

/** Where one argument goes. Nothing else of the request can be filled by a caller. */
export const argumentPlacementSchema = z.discriminatedUnion('in', [
  z.strictObject({
    in: z.literal('path'),
    as: z.string().min(1).max(100).describe('Name of the slot.'),
    join: z
      .enum(['/', '%2F', '/spaces/'])
      .optional()
      .describe('The value may hold slashes; its parts are checked one by one and joined with this.'),
    allowed_by: allowedBy,
  }),
  z.strictObject({
    in: z.literal('query'),
    as: z.string().min(1).max(100).describe('Name of the query parameter upstream.'),
    values: z
      .record(z.string(), z.string())
      .optional()
      .describe("Upstream's spelling of a value, where it has another one; others are sent as they are."),
    allowed_by: allowedBy,
  }),
  z.strictObject({
    in: z.literal('template').describe('A slot of computed_query, body, variables or the statement.'),
    allowed_by: allowedBy,
  }),
  z.strictObject({
    in: z.literal('result').describe('Not sent: chooses among the records that upstream answered with.'),
    match: z.enum(['contains', 'equals', 'prefix', 'limit', 'offset']),
    at: z
      .array(z.string().regex(PATH_PATTERN, 'must be a path such as tags[].name'))
      .describe(
        'Paths within a record; one of them has to match, regardless of case. Empty for limit and offset.',
      ),
  }),
]);

export type ArgumentPlacement = z.infer<typeof argumentPlacementSchema>;

/** A slot that the caller never fills: from the identity of the caller, or from the upstream credential. */
export const boundArgumentSchema = z.strictObject({
  from: z
    .enum(['consumer', 'tenant', 'setting', 'account', 'secret'])
    .describe('account: the user name in the credential; secret: for upstreams that want it in the body.'),
  setting: settingName.optional(),
  in: z.enum(['path', 'query', 'template']),
  as: z.string().min(1).max(100).describe('Slot or parameter; for template the name of the value.'),
});

const placed = {
  arguments: z.record(argumentName, argumentPlacementSchema),
  bound: z
    .record(argumentName, boundArgumentSchema)
    .describe('Slots filled from the identity or the credential, never by the caller.'),
};

const readsBecause = z
  .string()
  .min(20)
  .optional()
  .describe('For every method but GET: why this request only reads, as read in the sources.');

export const httpRequestSchema = z.strictObject({
  kind: z.literal('http'),
  method: z
    .enum(['GET', 'POST', 'PROPFIND', 'REPORT'])
    .describe('Every method but GET is for fixed search bodies.'),
  reads_because: readsBecause,
  path: requestPath,
  ...placed,
  fixed_query: z.record(z.string(), z.union([z.string(), z.array(z.string()).min(1)])),
  computed_query: z
    .record(z.string(), templateSchema)
    .optional()
    .describe('Query parameters with slots in them, such as a JSON filter.'),
  fixed_headers: z.record(headerName, headerValue),
  body: z
    .strictObject({
      format: z.enum(['json', 'form', 'xml']),
      content: templateSchema.describe(
        'form: flat values by name. xml: text with {slots}, which are escaped.',
      ),
    })
    .optional(),
});

export const graphqlRequestSchema = z.strictObject({
  kind: z.literal('graphql'),
  reads_because: readsBecause,
  path: requestPath,
  document: z
    .string()
    .min(10)
    .max(8_000)
    .describe('One query, as it is sent: no mutation, no introspection.'),
  variables: z.record(z.string().regex(/^[A-Za-z_]\w*$/), templateSchema),
  ...placed,
  fixed_headers: z.record(headerName, headerValue),
});

/** What can be asked of an object store. Bucket and key stay below the locations that the operator declared. */
export const S3_ACTIONS = ['list', 'head', 'get'] as const;

export const s3RequestSchema = z.strictObject({
  kind: z.literal('s3'),
  action: z.enum(S3_ACTIONS).describe('get returns text and JSON; of all other objects what head returns.'),
  ...placed,
});

export const sqlRequestSchema = z.strictObject({
  kind: z.literal('sql'),
  statement: z
    .string()
    .min(10)
    .max(8_000)
    .describe('One SELECT as it is sent, with :names for its parameters; no text of a caller enters it.'),
  parameters: z
    .array(argumentName)
    .max(20)
    .describe('Names of the parameters in the order in which the statement uses them.'),
  declared_columns: z
    .strictObject({
      argument: argumentName.describe('Chooses one of the tables that the operator declared.'),
      setting: settingName.describe('Lists what may be read: schema.table.column, …'),
    })
    .optional()
    .describe('For {columns} and {table} of the statement: identifiers that the operator wrote, quoted.'),
  ...placed,
});

/** A tool node of n8n itself. Its own parameters say what is asked; `$fromAI` says what a model fills in. */
export const nodeRequestSchema = z.strictObject({
  kind: z.literal('node'),
  reads_because: readsBecause,
  node: z.strictObject({
    type: z
      .string()
      .regex(/^n8n-nodes-base\.[A-Za-z]+Tool$/, 'must be a tool node such as n8n-nodes-base.httpRequestTool'),
    type_version: z.number(),
    parameters: z
      .record(z.string(), z.unknown())
      .describe(
        'As n8n stores them: without values that are the default. {base_url} stands for the address.',
      ),
  }),
  ...placed,
});

export const requestSchema = z.discriminatedUnion('kind', [
  httpRequestSchema,
  graphqlRequestSchema,
  s3RequestSchema,
  sqlRequestSchema,
  nodeRequestSchema,
]);

export type HttpRequest = z.infer<typeof httpRequestSchema>;
export type GraphqlRequest = z.infer<typeof graphqlRequestSchema>;
export type S3Request = z.infer<typeof s3RequestSchema>;
export type NodeRequest = z.infer<typeof nodeRequestSchema>;
export type SqlRequest = z.infer<typeof sqlRequestSchema>;
export type OperationRequest = z.infer<typeof requestSchema>;
/** What is sent over HTTP, whatever language its body is in. */
export type WebRequest = HttpRequest | GraphqlRequest;

export function isWebRequest(request: OperationRequest): request is WebRequest {
  return request.kind === 'http' || request.kind === 'graphql';
}

/**
 * Sign-in for upstreams that take a short-lived token instead of the credential itself. It is made with the credential,
 * kept in memory only, and made again when it is about to end or upstream refuses it.
 */
export const sessionSchema = z.strictObject({
  path: requestPath,
  body: z.strictObject({
    format: z.enum(['json', 'form']),
    content: templateSchema.describe('The values are account and secret, from the credential.'),
  }),
  token: pointer.describe('Where the answer holds the token.'),
  header: z.strictObject({
    name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be lower case'),
    text: z.string().includes('{token}'),
  }),
  lifetime_seconds: z
    .int()
    .min(30)
    .max(86_400)
    .describe('How long a token is used before a new one is made.'),
});

export type Session = z.infer<typeof sessionSchema>;

type Choice = Extract<ArgumentPlacement, { in: 'result' }>;

/** The arguments of a request that choose among the records of an answer instead of being sent. */
export function choicesOf(request: Pick<OperationRequest, 'arguments'>): [name: string, choice: Choice][] {
  return Object.entries(request.arguments).flatMap(([name, placement]) =>
    placement.in === 'result' ? [[name, placement]] : [],
  );
}
