import { z } from 'zod';
import { isContractHeader, isHeaderValue } from '../policy/headers';
import { PATH_PATTERN } from './paths';
import { TOOL_NAME_PATTERN } from './vocabulary';

/** JSON Schema 2020-12 as data; what is inside is checked by `core/contract/lint`. */
export const jsonSchemaSchema = z.record(z.string(), z.unknown()).describe('JSON Schema 2020-12.');

const pointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'must be a JSON pointer such as /data/result');
const keepPath = z.string().regex(PATH_PATTERN, 'must be a path such as tags[].name');
const redactPath = keepPath.refine((path) => path !== '.', 'must be a path within a record');
const argumentName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,62}$/, 'must be snake_case')
  .refine((name) => !(name in Object.prototype), 'is reserved: every object has a member of that name');
const headerName = z
  .string()
  .regex(/^[a-z][a-z0-9-]*$/, 'must be lower case')
  .refine(isContractHeader, 'is reserved: it would frame, redirect or authorize the request');
const headerValue = z.string().refine(isHeaderValue, 'must be printable text without a line break');

/** No scheme, host, query, dot segment or template other than one whole `{slot}` per segment. */
const REQUEST_PATH = /^(?:\/(?:\{[a-z][a-z0-9_]*\}|(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~:@-]+))+$/;

export const argumentPlacementSchema = z.strictObject({
  in: z
    .enum(['path', 'query'])
    .describe('Where the value goes. Nothing else of the request can be filled by a caller.'),
  as: z.string().min(1).max(100).describe('Name of the path slot or query parameter upstream.'),
});

export const boundArgumentSchema = z.strictObject({
  from: z.enum(['consumer', 'tenant']).describe('Which part of the authenticated identity fills the slot.'),
  in: z.enum(['path', 'query']),
  as: z.string().min(1).max(100),
});

export const paginationSchema = z
  .strictObject({
    style: z.enum(['none', 'cursor', 'page', 'offset']),
    size_argument: argumentName
      .nullable()
      .describe('Argument that asks for a page size; clamped to limits.page_size.'),
    position_argument: argumentName
      .nullable()
      .describe('Argument that carries the cursor, page number or offset.'),
    next: pointer.nullable().describe('Where upstream puts the next cursor; for the cursor style only.'),
  })
  .superRefine((pagination, context) => {
    const { style, position_argument: position, next, size_argument: size } = pagination;
    if ((style === 'none') !== (position === null)) {
      context.addIssue({
        code: 'custom',
        path: ['position_argument'],
        message: 'is needed by every style but none',
      });
    }
    if ((style === 'cursor') !== (next !== null)) {
      context.addIssue({
        code: 'custom',
        path: ['next'],
        message: 'belongs to the cursor style, which needs it',
      });
    }
    if ((style === 'page' || style === 'offset') && size === null) {
      context.addIssue({ code: 'custom', path: ['size_argument'], message: `is needed by style ${style}` });
    }
  });

export const responseSchema = z.strictObject({
  items: pointer.nullable().describe('Where the list of records stands; null when the answer is one record.'),
  map: z
    .strictObject({ key: argumentName, value: argumentName })
    .nullable()
    .describe('For an object that is keyed by name instead of a list: the fields its key and value become.'),
  keep: z
    .array(keepPath)
    .min(1)
    .describe('Paths within one record that are returned. Everything else is dropped.'),
  redact: z.array(redactPath).describe('Paths within one kept record whose value is replaced.'),
  envelope: z
    .record(argumentName, z.strictObject({ pointer, schema: jsonSchemaSchema }))
    .describe('Values beside the list that are returned too, by the name they get.'),
  text_characters: z
    .int()
    .min(1)
    .max(1_000_000)
    .describe('Longest text value in characters; a longer one is cut and says so.'),
  redirect: z
    .enum(['refuse', 'same_path_template'])
    .describe('same_path_template follows one redirect to the same origin and path template.'),
});

export const errorsSchema = z.strictObject({
  message: pointer
    .nullable()
    .describe('Where upstream puts the sentence that explains a 400 or 422; null hides it.'),
});

export const operationSchema = z.strictObject({
  name: z.string().regex(TOOL_NAME_PATTERN, 'must match ^[a-z][a-z0-9_]{0,62}$'),
  title: z.string().min(3).max(80),
  description: z
    .string()
    .min(40)
    .max(1_200)
    .describe('For a model: what it returns, when to use it, what its limits are.'),
  annotations: z.strictObject({
    readOnlyHint: z.boolean(),
    destructiveHint: z.boolean(),
    idempotentHint: z.boolean(),
    openWorldHint: z.boolean(),
  }),
  input_schema: jsonSchemaSchema,
  output_schema: jsonSchemaSchema.describe(
    'Schema of one record; for lists the envelope is added around it.',
  ),
  request: z.strictObject({
    method: z.literal('GET'),
    path: z
      .string()
      .max(300)
      .regex(REQUEST_PATH, 'must be a fixed path; a slot is a whole segment such as /users/{id}'),
    arguments: z.record(argumentName, argumentPlacementSchema),
    bound: z
      .record(z.string(), boundArgumentSchema)
      .describe('Slots filled from the identity, never by the caller.'),
    fixed_query: z.record(z.string(), z.string()),
    fixed_headers: z.record(headerName, headerValue),
  }),
  pagination: paginationSchema,
  response: responseSchema,
  errors: errorsSchema,
});

export type Operation = z.infer<typeof operationSchema>;
