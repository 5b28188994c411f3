import { z } from 'zod';
import { limitsSchema } from '../policy/limits';
import { SHA256_PATTERN } from './canonical';
import { operationSchema } from './operation';
import { argumentName, sessionSchema, type Session } from './request';
import { APPLICATION_ID_PATTERN, CLASSIFICATIONS, REASONS, SERVED, TOOL_NAME_PATTERN } from './vocabulary';

const requestPath = z
  .string()
  .regex(/^\/[\w./?=&%~:@-]*$/, 'must be a path, with a query at most')
  .max(300);
const applicationId = z
  .string()
  .regex(APPLICATION_ID_PATTERN, 'must be an application id such as web-app-example');
const toolName = z.string().regex(TOOL_NAME_PATTERN, 'must match ^[a-z][a-z0-9_]{0,62}$');
const sha256 = z.string().regex(SHA256_PATTERN, 'must be sha256:<64 hex digits>');
/** Evidence is an address of the exact version read; a branch name would change under it. */
const sourceUrl = z.url({ protocol: /^https$/ });

/** How upstream learns who is asking. */
export const AUTHENTICATION_KINDS = [
  'none',
  'bearer',
  'header',
  'basic',
  'query',
  'body',
  'session',
  'bigbluebutton',
  'yourls',
] as const;

/** Kinds whose secret is used as the contract says; no other kind can stand in for them, nor they for another. */
const MADE_BY_CONTRACT: readonly string[] = ['body', 'session', 'bigbluebutton', 'yourls'];

/**
 * Whether an upstream credential of kind `given` can be used where a contract names another. Plain kinds stand in for each
 * other, since a proxy in front of the application may want its own.
 */
export function isFitting(
  { kind, optional }: { readonly kind: string; readonly optional: boolean },
  given: string,
): boolean {
  if (given === kind || (optional && given === 'none')) return true;
  return !MADE_BY_CONTRACT.includes(kind) && !MADE_BY_CONTRACT.includes(given);
}

const adapterReviewed = {
  upstream_api_version: z.string().min(1),
  specification_sha256: sha256.describe('Hash over the operations: how upstream is called, as reviewed.'),
};

const identityShown = {
  name: z.string().min(1).nullable().describe('Header or parameter, or what to enter as user name.'),
  secret: z.string().min(1).nullable().describe('What to enter as secret, e.g. token <access token>.'),
};

const adapterSettings = {
  settings: z
    .record(
      argumentName,
      z.strictObject({
        description: z.string().min(10),
        example: z.string().min(1),
      }),
    )
    .optional()
    .describe('What the operator has to say in the credential besides address and secret.'),
};

const adapterCommon = {
  ...adapterReviewed,
  authentication: z.strictObject({
    kind: z.enum(AUTHENTICATION_KINDS).describe('What the operator chooses in the upstream credential.'),
    ...identityShown,
    optional: z.boolean().describe('Whether upstream also answers without it, with public data.'),
  }),
  test_path: requestPath.describe('What the connection test of the credential asks for.'),
  ...adapterSettings,
  session: sessionSchema.optional(),
};

/** Stores have a credential type of their own, which knows one way to sign in and tests it by itself. */
const storeCommon = <K extends string>(kind: K) => ({
  ...adapterReviewed,
  authentication: z.strictObject({
    kind: z.literal(kind),
    ...identityShown,
    optional: z.literal(false),
  }),
  ...adapterSettings,
});

export const SQL_DIALECTS = ['postgresql', 'mariadb'] as const;
export type SqlDialect = (typeof SQL_DIALECTS)[number];

export const adapterSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('openapi_allowlist'), ...adapterCommon }),
  z.strictObject({ type: z.literal('resource_readonly'), ...adapterCommon }),
  z.strictObject({ type: z.literal('graphql_allowlist'), ...adapterCommon }),
  z.strictObject({
    type: z.literal('prometheus_readonly'),
    ...adapterCommon,
    lookback_seconds: z.int().min(60).max(315_360_000).describe('How far back a query may reach.'),
    samples_per_series: z.int().min(1).max(11_000).describe('Most points of one series in a range query.'),
  }),
  z.strictObject({ type: z.literal('s3_prefix'), ...storeCommon('s3') }),
  // Its tools use a credential of n8n that a person makes in the editor, such as one for OAuth2.
  z.strictObject({ type: z.literal('n8n_workflow'), ...storeCommon('n8n') }),
  z.strictObject({
    type: z.literal('named_query'),
    ...storeCommon('database'),
    dialect: z.enum(SQL_DIALECTS),
  }),
]);

