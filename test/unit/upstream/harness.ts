import { prepareOperation, type PreparedOperation } from '../../../core/contract/definition';
import type { Operation } from '../../../core/contract/operation';
import type { HttpRequest } from '../../../core/contract/request';
import type { Adapter } from '../../../core/contract/schema';
import { PolicyError } from '../../../core/policy/errors';
import type { Limits } from '../../../core/policy/limits';
import { upstreamAccess, type UpstreamAccess, type UpstreamCredential } from '../../../core/upstream/access';
import { callOperation } from '../../../core/upstream/call';
import { createPorts } from '../../../core/upstream/ports';
import type { CallResult } from '../../../core/upstream/run';
import { createTransport } from '../../../core/upstream/transport';
import { UpstreamDouble } from '../../support/upstreamDouble';

export const SECRET = 'k3y-that-nobody-may-see';

const limits: Limits = {
  request_bytes: 65_536,
  response_bytes: 65_536,
  timeout_seconds: 5,
  concurrent_requests: 4,
  page_size: 50,
  result_items: 100,
  stream_seconds: 60,
};

const integer = (maximum: number) => ({ type: 'integer', minimum: 0, maximum, description: 'A number.' });

export const httpRequest: HttpRequest = {
  kind: 'http',
  method: 'GET',
  path: '/api/orders',
  arguments: {
    limit: { in: 'query', as: 'per_page' },
    page: { in: 'query', as: 'page' },
    q: { in: 'query', as: 'q' },
  },
  bound: {},
  fixed_query: { archived: 'false' },
  fixed_headers: {},
};

/** A list of orders in pages, as an ordinary REST application has it. */
const listOrders: Operation = {
  name: 'erp_list_orders',
  title: 'List orders',
  description: 'Lists orders with id and name; a made-up operation for tests.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input_schema: {
    type: 'object',
    properties: { limit: integer(1_000), page: integer(1_000_000), q: { type: 'string', maxLength: 200 } },
    additionalProperties: false,
  },
  output_schema: {
    type: 'object',
    properties: { id: { type: 'integer' }, name: { type: 'string' } },
    additionalProperties: false,
  },
  request: httpRequest,
  pagination: { style: 'page', size_argument: 'limit', position_argument: 'page', next: null },
  response: {
    items: '/rows',
    map: null,
    keep: ['id', 'name'],
    redact: [],
    envelope: {},
    text_characters: 200,
    redirect: 'refuse',
  },
  errors: { message: '/message' },
};

/** The lines of one order, whose id is one segment of the path. */
export const orderById: Partial<Operation> = {
  name: 'erp_get_order',
  input_schema: {
    type: 'object',
    properties: { id: { type: 'string', maxLength: 10_000 } },
    required: ['id'],
    additionalProperties: false,
  },
  output_schema: { type: 'object' },
  request: {
    ...httpRequest,
    path: '/api/orders/{id}/lines',
    arguments: { id: { in: 'path', as: 'id' } },
    fixed_query: {},
  },
  pagination: { style: 'none', size_argument: null, position_argument: null, next: null },
  response: { ...listOrders.response, items: null, keep: ['id', 'title', 'html', 'attachment_base64'] },
};

export interface Changes {
  readonly operation?: Partial<Operation>;
  readonly response?: Partial<Operation['response']>;
  readonly pagination?: Partial<Operation['pagination']>;
  readonly limits?: Partial<Limits>;
  readonly adapter?: Adapter;
}

/** The made-up operation with some parts replaced. */
export function prepare(changes: Changes = {}): PreparedOperation {
  const operation = { ...listOrders, ...changes.operation };
  return prepareOperation({
    application_id: 'web-app-erp',
    adapter: changes.adapter ?? {
      type: 'openapi_allowlist',
      upstream_api_version: 'v1',
      specification_sha256: `sha256:${'0'.repeat(64)}`,
      authentication: { kind: 'bearer', name: null, secret: 'API token', optional: false },
      test_path: '/',
    },
    limits: { ...limits, ...changes.limits },
    operation: {
      ...operation,
      response: { ...operation.response, ...changes.response },
      pagination: { ...operation.pagination, ...changes.pagination },
    },
  });
}

export interface CallOptions {
  readonly credential?: Partial<UpstreamCredential>;
  readonly access?: UpstreamAccess;
  readonly signal?: AbortSignal;
  readonly tenant?: string | null;
  /** The present in Unix seconds. */
  readonly now?: number;
}

/** Runs operations against a double through the transport that ships. */
export class Harness {
  readonly transport = createTransport();
  readonly #ports = createPorts(this.transport);

  private constructor(readonly upstream: UpstreamDouble) {}

  static async start(): Promise<Harness> {
    return new Harness(await UpstreamDouble.start());
  }

  accessWith(credential: Partial<UpstreamCredential> = {}): UpstreamAccess {
    return upstreamAccess({
      baseUrl: this.upstream.origin,
      authentication: 'bearer',
      secret: SECRET,
      ...credential,
    });
  }

  async call(prepared: PreparedOperation, args: unknown, options: CallOptions = {}): Promise<CallResult> {
    const { signal = new AbortController().signal, tenant = null, now = 1_767_225_600 } = options;
    const access = options.access ?? this.accessWith(options.credential);
    const context = { consumer: 'client-test', tenant, correlationId: 'test', signal };
    const ports = { ...this.#ports, now: () => now * 1_000 };
    return await callOperation(prepared, args, access, context, ports);
  }

  /** The refusal or failure of a call that must not succeed; whatever else is thrown fails the test. */
  async failure(prepared: PreparedOperation, args: unknown, options?: CallOptions): Promise<PolicyError> {
    return await policyError(this.call(prepared, args, options));
  }

  async stop(): Promise<void> {
    await this.upstream.stop();
  }
}

export async function policyError(attempt: Promise<unknown>): Promise<PolicyError> {
  const thrown = await attempt.then(
    () => new Error('It succeeded.'),
    (error: unknown) => error,
  );
  if (thrown instanceof PolicyError) return thrown;
  throw thrown;
}

/** `harness` as a variable of the suite: started before it, emptied before each test, stopped after it. */
export function useHarness(): () => Harness {
  let harness: Harness;
  beforeAll(async () => {
    harness = await Harness.start();
  });
  beforeEach(() => {
    harness.upstream.reset();
  });
  afterAll(async () => {
    await harness.stop();
  });
  return () => harness;
}

export function parameters(query: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(query)) (found[name] ??= []).push(value);
  return found;
}
