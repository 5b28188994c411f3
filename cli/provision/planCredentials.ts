import type { N8nCredential, N8nWorkflow } from '../n8n/publicApi';
import type { Change } from './compare';
import { consumersName, upstreamName, type DesiredSurface } from './desired';
import { describedChanges, sayTheSame } from './describe';
import { matchesFingerprint } from './fingerprint';
import type { Ledger } from './ledger';
import { PlanError, type Observed } from './observe';
import { UPSTREAM_TYPES } from './upstreamKinds';
import { credentialIdsIn, type ManagedCredentialType } from './workflow';

export type CredentialKind = 'consumers' | 'upstream';

/** What is to happen to one credential. */
export interface CredentialStep<Kind extends string = string> {
  readonly kind: Kind;
  readonly type: ManagedCredentialType;
  readonly name: string;
  readonly action: 'keep' | 'update' | 'create';
  /** The one that is there; `undefined` where none is. */
  readonly id: string | undefined;
}

/** The two credentials of a surface; of the upstream's, each type that it can have. */
export const KINDS: readonly {
  readonly kind: CredentialKind;
  readonly type: ManagedCredentialType;
  readonly nameOf: (name: string) => string;
}[] = [
  { kind: 'consumers', type: 'mcpConsumersApi', nameOf: consumersName },
  ...UPSTREAM_TYPES.map((type) => ({ kind: 'upstream' as const, type, nameOf: upstreamName })),
];

/** The two that one surface has. */
export function kindsOf({ upstream }: Pick<DesiredSurface, 'upstream'>): typeof KINDS {
  return KINDS.filter(({ kind, type }) => kind === 'consumers' || type === upstream.type);
}

export interface DecidedCredential {
  readonly step: CredentialStep<CredentialKind>;
  readonly changes: readonly Change[];
  /** Ids of others that carry its name, which an interrupted run has left. */
  readonly leftOver: readonly string[];
}

/**
 * What has to happen to one credential of a surface, from its ledger, its nodes and the list of credentials where there
 * is one.
 *
 * @throws PlanError `duplicate_resource` when several carry its name and nothing says which one it is
 */
export async function decideCredential(
  { kind, type }: (typeof KINDS)[number],
  desired: DesiredSurface,
  found: N8nWorkflow | undefined,
  ledger: Ledger | undefined,
  observed: Observed,
): Promise<DecidedCredential> {
  const { name, data } = desired[kind];
  const recorded = ledger?.served?.[kind];
  const { current, listedName, leftOver } = existing({ name, type, recorded: recorded?.id }, found, observed);
  const goes = leftOver.map((id) => ({ field: `left over ${kind} credential`, from: id, to: '(absent)' }));
  const step = { kind, type, name, id: current };
  if (current === undefined) {
    const changes = found ? [{ field: `${kind} credential`, from: '(absent)', to: name }] : [];
    return { step: { ...step, action: 'create' }, changes: [...changes, ...goes], leftOver };
  }
  const changes: Change[] = [...goes];
  const isRenamed = listedName !== undefined && listedName !== name;
  if (isRenamed) changes.push({ field: `${kind} credential name`, from: listedName, to: name });
  if (recorded?.id !== current) {
    changes.push({ field: `${kind} credential`, from: '(unknown)', to: 'written anew' });
    return { step: { ...step, action: 'update' }, changes, leftOver };
  }
  const isSame = await matchesFingerprint(data, recorded.fingerprint);
  if (!isSame) changes.push(...(await describedChanges(kind, recorded, desired)));
  else if (!sayTheSame(kind, recorded, desired)) {
    changes.push({ field: 'ledger', from: '(edited)', to: 'written anew' });
  }
  return { step: { ...step, action: isSame && !isRenamed ? 'keep' : 'update' }, changes, leftOver };
}

interface Sought {
  readonly name: string;
  readonly type: ManagedCredentialType;
  /** Id in the ledger. */
  readonly recorded: string | undefined;
}

interface Existing {
  readonly current: string | undefined;
  /** Where credentials can be listed. */
  readonly listedName: string | undefined;
  readonly leftOver: readonly string[];
}

/** Which credential is ours, by the marker: its name, or, renamed by a person, both the ledger and a node. */
function existing(sought: Sought, found: N8nWorkflow | undefined, observed: Observed): Existing {
  const { name, type, recorded } = sought;
  if (observed.credentials === 'unsupported') {
    const used = found ? credentialIdsIn(found, type, name) : [];
    // Where the two differ somebody has edited one of them; the node's is the one that has our name.
    const isTold = recorded !== undefined && (used.length === 0 || used.includes(recorded));
    return { current: isTold ? recorded : used[0], listedName: undefined, leftOver: [] };
  }
  const ours = ownCredentials(sought, found, observed.credentials);
  const used = found ? credentialIdsIn(found, type) : [];
  const told = ours.find(({ id }) => id === recorded) ?? ours.find(({ id }) => used.includes(id));
  if (!told && ours.length > 1) {
    const ids = ours.map(({ id }) => id).join(', ');
    throw new PlanError(
      'duplicate_resource',
      `Several credentials are named ${name} (${ids}); delete all but one, and run it again.`,
    );
  }
  const current = told ?? ours[0];
  const leftOver = ours.filter((one) => one !== current && !isUsedElsewhere(one, found, observed));
  return { current: current?.id, listedName: current?.name, leftOver: leftOver.map(({ id }) => id) };
}

/** Those of a list that carry the marker; whatever else a ledger or a node names is somebody else's. */
export function ownCredentials(
  { name, type, recorded }: Sought,
  found: N8nWorkflow | undefined,
  credentials: readonly N8nCredential[],
): N8nCredential[] {
  const used = found ? credentialIdsIn(found, type) : [];
  return credentials.filter(
    (one) => one.type === type && (one.name === name || (one.id === recorded && used.includes(one.id))),
  );
}

function isUsedElsewhere(
  { id, type }: N8nCredential,
  found: N8nWorkflow | undefined,
  { workflows }: Observed,
): boolean {
  return workflows.some(
    (workflow) =>
      workflow.id !== found?.id && credentialIdsIn(workflow, type as ManagedCredentialType).includes(id),
  );
}
