import { foreignText } from '../../core/policy/redaction';
import { serverAccess, type ServerCredential } from '../../core/client/access';
import { failedWith, type N8nPublicApi, type N8nWorkflow } from '../n8n/publicApi';
import type { Operator } from '../operator/load';
import type { OperatorClient } from '../operator/schema';
import type { Applied, ApplyOptions } from './apply';
import { clientLedgerOf, serverName, type ClientLedger } from './clientLedger';
import {
  clientMergedInto,
  clientWorkflow,
  hasOutput,
  parameterAt,
  staleNodes,
  type ClientWorkflow,
} from './clientWorkflow';
import { same, shown, type Change } from './compare';
import { applyCredential, removeCredentials, type Leftovers } from './credentials';
import { resolveSecret, surfaceName } from './desired';
import { fingerprintOf, matchesFingerprint } from './fingerprint';
import { hasTag, PlanError, type Observed } from './observe';
import type { CredentialStep } from './plan';
import { tagWorkflow } from './tag';
import { credentialIdsIn } from './workflow';

const TYPE = 'mcpAllowlistClientApi';

/** What one run would do for one managed client workflow. */
export interface ClientPlan {
  readonly client: OperatorClient;
  readonly name: string;
  readonly action: 'create' | 'update' | 'unchanged' | 'failed';
  readonly changes: readonly Change[];
  readonly observed: N8nWorkflow | undefined;
  /** What is to happen to its credential, and what that is to hold; `undefined` where nothing can be done. */
  readonly credential:
    { readonly step: CredentialStep<'server'>; readonly data: ServerCredential } | undefined;
  /** Why nothing can be done for this client; `null` for every action but `failed`. */
  readonly error: Applied['error'];
}

/**
 * The managed clients of an operator file that are enabled. One that is not is treated like a workflow that the file
 * does not name any more, and one that is wrong stands in its plan as `failed`.
 */
export async function planClients(
  operator: Operator,
  observed: Observed,
  only: readonly string[] = [],
): Promise<ClientPlan[]> {
  const chosen = operator.file.clients.filter(
    ({ id, enabled }) => enabled && (only.length === 0 || only.includes(id)),
  );
  return await Promise.all(
    chosen.map(async (client) => {
      try {
        return await planClient(operator, client, observed);
      } catch (error) {
        const { code, message } = error as { code?: unknown; message?: string };
        // What has no code of ours is a defect, and not one of this client.
        if (typeof code !== 'string' || message === undefined) throw error;
        return failedClient(client, surfaceName(operator.file.owner, client.id), { code, message });
      }
    }),
  );
}

function failedClient(client: OperatorClient, name: string, error: Applied['error']): ClientPlan {
  return { client, name, action: 'failed', changes: [], observed: undefined, credential: undefined, error };
}

async function planClient(
  operator: Operator,
  client: OperatorClient,
  observed: Observed,
): Promise<ClientPlan> {
  const { owner } = operator.file;
  const name = surfaceName(owner, client.id);
  const data = await credentialData(operator, client);
  const found = findClient(observed, owner, client.id);
  const ledger = found && clientLedgerOf(found);
  const { step, changes } = await credentialStep(name, data, found, ledger, observed);
  const common = { client, name, observed: found, credential: { step, data }, error: null };
  if (!found) return { ...common, action: 'create', changes: [] };
  const wanted = clientWorkflow(
    client,
    name,
    { id: step.id ?? '(new)', name: step.name },
    emptyLedger(client),
  );
  const all = [
    ...changes,
    ...(found.isArchived === true ? [{ field: 'archived', from: 'true', to: 'false' }] : []),
    ...(hasTag(found, owner) ? [] : [{ field: 'tags', from: '(absent)', to: owner }]),
    ...(ledger ? [] : [{ field: 'ledger', from: '(missing or edited)', to: 'written anew' }]),
    ...workflowChanges(found, wanted),
  ];
  return { ...common, action: all.length > 0 ? 'update' : 'unchanged', changes: all };
}

const emptyLedger = ({ id }: OperatorClient): ClientLedger => ({ version: 1, client_id: id, server: null });

