import type { IExecuteFunctions, INodeType, ISupplyDataFunctions } from 'n8n-workflow';
import { McpNamedQueryTool } from '../../nodes/McpNamedQueryTool/McpNamedQueryTool.node';
import { McpS3ReadTool } from '../../nodes/McpS3ReadTool/McpS3ReadTool.node';
import { directCallOf } from '../../nodes/shared/directCall';
import { body, UpstreamDouble } from '../support/upstreamDouble';
import {
  bench,
  emptyRun,
  executeContext,
  node,
  QUERY_TOOL,
  S3_TOOL,
  supplyContext,
  type Bench,
} from './contexts';
import { definitionText } from './definitions';

const SECRET = `key-${Math.random().toString(36).slice(2)}`;
let upstream: UpstreamDouble;

beforeAll(async () => {
  upstream = await UpstreamDouble.start();
});
afterAll(async () => {
  await upstream.stop();
});

interface Tool {
  readonly name: string;
  readonly schema: unknown;
  invoke(args: object): Promise<string>;
}

const caller = () => ({
  ...{ consumer: 'client-one', tenant: null, correlationId: 'c' },
  signal: new AbortController().signal,
});

async function toolOf(type: INodeType, on: Bench, name: string): Promise<Tool> {
  const context = supplyContext(on, name) as unknown as ISupplyDataFunctions;
  return (await type.supplyData?.call(context, 0))?.response as Tool;
}

describe('the S3 Read Tool', () => {
  const name = 'minio_get_object';
  const definition = definitionText('web-app-minio', name);
  const on = (credentials: Record<string, string> = { mcpS3Api: 's3' }) =>
    bench([node(name, S3_TOOL, { definition }, credentials)], {
      s3: {
        ...{ endpoint: upstream.origin, region: 'us-east-1', pathStyle: true, locations: 'documents/pub' },
        ...{ accessKeyId: 'AKIATEST', secretAccessKey: SECRET },
      },
    });

  test('reads an object as a LangChain tool, directly and by an agent of n8n 2.x', async () => {
    upstream.on('/documents/pub/a.txt', body('hello', { type: 'text/plain' }));
    const tool = await toolOf(new McpS3ReadTool(), on(), name);
    expect(tool.schema).toMatchObject({ additionalProperties: false, required: ['key'] });
    expect(JSON.parse(await tool.invoke({ key: 'pub/a.txt' }))).toMatchObject({ text: 'hello' });
    expect(upstream.lastRequest.headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIATEST\//);
    const direct = await directCallOf(tool)?.call({ key: 'pub/a.txt' }, caller());
    expect(direct?.structuredContent).toMatchObject({ bucket: 'documents', content: 'text', text: 'hello' });
    const run = emptyRun({
      [name]: [{ inputOverride: { ai_tool: [[{ json: { key: 'pub/a.txt' } }]] } } as never],
    });
    const foreign = [{ json: { key: 'secret/b.txt', bucket: 'other', toolCallId: 'call_1' } }];
    const context = executeContext(on(), name, foreign, run) as unknown as IExecuteFunctions;
    const [[item] = []] = await new McpS3ReadTool().execute.call(context);
    expect(item?.json).toMatchObject({ key: 'pub/a.txt', text: 'hello' });
  });

  test('asks nobody for what was not declared, and says so to a model', async () => {
    const before = upstream.requests.length;
    const tool = await toolOf(new McpS3ReadTool(), on(), name);
    expect(await tool.invoke({ key: 'secret/b.txt' })).toContain(
      'arguments_invalid: Argument /key must begin with',
    );
    expect(upstream.requests).toHaveLength(before);
  });

  test('without a credential says so at the call', async () => {
    const tool = await toolOf(new McpS3ReadTool(), on({}), name);
    expect(await tool.invoke({ key: 'pub/a.txt' })).toContain('credential_missing: ');
  });

  test('is no place for the operation of another kind', async () => {
    const other = definitionText('web-app-n8n', 'n8n_list_executions');
    const wrong = bench([node(name, S3_TOOL, { definition: other }, { mcpS3Api: 's3' })], {
      s3: {
        ...{ endpoint: upstream.origin, region: 'us-east-1', pathStyle: true, locations: 'documents/pub' },
        ...{ accessKeyId: 'AKIATEST', secretAccessKey: SECRET },
      },
    });
    const tool = await toolOf(new McpS3ReadTool(), wrong, name);
    expect(await tool.invoke({})).toContain('surface_unconfigured: ');
  });
});

describe('the Named Query Tool', () => {
  const name = 'kdb_list_tables';
  const definition = definitionText('koder-kdb', name);
  const on = (change: object = {}) =>
    bench([node(name, QUERY_TOOL, { definition }, { mcpDatabaseApi: 'database' })], {
      database: {
        ...{ dialect: 'postgresql', host: '127.0.0.1', port: 1, database: 'app', user: 'reader' },
        ...{ password: SECRET, tls: 'disable', caPem: '', settings: '', ...change },
      },
    });

  test('shows a model the schema of the contract, and a database that is not there as such', async () => {
    const tool = await toolOf(new McpNamedQueryTool(), on(), name);
    expect(tool.schema).toMatchObject({ type: 'object', additionalProperties: false });
    const answer = await tool.invoke({});
    expect(answer).toContain('upstream_unreachable: ');
    expect(answer).not.toContain(SECRET);
    await expect(directCallOf(tool)?.call({ limit: 0 }, caller())).rejects.toMatchObject({
      ...{ code: 'arguments_invalid', pointer: '/limit' },
    });
  });

  test.each([
    ['link-local', { host: '169.254.169.254' }, 'upstream_address_refused'],
    ['of another dialect', { dialect: 'mariadb' }, 'credential_missing'],
    ['without a password', { password: '' }, 'credential_missing'],
  ])('does not connect to a database that is %s', async (_what, change, code) => {
    const tool = await toolOf(new McpNamedQueryTool(), on(change), name);
    expect(await tool.invoke({})).toContain(`${code}: `);
  });
});
