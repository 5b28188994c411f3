/**
 * What the upstream applications ask for and answer, read from their own source and documentation, not from our
 * contracts: Prometheus 3.14.0 (docs/querying/api.md), n8n 1.100.1 (public-api/v1/openapi.yml and its handlers).
 */

/** Stands wherever upstream sends what a caller must never see. */
export const CANARY = 'CANARY';

export interface Sample {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly path: string;
  readonly query: Record<string, string[]>;
  readonly body: unknown;
  readonly result: Record<string, unknown>;
}

const END = { truncated: false, next: null };

const tag = { id: `${CANARY}-tag`, name: 'prod', createdAt: '2026-01-01T00:00:00.000Z' };

const node = {
  id: `${CANARY}-node`,
  name: 'HTTP Request',
  type: 'n8n-nodes-base.httpRequest',
  typeVersion: 4.2,
  disabled: true,
  position: [0, 0],
  notes: CANARY,
  webhookId: CANARY,
  parameters: { url: `https://${CANARY}.test`, headers: { authorization: CANARY } },
  credentials: { httpHeaderAuth: { id: CANARY, name: CANARY } },
};

const state = {
  id: 'wF1',
  name: 'Nightly import',
  active: true,
  isArchived: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
};

const workflow = {
  ...state,
  nodes: [node],
  connections: { [CANARY]: {} },
  settings: { errorWorkflow: CANARY },
  staticData: { lastId: CANARY },
  pinData: { 'HTTP Request': [{ json: { token: CANARY } }] },
  meta: { templateId: CANARY },
  versionId: CANARY,
  triggerCount: 1,
  tags: [tag],
  shared: [{ role: 'workflow:owner', project: { name: CANARY } }],
};

const run = {
  id: 1000,
  workflowId: 'wF1',
  mode: 'trigger',
  status: 'error',
  finished: false,
  startedAt: '2026-01-02T00:00:00.000Z',
  stoppedAt: '2026-01-02T00:00:01.000Z',
  waitTill: null,
  retryOf: null,
};

const execution = {
  ...run,
  retrySuccessId: CANARY,
  customData: { customer: CANARY },
  data: { resultData: { runData: { 'HTTP Request': [{ data: { main: [[{ json: CANARY }]] } }] } } },
  workflowData: workflow,
};

const series = { __name__: 'up', job: 'node', instance: 'node-exporter:9100' };