async function credentialData({ folder }: Operator, client: OperatorClient): Promise<ServerCredential> {
  const {
    endpoint,
    authentication,
    name,
    secret: reference,
    allowed_networks: allowedNetworks,
  } = client.provider;
  const secret = reference === undefined ? '' : await resolveSecret(reference, client.id, folder);
  const data: ServerCredential = {
    endpoint,
    transport: 'auto',
    authentication,
    allowedNetworks,
    ...(authentication === 'bearer' ? { token: secret } : {}),
    ...(authentication === 'header' ? { headerName: name ?? '', headerSecret: secret } : {}),
  };
  serverAccess(data);
  return data;
}

/** @throws PlanError `duplicate_resource`, `name_taken` */
function findClient({ workflows }: Observed, owner: string, id: string): N8nWorkflow | undefined {
  const name = surfaceName(owner, id);
  const isRenamed = (workflow: N8nWorkflow) =>
    hasTag(workflow, owner) && clientLedgerOf(workflow)?.client_id === id;
  const candidates = workflows.filter((workflow) => workflow.name === name || isRenamed(workflow));
  const living = candidates.filter(({ isArchived }) => isArchived !== true);
  const [found, ...others] = living.length > 0 ? living : candidates;
  if (found && others.length > 0) {
    const ids = [found, ...others].map((workflow) => workflow.id).join(', ');
    throw new PlanError(
      'duplicate_resource',
      `Several workflows are ${name} (${ids}); delete or rename all but one, and run it again.`,
    );
  }
  if (found && !hasTag(found, owner) && !clientLedgerOf(found)) {
    throw new PlanError(
      'name_taken',
      `The workflow ${name} (${found.id}) carries neither the tag ${owner} nor a ledger, so it is not touched; rename it, or give it the tag to hand it over.`,
    );
  }
  return found;
}

async function credentialStep(
  name: string,
  data: ServerCredential,
  found: N8nWorkflow | undefined,
  ledger: ClientLedger | undefined,
  { credentials }: Observed,
): Promise<{ step: CredentialStep<'server'>; changes: Change[] }> {
  const own = serverName(name);
  const known = [ledger?.server?.id, ...(found ? credentialIdsIn(found, TYPE, own) : [])].filter(
    (id) => id !== undefined,
  );
  const id =
    credentials === 'unsupported'
      ? known[0]
      : (known.find((one) => credentials.some((credential) => credential.id === one)) ??
        credentials.find((credential) => credential.name === own && credential.type === TYPE)?.id);
  const step = { kind: 'server', type: TYPE, name: own } as const;
  if (id === undefined) {
    const changes = found ? [{ field: 'server credential', from: '(absent)', to: own }] : [];
    return { step: { ...step, action: 'create', id: undefined }, changes };
  }
  const recorded = ledger?.server?.id === id ? ledger.server : undefined;
  if (recorded && (await matchesFingerprint(data, recorded.fingerprint))) {
    return { step: { ...step, action: 'keep', id }, changes: [] };
  }
  return {
    step: { ...step, action: 'update', id },
    changes: recorded ? described(recorded, data) : [unknownContent],
  };
}

const unknownContent: Change = { field: 'server credential', from: '(unknown)', to: 'written anew' };

function described(recorded: NonNullable<ClientLedger['server']>, data: ServerCredential): Change[] {
  const fields = (['endpoint', 'authentication'] as const)
    .filter((field) => recorded[field] !== data[field])
    .map((field) => ({ field: `server.${field}`, from: foreignText(recorded[field], 120), to: data[field] }));
  return fields.length > 0 ? fields : [{ field: 'server secret', from: 'changed', to: 'changed' }];
}

