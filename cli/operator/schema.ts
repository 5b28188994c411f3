import { z } from 'zod';
import { SHA256_PATTERN } from '../../core/contract/canonical';
import { argumentName } from '../../core/contract/request';
import { AUTHENTICATION_KINDS } from '../../core/contract/schema';
import { APPLICATION_ID_PATTERN, TOOL_NAME_PATTERN } from '../../core/contract/vocabulary';
import { limitsSchema } from '../../core/policy/limits';
import { MOST_CONCURRENT_CALLS, MOST_REQUESTS_PER_MINUTE } from '../../core/server/consumerLimits';

const applicationId = z
  .string()
  .regex(APPLICATION_ID_PATTERN, 'must be an application id such as web-app-example');

/** Where a secret is, never the secret: `env:NAME` or `file:PATH`, relative to the operator file. */
export const secretReference = z
  .string()
  .regex(/^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/, 'must be env:NAME or file:PATH')
  .describe('Where a secret is: env:NAME or file:PATH. {application_id} in it stands for the surface.');

const address = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

/** What a client can speak and show. Surfaces serve streamable_http to a bearer_token; discover rejects the others. */
const transport = z.enum(['streamable_http', 'sse', 'stdio']);
const auth = z.enum(['bearer_token', 'oauth2', 'oidc', 'none']);

/** A named client of surfaces. */
const consumerSchema = z
  .strictObject({
    id: applicationId,
    token: secretReference
      .optional()
      .describe('Its bearer. With {application_id} in it: one for each surface.'),
    token_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits')
      .optional()
      .describe('SHA-256 of its bearer, where the bearer itself is nobody else’s business.'),
    expires_at: z.iso.datetime({ offset: true }).optional(),
    tenant: z.string().min(1).max(200).optional(),
    requests_per_minute: z
      .int()
      .min(1)
      .max(MOST_REQUESTS_PER_MINUTE)
      .optional()
      .describe('Most requests per minute at each surface, in each process of n8n.'),
    concurrent_calls: z
      .int()
      .min(1)
      .max(MOST_CONCURRENT_CALLS)
      .optional()
      .describe('Most calls at the same time at each surface, in each process of n8n.'),
    transports: z.array(transport).min(1).default(['streamable_http']),
    auths: z.array(auth).min(1).default(['bearer_token']),
  })
  .refine(({ token, token_sha256 }) => (token === undefined) !== (token_sha256 === undefined), {
    error: 'needs either token or token_sha256',
  });

const settingValue = z.string().regex(/^[^\s,](?:[^,\r\n]*[^\s,])?$/, 'must be one value without commas');

const settingsSchema = z
  .record(argumentName, z.union([settingValue, z.array(settingValue).min(1)]))
  .default({})
  .describe(
    'What the contract needs to know of this installation, such as the collections that may be read.',
  );

const webUpstreamSchema = z
  .strictObject({
    base_url: address.describe('Origin of the application, with a path prefix if it has one.'),
    authentication: z.enum(AUTHENTICATION_KINDS),
    name: z
      .string()
      .min(1)
      .optional()
      .describe('Header, user or query parameter; the one that the contract names if absent.'),
    secret: secretReference.optional(),
    consumer_secrets: z
      .record(applicationId, secretReference)
      .optional()
      .describe('For data that is private to each user: the secret of every consumer. Without one, no call.'),
    settings: settingsSchema,
    test_path: z.string().startsWith('/').optional().describe('That of the contract if absent.'),
  })
  .refine(
    ({ authentication, secret, consumer_secrets }) =>
      (authentication === 'none') === (secret === undefined && consumer_secrets === undefined),
    { path: ['secret'], error: 'is needed by every authentication but none' },
  );

/** For contracts of the adapter s3_prefix. */
const s3UpstreamSchema = z.strictObject({
  authentication: z.literal('s3'),
  endpoint: address.describe('Origin of the S3 API, without a path.'),
  region: z.string().min(1).default('us-east-1'),
  path_style: z.boolean().default(true).describe('False: the bucket is a part of the host name.'),
  access_key_id: z.string().min(1),
  secret: secretReference.describe('The secret access key.'),
  locations: z
    .array(z.string().regex(/^[^/\s]+\/\S[^\r\n]*$/, 'must be bucket/prefix'))
    .min(1)
    .describe('What can be listed and read; nothing outside of them can be reached.'),
});

/** For contracts of the adapter named_query, which say which dialect it is. */
const databaseUpstreamSchema = z.strictObject({
  authentication: z.literal('database'),
  host: z.string().min(1),
  port: z.int().min(1).max(65_535).optional().describe('5432 for PostgreSQL and 3306 for MariaDB if absent.'),
  database: z.string().min(1),
  user: z.string().min(1).describe('One that can only read.'),
  secret: secretReference.describe('Its password.'),
  tls: z.enum(['disable', 'verify']).default('verify'),
  ca_certificate: z
    .string()
    .includes('-----BEGIN CERTIFICATE-----')
    .optional()
    .describe('PEM text of the authority, where it is one of your own.'),
  settings: settingsSchema,
});

