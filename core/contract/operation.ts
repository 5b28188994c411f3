import { z } from 'zod';
import { PATH_PATTERN } from './paths';
import { argumentName, requestSchema } from './request';
import { resourceSchema } from './resource';
import { TOOL_NAME_PATTERN } from './vocabulary';

/** JSON Schema 2020-12 as data; what is inside is checked by `core/contract/lint`. */
export const jsonSchemaSchema = z.record(z.string(), z.unknown()).describe('JSON Schema 2020-12.');

const pointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'must be a JSON pointer such as /data/result');
const keepPath = z.string().regex(PATH_PATTERN, 'must be a path such as tags[].name');
const redactPath = keepPath.refine((path) => path !== '.', 'must be a path within a record');
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
    next_of_last: pointer
      .optional()
      .describe('Instead of next: the value within the last record from which upstream reads on.'),
    first: z
      .literal([0, 1])
      .optional()
      .describe('Number of the first page for the page style; 1 where it is not said.'),
    more: pointer.optional().describe('Where upstream says whether there is more: true, "true" or not.'),
    total: pointer.optional().describe('Where upstream says how many records there are in all.'),
  })
  .superRefine((pagination, context) => {
    const { style, position_argument: position, next } = pagination;
    if ((style === 'none') !== (position === null)) {
      context.addIssue({
        code: 'custom',
        path: ['position_argument'],
        message: 'is needed by every style but none',
      });
    }
    const cursors = (next === null ? 0 : 1) + (pagination.next_of_last === undefined ? 0 : 1);
    if (cursors !== (style === 'cursor' ? 1 : 0)) {
      context.addIssue({
        code: 'custom',
        path: ['next'],
        message: 'belongs to the cursor style, which needs it or next_of_last',
      });
    }
    if (pagination.first !== undefined && style !== 'page') {
      context.addIssue({ code: 'custom', path: ['first'], message: 'belongs to the page style' });
    }
  });

export const responseSchema = z.strictObject({
  format: z
    .enum(['json', 'xml', 'text', 'lines'])
    .optional()
    .describe('json where it is not said. text becomes {"text": …}, lines a list of lines.'),
  lists: z
    .array(z.string().min(1))
    .optional()
    .describe('Names of XML elements that are lists even when there is one of them.'),
  headers: z
    .array(z.string().regex(/^[a-z][a-z0-9-]*$/, 'must be lower case'))
    .min(1)
    .optional()
    .describe('Headers that are read too: pointers then begin at {"body": …, "headers": {…}}.'),
  record: pointer
    .optional()
    .describe('Where the one record stands; nothing or null there means that upstream has none.'),
  base64: z
    .array(keepPath)
    .optional()
    .describe(
      'Paths of kept values that upstream sends in base64: returned as text, left out when they are none.',
    ),
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

/** What an answer with status 200 can turn out to be. */
export const FAILURE_CODES = [
  'upstream_auth_failed',
  'upstream_not_found',
  'upstream_rejected',
  'upstream_rate_limited',
  'upstream_unavailable',
] as const;

const scalar = z.union([z.string(), z.number(), z.boolean()]);

export const errorsSchema = z.strictObject({
  message: pointer
    .nullable()
    .describe('Where upstream puts the sentence that explains a 400 or 422; null hides it.'),
  statuses: z
    .record(z.string().regex(/^[45]\d\d$/, 'must be a status such as 400'), z.enum(FAILURE_CODES))
    .optional()
    .describe('Our code by the status, where upstream uses a status otherwise than HTTP does.'),
  failure: z
    .strictObject({
      at: pointer.describe('A value that tells a failure although the status says success.'),
      unless: z
        .array(scalar)
        .optional()
        .describe(
          'Values that mean success. Left out: whatever stands there, null and [] excepted, is a failure.',
        ),
      codes: z
        .record(z.string(), z.enum(FAILURE_CODES))
        .optional()
        .describe('Our code by the value found, as text; upstream_rejected for all others.'),
    })
    .optional(),
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
  request: requestSchema,
  pagination: paginationSchema,
  response: responseSchema,
  errors: errorsSchema,
  resource: resourceSchema.optional(),
});

export type Operation = z.infer<typeof operationSchema>;