export type Adapter = z.infer<typeof adapterSchema>;

/** How to sign in, for the adapters that are asked over HTTP and need it. */
export function sessionOf(adapter: Adapter): Session | undefined {
  return 'session' in adapter ? adapter.session : undefined;
}

/**
 * `workflows/<application_id>/contract.yml` of a surface that can be deployed. Every field is required and unknown
 * keys are refused: a security setting that is not written down does not exist (document 003, "Target Metadata
 * Contract": "There are no implicit security defaults").
 */
export const contractSchema = z.strictObject({
  application_id: applicationId,
  name: z.string().min(1).max(60).describe('The application as people call it.'),
  classification: z.literal(SERVED),
  enabled: z.literal(false).describe('A surface ships disabled; the operator file turns it on.'),
  shared: z.boolean(),
  direction: z.literal('server'),
  transport: z.literal('streamable_http'),
  exposure: z.enum(['internal', 'public']),
  auth: z.enum(['bearer_token', 'public_read_only']),
  auth_subject: z.enum(['service_account', 'user', 'anonymous']),
  credential: z
    .strictObject({
      owner: z.string().min(1),
      source: z.enum(['environment', 'file']),
      key: z.string().min(1),
    })
    .nullable()
    .describe('The dedicated upstream identity; null when upstream is read without one.'),
  identity: z.string().min(40).describe('Least-privilege recipe for the upstream identity, in plain words.'),
  implementation: z.literal('adapter'),
  maturity: z.enum(['experimental', 'stable']),
  source_url: sourceUrl,
  upstream: z.strictObject({
    name: z.string().min(1),
    version: z.string().regex(/^\d[\w.+-]*$/, 'must be one exact version'),
    sources: z.array(sourceUrl).min(1),
  }),
  allowed_consumers: z.array(applicationId).min(1),
  endpoint: z.strictObject({
    path: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be one path segment in lower case'),
  }),
  adapter: adapterSchema,
  limits: limitsSchema,
  capabilities: z
    .strictObject({
      tools: z.boolean(),
      resources: z.boolean(),
      prompts: z.boolean(),
      sampling: z.boolean(),
      elicitation: z.boolean(),
      roots: z.boolean(),
    })
    .describe('Each MCP capability is classified on its own.'),
  tools: z.strictObject({
    allowlist: z.array(toolName).min(1),
    read_only_default: z.boolean(),
    mutating_tools_enabled: z.boolean(),
    mutating_proofs: z
      .strictObject({
        confirmation: z.string(),
        authorization: z.string(),
        idempotency: z.string(),
        audit: z.string(),
        rollback: z.string(),
      })
      .nullable(),
    schema_sha256: sha256.describe('Catalogue pin: hash over the sorted pins of every tool.'),
  }),
  instructions: z
    .string()
    .min(1)
    .max(1_000)
    .describe('What the server tells a client about itself at initialize.'),
  operations: z.array(operationSchema).min(1),
});

export type Contract = z.infer<typeof contractSchema>;

/** A reviewed refusal: an application that gets no endpoint, and why (document 003, "audit-only mapping"). */
export const dispositionSchema = z.strictObject({
  application_id: applicationId,
  classification: z.enum(CLASSIFICATIONS).exclude([SERVED]),
  reason: z.enum(REASONS),
  notes: z.string().min(20).describe('What was observed that stops it.'),
});

export type Disposition = z.infer<typeof dispositionSchema>;

/** `contract.schema.json` as it is checked in. */
export function contractJsonSchemaFile(): string {
  return `${JSON.stringify(contractJsonSchema(), null, 2)}\n`;
}

/** Everything `contract.yml` may hold, as JSON Schema 2020-12 for editors. */
export function contractJsonSchema(): Record<string, unknown> {
  return {
    ...z.toJSONSchema(z.union([contractSchema, dispositionSchema]), { io: 'input' }),
    title: 'contract.yml of n8n-nodes-mcp-curated',
  };
}
