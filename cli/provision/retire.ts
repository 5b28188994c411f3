import {
  failedWith,
  type JsonObject,
  type N8nPublicApi,
  type N8nWorkflow,
  type WorkflowBody,
} from '../n8n/publicApi';
import type { ApplyOptions } from './apply';
import { clientLedgerOfNote, serverName, withClientLedger } from './clientLedger';
import { removeCredentials } from './credentials';
import { consumersName, upstreamName } from './desired';
import { untilGone } from './endpoint';
import { readLedger, withLedger } from './ledger';
import type { SurfacePlan } from './plan';
import { servedPath } from './workflow';

/** First the endpoint, then the credentials, then the traces of them: each can be repeated. */
export async function retire(
  api: N8nPublicApi,
  { name, observed, gone, rewrite }: SurfacePlan,
  { address, signal }: Pick<ApplyOptions, 'address' | 'signal'>,
): Promise<string | null> {
  if (observed?.active) {
    await api.deactivateWorkflow(observed.id);
    const path = servedPath(observed);
    if (path !== undefined) await untilGone(`${address}/mcp/${path}`, name, signal);
  }
  await removeCredentials(api, gone);
  if (!observed) return null;
  if (rewrite) await rewriteRetired(api, observed, withoutCredentials(observed, name, new Set(gone)));
  return observed.id;
}

/** n8n 2.4 can neither change an archived workflow nor give it back; what a person has thrown away goes for good there. */
async function rewriteRetired(api: N8nPublicApi, observed: N8nWorkflow, body: WorkflowBody): Promise<void> {
  try {
    await api.updateWorkflow(observed.id, body, observed.settings);
  } catch (error) {
    if (observed.isArchived !== true || !failedWith(error, 'rejected')) throw error;
    await api.deleteWorkflow(observed.id);
  }
}

/** The workflow without traces of credentials that are gone; those that a person chose stay. */
function withoutCredentials(observed: N8nWorkflow, name: string, gone: ReadonlySet<string>): WorkflowBody {
  const names = new Set<unknown>([consumersName(name), upstreamName(name), serverName(name)]);
  const nodes = observed.nodes.map((node) => {
    const { credentials, ...rest } = node;
    const used = Object.entries((credentials ?? {}) as Record<string, { id?: string; name?: string } | null>);
    const kept = used.filter(([, one]) => !gone.has(one?.id ?? '') && !names.has(one?.name));
    return retiredNote(kept.length > 0 ? { ...rest, credentials: Object.fromEntries(kept) } : rest);
  });
  return { name: observed.name, nodes, connections: observed.connections, settings: {} };
}

/** A note that says in its ledger that nothing is served any more. Any other node stays as it is. */
function retiredNote(node: JsonObject): JsonObject {
  const parameters = (node['parameters'] ?? {}) as JsonObject;
  const { content } = parameters;
  if (typeof content !== 'string') return node;
  const ledger = readLedger(content);
  const client = clientLedgerOfNote(content);
  if (ledger) {
    const { replaced: _replaced, ...rest } = ledger;
    const text = withLedger(content, { ...rest, served: null });
    return { ...node, parameters: { ...parameters, content: text } };
  }
  if (!client) return node;
  const text = withClientLedger(content, { ...client, server: null });
  return { ...node, parameters: { ...parameters, content: text } };
}
