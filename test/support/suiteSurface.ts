import type { OperationDefinition } from '../../core/contract/definition';
import type { ResourceDeclaration } from '../../core/contract/resource';
import type { AttachedHost } from '../hosts/host';
import { clientCredential, clientToolNode, reviewServer } from './clientNodes';
import { PNG, startSuiteTools, SUITE_TOOLS, type ToolsOfSuite } from './conformanceTools';
import { node, publishHandMade, type ToolNode } from './handMade';
import type { TestSurface } from './publish';
import { json, UpstreamDouble } from './upstreamDouble';

/** A surface with everything that the conformance suite reads and calls. */
export interface SuiteSurface extends TestSurface {
  readonly tools: ToolsOfSuite;
  readonly upstream: UpstreamDouble;
}

const LIMITS = {
  request_bytes: 65_536,
  response_bytes: 262_144,
  timeout_seconds: 10,
  concurrent_requests: 16,
  page_size: 10,
  result_items: 10,
  stream_seconds: 10,
};

interface ResourceWish {
  readonly name: string;
  readonly path: string;
  readonly resource: ResourceDeclaration;
  /** Fields of the record, all of them text. */
  readonly fields: readonly string[];
}

const asText = { expose: 'resource', content: '/body', encoding: 'text', mime_type: 'text/plain' } as const;

export const SUITE_RESOURCES: readonly ResourceWish[] = [
  {
    name: 'static_text',
    path: '/static-text',
    fields: ['body'],
    resource: { ...asText, uri_template: 'test://static-text' },
  },
  {
    name: 'static_binary',
    path: '/static-binary',
    fields: ['body'],
    resource: {
      ...asText,
      uri_template: 'test://static-binary',
      mime_type: 'image/png',
      encoding: 'base64',
    },
  },
  {
    name: 'template_data',
    path: '/template/{id}',
    fields: ['id', 'data'],
    resource: {
      uri_template: 'test://template/{id}/data',
      mime_type: 'application/json',
      expose: 'both',
      content: null,
      encoding: 'text',
    },
  },
];

function definition({ name, path, resource, fields }: ResourceWish): OperationDefinition {
  const slots = path.includes('{id}') ? ['id'] : [];
  return {
    application_id: 'web-app-suite',
    adapter: {
      type: 'openapi_allowlist',
      upstream_api_version: '1',
      specification_sha256: `sha256:${'0'.repeat(64)}`,
      authentication: { kind: 'none', name: null, secret: null, optional: true },
      test_path: '/',
    },
    limits: LIMITS,
    operation: {
      name,
      title: `Test resource ${name}`,
      description: `What the conformance suite reads under the name of ${name}.`,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      input_schema: {
        type: 'object',
        properties: Object.fromEntries(slots.map((slot) => [slot, { type: 'string', maxLength: 40 }])),
        required: slots,
        additionalProperties: false,
      },
      output_schema: {
        type: 'object',
        properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
        additionalProperties: false,
      },
      request: {
        kind: 'http',
        method: 'GET',
        path,
        arguments: Object.fromEntries(slots.map((slot) => [slot, { in: 'path', as: slot }])),
        bound: {},
        fixed_query: {},
        fixed_headers: {},
      },
      pagination: { style: 'none', size_argument: null, position_argument: null, next: null },
      response: {
        items: null,
        map: null,
        keep: [...fields],
        redact: [],
        envelope: {},
        text_characters: 100_000,
        redirect: 'refuse',
      },
      errors: { message: null },
      resource,
    },
  };
}

/** Publishes it: tools of a foreign server behind the client tool, resources of an upstream behind Read Tools. */
export async function publishSuiteSurface(
  host: AttachedHost,
  slug: string,
  options: object = {},
): Promise<SuiteSurface> {
  const tools = await startSuiteTools();
  const upstream = await UpstreamDouble.start();
  upstream
    .on('/static-text', json({ body: 'This is the content of the static text resource.' }))
    .on('/static-binary', json({ body: PNG }))
    .on('/template/123', json({ id: '123', data: 'Data for ID: 123' }));
  const [foreign, own] = await Promise.all([
    clientCredential(host, `e2e-${slug} suite`, tools.endpoint),
    host.api.post<{ id: string; name: string }>('/credentials', {
      name: `e2e-${slug} upstream`,
      type: 'mcpUpstreamApi',
      data: { baseUrl: upstream.origin, authentication: 'none', testPath: '/' },
    }),
  ]);
  const names = [...SUITE_TOOLS, 'hangs'];
  const reviewed = await reviewServer(tools.endpoint);
  const nodes: ToolNode[] = [
    clientToolNode('Suite', foreign, { server: reviewed.server, tools: reviewed.pins(...names) }),
    ...SUITE_RESOURCES.map((wish) => ({
      ...node(wish.name, 'n8n-nodes-mcp-curated.mcpReadTool', 1, {
        definition: JSON.stringify(definition(wish)),
      }),
      credentials: { mcpUpstreamApi: own },
    })),
  ];
  const surface = await publishHandMade(host, {
    slug,
    tools: nodes,
    toolNames: [...names, ...SUITE_RESOURCES.map(({ name }) => name)],
    limits: LIMITS,
    options,
  });
  return {
    ...surface,
    tools,
    upstream,
    remove: async () => {
      await surface.remove();
      for (const { id } of [foreign, own]) await host.api.request('DELETE', `/credentials/${id}`);
      await Promise.all([tools.stop(), upstream.stop()]);
    },
  };
}
