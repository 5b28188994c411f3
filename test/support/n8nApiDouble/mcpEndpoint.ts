import { createHash } from 'node:crypto';
import { pathOf, runningNodes } from './publishing';
import type { Reply } from './routes';
import type { Json, N8nStore, NodeRow } from './store';
import { isObject } from './validation';

/**
 * An endpoint under `/mcp/` whose surface is no whole one, as far as whoever provisions it looks: is it there, and whom
 * does it let in? Whole ones are served by the server core, see `servedSurface.ts`.
 */
export function mcpAnswer(store: N8nStore, path: string, bearer: string | undefined, body: unknown): Reply {
  const workflow = store.workflows.get(store.served.get(path) ?? '');
  const trigger = workflow && runningNodes(workflow).find((node) => pathOf(node) === path);
  if (!trigger) {
    return {
      status: 404,
      body: { code: 404, message: `The requested webhook "POST mcp/${path}" is not registered.` },
    };
  }
  const reference = trigger.credentials?.['mcpConsumersApi']?.id;
  const consumers = store.credentials.get(reference ?? '');
  if (!consumers) return { status: 503, body: { error: 'surface_misconfigured' } };
  const consumer = rowsOf(consumers.data).find((row) => admits(row, bearer));
  if (!consumer) return { status: 401, body: { error: 'unauthorized' } };
  return rpcAnswer(trigger, consumer, body);
}

function rowsOf({ consumers }: Json): Json[] {
  const values = isObject(consumers) ? consumers['values'] : undefined;
  return Array.isArray(values) ? values.filter(isObject) : [];
}

function admits(row: Json, bearer: string | undefined): boolean {
  if (bearer === undefined) return false;
  const { expiresAt } = row;
  if (typeof expiresAt === 'string' && expiresAt !== '' && Date.parse(expiresAt) <= Date.now()) return false;
  const hash = createHash('sha256').update(bearer, 'utf8').digest('hex');
  return row['tokenSha256'] === hash || row['secondTokenSha256'] === hash;
}

function rpcAnswer(trigger: NodeRow, consumer: Json, body: unknown): Reply {
  const { id, method, params } = isObject(body) ? body : {};
  if (id === undefined) return { status: 202, body: null };
  return { status: 200, body: { jsonrpc: '2.0', id, ...resultOf(trigger, consumer, method, params) } };
}

function resultOf(trigger: NodeRow, consumer: Json, method: unknown, params: unknown): Json {
  const allowed = String(consumer['tools'])
    .split(',')
    .map((name) => name.trim());
  const tools = toolsOf(trigger).filter(({ name }) => allowed.includes(String(name)));
  switch (method) {
    case 'initialize': {
      const asked = isObject(params) ? params['protocolVersion'] : undefined;
      const serverInfo = { name: trigger.name, version: '0' };
      return { result: { protocolVersion: asked ?? '2025-06-18', capabilities: { tools: {} }, serverInfo } };
    }
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools } };
    case 'tools/call':
      return tools.some(({ name }) => isObject(params) && name === params['name'])
        ? { result: { content: [{ type: 'text', text: '{}' }], structuredContent: {} } }
        : { error: { code: -32602, message: 'Unknown tool' } };
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}

/** The descriptors of the pinned surface. */
function toolsOf({ parameters }: NodeRow): Json[] {
  const text = parameters?.['surface'];
  if (typeof text !== 'string') return [];
  const surface = JSON.parse(text) as { tools?: { descriptor: Json }[] };
  return (surface.tools ?? []).map(({ descriptor }) => descriptor);
}