/** What of our nodes differs. What is offered once is a person's from then on. */
function workflowChanges(observed: N8nWorkflow, wanted: ClientWorkflow): Change[] {
  const changes: Change[] = [];
  if (observed.name !== wanted.name) changes.push(change('name', observed.name, wanted.name));
  for (const { node, managed, isOffer } of wanted.nodes) {
    if (isOffer) continue;
    const before = observed.nodes.find((one) => one['name'] === node.name);
    if (!before) {
      changes.push(change(`nodes.${node.name}`, undefined, node.type));
      continue;
    }
    const compare = (field: string, from: unknown, to: unknown) => {
      if (!same(from, to)) changes.push(change(`nodes.${node.name}.${field}`, from, to));
    };
    compare('type', before['type'], node.type);
    if (before['disabled'] === true) compare('disabled', true, false);
    for (const at of managed) compare(`parameters.${at}`, parameterAt(before, at), parameterAt(node, at));
    if (node.credentials) {
      const used = (before['credentials'] as Record<string, { id?: string } | undefined> | undefined)?.[TYPE]
        ?.id;
      compare(`credentials.${TYPE}`, used, node.credentials[TYPE]?.id);
    }
    if (wanted.connections[node.name] && !hasOutput(observed.connections[node.name])) {
      changes.push(change(`connections.${node.name}`, undefined, 'connected'));
    }
  }
  for (const { name, type } of staleNodes(observed, wanted)) {
    changes.push(change(`nodes.${foreignText(String(name), 80)}`, type, undefined));
  }
  return changes;
}

function change(field: string, from: unknown, to: unknown): Change {
  return { field, from: shown(from), to: shown(to) };
}

/** Carries the plans of clients out. Whether a client workflow is active is a person's decision and stays as it is. */
export async function applyClients(
  api: N8nPublicApi,
  owner: string,
  plans: readonly ClientPlan[],
  { signal, onProgress }: ApplyOptions,
): Promise<Applied[]> {
  const leftovers: Leftovers = { unused: undefined };
  const applied: Applied[] = [];
  for (const plan of plans) {
    signal.throwIfAborted();
    const { client, action, observed, error: fault } = plan;
    const outcome = { applicationId: client.id, action, notes: [] };
    if (action === 'unchanged' || action === 'failed') {
      applied.push({ ...outcome, workflowId: observed?.id ?? null, error: fault });
      continue;
    }
    try {
      onProgress(`${client.id}: ${action === 'create' ? 'creating' : 'updating'}`);
      applied.push({ ...outcome, workflowId: await applyClient(api, owner, plan, leftovers), error: null });
    } catch (error) {
      signal.throwIfAborted();
      const { code = 'failed', message = 'The client could not be applied.' } = error as {
        code?: string;
        message?: string;
      };
      applied.push({ ...outcome, workflowId: observed?.id ?? null, error: { code, message } });
    }
  }
  return applied;
}

async function applyClient(
  api: N8nPublicApi,
  owner: string,
  { client, name, observed, credential }: ClientPlan,
  leftovers: Leftovers,
): Promise<string> {
  if (!credential) throw new TypeError('A client that is applied has a credential.');
  const { step, data } = credential;
  const { id, replaced } = await applyCredential(api, step, data, leftovers);
  const before = observed && clientLedgerOf(observed)?.server;
  const fingerprint = step.action === 'keep' && before ? before.fingerprint : await fingerprintOf(data);
  const server = { id, fingerprint, endpoint: data.endpoint, authentication: data.authentication };
  const ledger: ClientLedger = { version: 1, client_id: client.id, server };
  const wanted = clientWorkflow(client, name, { id, name: step.name }, ledger);
  const workflow = observed ? await rewrite(api, observed, wanted) : await create(api, wanted);
  if (!observed || !hasTag(observed, owner)) await tagWorkflow(api, workflow.id, owner, observed);
  await removeCredentials(api, replaced);
  return workflow.id;
}

async function rewrite(
  api: N8nPublicApi,
  observed: N8nWorkflow,
  wanted: ClientWorkflow,
): Promise<N8nWorkflow> {
  if (observed.isArchived === true) await api.unarchiveWorkflow(observed.id);
  return await api.updateWorkflow(observed.id, clientMergedInto(observed, wanted), observed.settings);
}

async function create(api: N8nPublicApi, { name, nodes, connections }: ClientWorkflow): Promise<N8nWorkflow> {
  const body = {
    name,
    nodes: nodes.map(({ node }) => node),
    connections,
    settings: { executionOrder: 'v1' },
  };
  try {
    return await api.createWorkflow(body);
  } catch (error) {
    const [made] = failedWith(error, 'outcome_unknown') ? await api.workflowsNamed(name) : [];
    if (!made) throw error;
    return made;
  }
}