const upstreamSchema = z.discriminatedUnion('authentication', [
  webUpstreamSchema,
  s3UpstreamSchema,
  databaseUpstreamSchema,
]);

/** Who has a secret of its own at an upstream. */
function secretConsumers(upstream: z.infer<typeof upstreamSchema>): string[] {
  return 'consumer_secrets' in upstream ? Object.keys(upstream.consumer_secrets ?? {}) : [];
}

const surfaceSchema = z.strictObject({
  application_id: applicationId,
  enabled: z.boolean().describe('A surface that is not enabled has no endpoint and no credential.'),
  upstream: upstreamSchema,
  consumers: z
    .array(applicationId)
    .min(1)
    .describe('Who may call it; each must be admitted by the contract.'),
  tools: z
    .array(z.string().regex(TOOL_NAME_PATTERN))
    .min(1)
    .optional()
    .describe('Fewer tools than the contract has.'),
  consumer_tools: z
    .record(applicationId, z.array(z.string().regex(TOOL_NAME_PATTERN)).min(1))
    .optional()
    .describe('Fewer tools for single consumers.'),
  limits: limitsSchema.partial().optional().describe('Lower limits than the contract has.'),
  recording: z.enum(['all', 'refusals', 'none']).default('refusals'),
});

/** A managed workflow that uses a foreign server under pins. */
const clientSchema = z.strictObject({
  id: applicationId.describe('Names the workflow: <owner>:<id>.'),
  kind: z.enum(['agent', 'call']).describe('An AI Agent with the tools, or one deterministic call.'),
  enabled: z.boolean(),
  provider: z.strictObject({
    endpoint: address,
    server: z.string().regex(/@https?:\/\//, 'must be <name>@<origin>, as mcp-curated pin prints it'),
    authentication: z.enum(['none', 'bearer', 'header']),
    name: z.string().min(1).optional(),
    secret: secretReference.optional(),
    allowed_networks: z.string().default(''),
  }),
  tools: z
    .array(
      z
        .string()
        .regex(/^.+@sha256:[0-9a-f]{64}$/s, 'must be name@sha256:<hash>, as mcp-curated pin prints it'),
    )
    .min(1),
  catalogue_pin: z.string().regex(SHA256_PATTERN).optional(),
});

/** `mcp-curated.yml`: what an operator wants of one n8n. Unknown keys are refused. */
export const operatorSchema = z
  .strictObject({
    n8n: z.strictObject({
      address: address.describe('Address of n8n, as this machine reaches it.'),
      api_key: secretReference,
      public_address: address.optional().describe('As clients reach it, where that is another one.'),
    }),
    owner: z
      .string()
      .regex(/^[a-z][a-z0-9-]{1,22}$/, 'must be 2 to 23 characters: lower case, digits, dashes')
      .describe('Marks what is managed here: in the name of every workflow and credential, and as a tag.'),
    workflows: z.string().optional().describe('Folder of the contracts; those of the pack if absent.'),
    consumers: z.array(consumerSchema).default([]),
    surfaces: z.array(surfaceSchema).default([]),
    clients: z.array(clientSchema).default([]),
  })
  .superRefine(({ consumers, surfaces, clients }, context) => {
    const twice = (ids: readonly string[], path: string) => {
      ids.forEach((id, index) => {
        if (ids.indexOf(id) !== index) {
          context.addIssue({ code: 'custom', path: [path, index], message: `${id} stands here twice` });
        }
      });
    };
    twice(
      consumers.map(({ id }) => id),
      'consumers',
    );
    twice([...surfaces.map((surface) => surface.application_id), ...clients.map(({ id }) => id)], 'surfaces');
    surfaces.forEach((surface, index) => {
      twice(surface.consumers, `surfaces.${String(index)}.consumers`);
      for (const id of secretConsumers(surface.upstream)) {
        if (surface.consumers.includes(id)) continue;
        const message = `${id} is not one of the consumers of this surface`;
        const path = ['surfaces', index, 'upstream', 'consumer_secrets', id];
        context.addIssue({ code: 'custom', path, message });
      }
      for (const id of [...surface.consumers, ...Object.keys(surface.consumer_tools ?? {})]) {
        if (consumers.some((consumer) => consumer.id === id)) continue;
        const message = `${id} is not one of the consumers of this file`;
        context.addIssue({ code: 'custom', path: ['surfaces', index, 'consumers'], message });
      }
    });
  });

export type OperatorFile = z.infer<typeof operatorSchema>;
export type OperatorSurface = OperatorFile['surfaces'][number];
export type OperatorConsumer = OperatorFile['consumers'][number];
export type OperatorClient = OperatorFile['clients'][number];

/** `mcp-curated.schema.json` as it is written. */
export function operatorJsonSchemaFile(): string {
  return `${JSON.stringify(operatorJsonSchema(), null, 2)}\n`;
}

/** Everything `mcp-curated.yml` may hold, as JSON Schema 2020-12 for editors. */
export function operatorJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(operatorSchema, { io: 'input' }),
    title: 'mcp-curated.yml of n8n-nodes-mcp-curated',
  };
}
