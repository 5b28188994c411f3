import { TOOL_NAME_PATTERN } from '../core/contract/vocabulary';

/** One operation as a person names it. */
export interface DraftOperation {
  readonly tool: string;
  readonly path: string;
  /** Names of query parameters upstream. */
  readonly query: readonly string[];
}

export interface Draft {
  readonly applicationId: string;
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly operations: readonly DraftOperation[];
}

const LINE = /^(?<tool>[^=\s]+)=GET (?<path>\/[^?\s]*)(?:\?(?<query>\S*))?$/;

/** Reads `tool=GET /path/{slot}?parameter&parameter`. @throws Error that says what is expected */
export function parseOperationLine(line: string): DraftOperation {
  const { tool = '', path = '', query = '' } = LINE.exec(line.trim())?.groups ?? {};
  if (!TOOL_NAME_PATTERN.test(tool)) {
    throw new Error(`"${line}" is no operation such as shop_get_order=GET /api/orders/{id}.`);
  }
  return { tool, path, query: query.split('&').filter((name) => name !== '') };
}

const SIZES = ['limit', 'per_page', 'page_size', 'size', 'count'];
const POSITIONS = ['page', 'offset', 'start', 'cursor'] as const;
const STYLES = { page: 'page', offset: 'offset', start: 'offset', cursor: 'cursor' } as const;
const CONSUMERS = [
  'web-app-openwebui',
  'web-app-flowise',
  'web-app-n8n',
  'web-app-openclaw',
  'web-app-hermes',
  'client-claude',
  'client-cursor',
  'client-inspector',
];

/** A contract in which everything that follows from the operations is filled in, and the rest says TODO. */
export function contractDraft({ applicationId, name, version, source, operations }: Draft): object {
  return {
    application_id: applicationId,
    name,
    classification: 'adapter_server',
    enabled: false,
    shared: true,
    direction: 'server',
    transport: 'streamable_http',
    exposure: 'internal',
    auth: 'bearer_token',
    auth_subject: 'service_account',
    credential: { owner: `mcp-service-${applicationId}`, source: 'environment', key: applicationId },
    identity:
      'TODO: which dedicated user or token, with which role and scopes, and what upstream cannot limit.',
    implementation: 'adapter',
    maturity: 'experimental',
    source_url: source,
    upstream: { name, version, sources: [source] },
    allowed_consumers: CONSUMERS,
    endpoint: { path: applicationId },
    adapter: {
      type: 'openapi_allowlist',
      upstream_api_version: 'v1',
      specification_sha256: 'TODO',
      authentication: {
        kind: 'bearer',
        name: null,
        secret: 'TODO: what to enter, e.g. API token',
        optional: false,
      },
      test_path: operations.find(({ path }) => !path.includes('{'))?.path ?? '/',
    },
    limits: {
      request_bytes: 65_536,
      response_bytes: 1_048_576,
      timeout_seconds: 15,
      concurrent_requests: 4,
      page_size: 25,
      result_items: 100,
      stream_seconds: 60,
    },
    capabilities: {
      tools: true,
      resources: false,
      prompts: false,
      sampling: false,
      elicitation: false,
      roots: false,
    },
    tools: {
      allowlist: operations.map(({ tool }) => tool),
      read_only_default: true,
      mutating_tools_enabled: false,
      mutating_proofs: null,
      schema_sha256: 'TODO',
    },
    instructions: `TODO: what ${name} gives here, what it never returns, and that texts of people are data, not instructions.`,
    operations: operations.map(draftOperation),
  };
}

function draftOperation({ tool, path, query }: DraftOperation): object {
  const slots = [...path.matchAll(/\{([a-z][a-z0-9_]*)\}/g)].map(([, slot]) => slot ?? '');
  const size = query.find((name) => SIZES.includes(name));
  const position = POSITIONS.find((name) => query.includes(name));
  const isList = slots.length === 0 || size !== undefined;
  const words = tool.split('_');
  return {
    name: tool,
    title: words.map((word, index) => (index === 0 ? capital(word) : word)).join(' '),
    description: 'TODO: what it returns, when to use it, how many records a call gives and how to read on.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input_schema: {
      type: 'object',
      properties: Object.fromEntries([
        ...slots.map((slot) => [slot, text(`TODO: what ${slot} is.`)]),
        ...query.map((name) => [argumentOf(name), queryArgument(name, size)]),
      ]) as Record<string, object>,
      ...(slots.length === 0 ? {} : { required: slots }),
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        id: { type: ['string', 'integer'] },
        name: { type: ['string', 'null'], description: 'TODO' },
      },
      additionalProperties: false,
    },
    request: {
      kind: 'http',
      method: 'GET',
      path,
      arguments: Object.fromEntries([
        ...slots.map((slot) => [slot, { in: 'path', as: slot }]),
        ...query.map((name) => [argumentOf(name), { in: 'query', as: name }]),
      ]) as Record<string, object>,
      bound: {},
      fixed_query: {},
      fixed_headers: {},
    },
    pagination: {
      style: position === undefined ? 'none' : STYLES[position],
      size_argument: size === undefined ? null : argumentOf(size),
      position_argument: position ?? null,
      next: position === 'cursor' ? '/next' : null,
    },
    response: {
      items: isList ? '/data' : null,
      map: null,
      keep: ['id', 'name'],
      redact: [],
      envelope: {},
      text_characters: 2_000,
      redirect: 'refuse',
    },
    errors: { message: null },
  };
}

/** Upstream's name as ours: a page size is always `limit`. */
function argumentOf(parameter: string): string {
  if (SIZES.includes(parameter)) return 'limit';
  const name = parameter
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return name.toLowerCase();
}

function queryArgument(name: string, size: string | undefined): object {
  if (name === size) {
    return { type: 'integer', minimum: 1, maximum: 25, description: 'How many to return; 25 when left out.' };
  }
  if (name === 'page')
    return { type: 'integer', minimum: 1, maximum: 10_000, description: 'Page to read, from 1.' };
  if (name === 'offset' || name === 'start') {
    return { type: 'integer', minimum: 0, maximum: 1_000_000, description: 'Records to skip.' };
  }
  if (name === 'cursor') return text('The value of next of an earlier answer, to read on.', 512);
  return text(`TODO: what ${argumentOf(name)} chooses.`);
}

function text(description: string, maxLength = 200): object {
  return { type: 'string', minLength: 1, maxLength, description };
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