export const SAMPLES: readonly Sample[] = [
  {
    tool: 'n8n_list_workflows',
    args: { active: true, name: 'Nightly import', tag: 'prod', limit: 5, cursor: 'abc=' },
    path: '/api/v1/workflows',
    query: {
      excludePinnedData: ['true'],
      active: ['true'],
      name: ['Nightly import'],
      tags: ['prod'],
      limit: ['5'],
      cursor: ['abc='],
    },
    body: { data: [workflow], nextCursor: 'eyJsaW1pdCI6NX0=' },
    result: {
      items: [{ ...state, tags: [{ name: 'prod' }] }],
      returned: 1,
      truncated: true,
      next: 'eyJsaW1pdCI6NX0=',
    },
  },
  {
    tool: 'n8n_get_workflow_summary',
    args: { workflow_id: 'wF1' },
    path: '/api/v1/workflows/wF1',
    query: { excludePinnedData: ['true'] },
    body: workflow,
    result: {
      ...state,
      triggerCount: 1,
      tags: [{ name: 'prod' }],
      nodes: [{ name: 'HTTP Request', type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2, disabled: true }],
    },
  },
  {
    tool: 'n8n_list_executions',
    args: { workflow_id: 'wF1', status: 'error' },
    path: '/api/v1/executions',
    query: { includeData: ['false'], workflowId: ['wF1'], status: ['error'], limit: ['25'] },
    body: { data: [execution], nextCursor: null },
    result: { items: [run], returned: 1, ...END },
  },
  {
    tool: 'prometheus_query',
    args: { query: 'up{job="node"} > 0', time: '1767225600', limit: 50 },
    path: '/api/v1/query',
    query: { timeout: ['10s'], query: ['up{job="node"} > 0'], time: ['1767225600'], limit: ['50'] },
    body: {
      status: 'success',
      data: {
        resultType: 'vector',
        result: [{ metric: series, value: [1767225600.123, '1'] }],
        stats: CANARY,
      },
      warnings: ['results truncated due to limit'],
      infos: [CANARY],
    },
    result: {
      items: [{ metric: series, value: [1767225600.123, '1'] }],
      returned: 1,
      ...END,
      result_type: 'vector',
      warnings: ['results truncated due to limit'],
    },
  },
  {
    tool: 'prometheus_query_range',
    args: { query: 'up', start: '2026-01-01T00:00:00Z', end: '2026-01-01T00:01:00Z', step: '1m' },
    path: '/api/v1/query_range',
    query: {
      timeout: ['10s'],
      query: ['up'],
      start: ['2026-01-01T00:00:00Z'],
      end: ['2026-01-01T00:01:00Z'],
      step: ['1m'],
      limit: ['200'],
    },
    body: {
      status: 'success',
      data: {
        resultType: 'matrix',
        result: [
          {
            metric: series,
            values: [
              [1767225600, '1'],
              [1767225660, '0'],
            ],
          },
        ],
      },
    },
    result: {
      items: [
        {
          metric: series,
          values: [
            [1767225600, '1'],
            [1767225660, '0'],
          ],
        },
      ],
      returned: 1,
      ...END,
      result_type: 'matrix',
    },
  },
  {
    tool: 'prometheus_get_targets',
    args: { scrape_pool: 'node' },
    path: '/api/v1/targets',
    query: { state: ['active'], scrapePool: ['node'] },
    body: {
      status: 'success',
      data: {
        activeTargets: [
          {
            discoveredLabels: { __address__: CANARY, __param_token: CANARY },
            labels: { instance: 'node-exporter:9100', job: 'node' },
            scrapePool: 'node',
            scrapeUrl: `http://node-exporter:9100/metrics?token=${CANARY}`,
            globalUrl: `http://node-exporter:9100/metrics?token=${CANARY}`,
            lastError: '',
            lastScrape: '2026-01-01T00:00:00.123456789Z',
            lastScrapeDuration: 0.0123,
            health: 'up',
            scrapeInterval: '1m',
            scrapeTimeout: '10s',
          },
        ],
        droppedTargets: [{ discoveredLabels: { __address__: CANARY } }],
      },
    },
    result: {
      items: [
        {
          labels: { instance: 'node-exporter:9100', job: 'node' },
          scrapePool: 'node',
          lastError: '',
          lastScrape: '2026-01-01T00:00:00.123456789Z',
          lastScrapeDuration: 0.0123,
          health: 'up',
          scrapeInterval: '1m',
          scrapeTimeout: '10s',
        },
      ],
      returned: 1,
      ...END,
    },
  },
  {
    tool: 'prometheus_list_labels',
    args: { match: 'up{job="node"}', start: '1767000000', end: '1767225600' },
    path: '/api/v1/labels',
    query: {
      'match[]': ['up{job="node"}'],
      start: ['1767000000'],
      end: ['1767225600'],
      limit: ['200'],
    },
    body: { status: 'success', data: ['__name__', 'instance', 'job'] },
    result: { items: ['__name__', 'instance', 'job'], returned: 3, ...END },
  },
  {
    tool: 'prometheus_get_metadata',
    args: { metric: 'node_load1', limit: 1 },
    path: '/api/v1/metadata',
    query: { limit_per_metric: ['1'], metric: ['node_load1'], limit: ['1'] },
    body: {
      status: 'success',
      data: { node_load1: [{ type: 'gauge', help: '1m load average.', unit: '', origin: CANARY }] },
    },
    result: {
      items: [{ metric: 'node_load1', metadata: [{ type: 'gauge', help: '1m load average.', unit: '' }] }],
      returned: 1,
      truncated: true,
      next: null,
    },
  },
];
