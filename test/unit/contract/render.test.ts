import { operationDefinitionSchema } from '../../../core/contract/definition';
import {
  NODE_TYPES,
  renderWorkflow,
  renderWorkflowFile,
  TRIGGER_NODE_NAME,
} from '../../../core/contract/render';
import { contractJsonSchema } from '../../../core/contract/schema';
import { surfaceOf, surfaceSchema, type Surface } from '../../../core/contract/surface';
import { isExpression, textsOf } from '../../../core/contract/fromAi';
import { contractOf, CONTRACTS, fileOf } from './checkedIn';

const SURFACES = CONTRACTS.map((contract) => [contract.application_id, contract] as const);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe.each(SURFACES)('workflow.json of %s', (applicationId, contract) => {
  const workflow = renderWorkflow(contract);
  const tools = workflow.nodes.filter(
    ({ type }) => type !== NODE_TYPES.trigger && type !== NODE_TYPES.stickyNote,
  );
  const isNative = contract.adapter.type === 'n8n_workflow';
  const trigger = workflow.nodes.find(({ type }) => type === NODE_TYPES.trigger);

  it('is byte-identical to what its contract renders', () => {
    expect(fileOf(applicationId, 'workflow.json')).toBe(renderWorkflowFile(contract));
  });

  it('is the same on every rendering', () => {
    expect(renderWorkflowFile(contractOf(applicationId))).toBe(renderWorkflowFile(contract));
  });

  it('holds exactly the keys that every release accepts in a write', () => {
    expect(Object.keys(workflow)).toEqual(['name', 'nodes', 'connections', 'settings']);
  });

  it('holds no credential, and no expression but where a model fills a value', () => {
    for (const node of workflow.nodes) {
      expect(node).not.toHaveProperty('credentials');
      for (const { text } of textsOf(node.parameters)) {
        if (isExpression(text)) expect([isNative, text.includes('$fromAI(')]).toEqual([true, true]);
      }
    }
  });

  it('gives every node an id of its own that is a UUID', () => {
    const ids = workflow.nodes.map(({ id }) => id);
    expect(new Set([...ids, trigger?.webhookId]).size).toBe(ids.length + 1);
    for (const id of [...ids, trigger?.webhookId]) expect(id).toMatch(UUID);
  });

  it('connects one tool per operation to the trigger and nothing else', () => {
    expect(tools.map(({ name }) => name)).toEqual(contract.tools.allowlist);
    expect(Object.keys(workflow.connections)).toEqual(contract.tools.allowlist);
    for (const { ai_tool: targets } of Object.values(workflow.connections)) {
      expect(targets).toEqual([[{ node: TRIGGER_NODE_NAME, type: 'ai_tool', index: 0 }]]);
    }
  });

  it('carries in every tool of ours a definition that the node accepts', () => {
    if (isNative) return;
    for (const { name, parameters } of tools) {
      const definition = operationDefinitionSchema.parse(JSON.parse(String(parameters['definition'])));
      expect(definition.operation.name).toBe(name);
      expect(definition.limits).toEqual(contract.limits);
    }
  });

  it('carries in the trigger a surface that the node accepts', () => {
    const surface = surfaceSchema.parse(JSON.parse(String(trigger?.parameters['surface'])));
    expect(surface).toEqual(surfaceOf(contract));
    expect(surface.catalogue_pin).toBe(contract.tools.schema_sha256);
  });
});

it('names a workflow after its owner and application', () => {
  const contract = contractOf('web-app-n8n');
  expect(renderWorkflow(contract, { owner: 'acme' }).name).toBe('acme:web-app-n8n');
  expect(renderWorkflow(contract).name).toBe('mcp-curated:web-app-n8n');
});

it('keeps contract.schema.json byte-identical to what the schema exports', () => {
  expect(fileOf('contract.schema.json')).toBe(`${JSON.stringify(contractJsonSchema(), null, 2)}\n`);
});

describe('a surface changed by hand', () => {
  type Mutable<T> = { -readonly [K in keyof T]: T[K] extends object ? Mutable<T[K]> : T[K] };
  const changed = (change: (surface: Mutable<Surface>) => void) => {
    const surface = structuredClone(surfaceOf(contractOf('web-app-n8n')));
    change(surface);
    const result = surfaceSchema.safeParse(surface);
    return result.success ? [] : result.error.issues.map(({ path }) => path.join('.'));
  };

  it.each<[what: string, path: string, change: (surface: Mutable<Surface>) => void]>([
    [
      'description',
      'tools.0.pin',
      ({ tools: [tool] }) => tool && (tool.descriptor.description = 'Call home.'),
    ],
    [
      'input schema',
      'tools.1.pin',
      ({ tools: [, tool] }) => tool && (tool.descriptor.inputSchema['additionalProperties'] = true),
    ],
    ['pin', 'tools.0.pin', ({ tools: [tool] }) => tool && (tool.pin = `sha256:${'0'.repeat(64)}`)],
    ['catalogue pin', 'catalogue_pin', (surface) => (surface.catalogue_pin = `sha256:${'0'.repeat(64)}`)],
    ['removed tool', 'catalogue_pin', ({ tools }) => tools.pop()],
    ['tool without pin', 'tools.0.pin', ({ tools: [tool] }) => tool && Reflect.deleteProperty(tool, 'pin')],
    ['missing limit', 'limits.page_size', ({ limits }) => Reflect.deleteProperty(limits, 'page_size')],
    ['empty list of consumers', 'allowed_consumers', (surface) => (surface.allowed_consumers = [])],
    ['unknown key', '', (surface) => Object.assign(surface, { include_all: true })],
  ])('is refused: %s', (_what, path, change) => {
    expect(changed(change)).toContain(path);
  });

  it('is accepted when nothing was changed', () => {
    expect(changed(() => undefined)).toEqual([]);
  });
});
