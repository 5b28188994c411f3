import type { Contract } from '../../core/contract/schema';
import type { N8nWorkflow } from '../n8n/publicApi';
import { clientLedgerOf, serverName } from './clientLedger';
import type { Change } from './compare';
import type { Observed } from './observe';
import type { SurfacePlan } from './plan';
import { KINDS as SURFACE_KINDS, ownCredentials } from './planCredentials';
import { credentialIdsIn, ledgerOf } from './workflow';

const KINDS = [
  ...SURFACE_KINDS,
  { kind: 'server', type: 'mcpAllowlistClientApi', nameOf: serverName } as const,
];

/**
 * A surface or client that is to be out of service: no endpoint, and its credentials are deleted, not hidden. The
 * workflow stays, for what people added to it.
 */
export function retirement(
  name: string,
  applicationId: string,
  found: N8nWorkflow | undefined,
  observed: Observed,
  contract: Contract | undefined,
): SurfacePlan {
  const ledger = found && ledgerOf(found);
  const client = found && clientLedgerOf(found);
  const going = credentialsOf(name, found, observed);
  // Where credentials can be listed nobody needs the ledger of an archived workflow, which some releases cannot change.
  const isInert = found?.isArchived === true && observed.credentials !== 'unsupported';
  const isRecorded = !isInert && Boolean(ledger?.served ?? client?.server);
  const changes: Change[] = [
    ...(found?.active ? [{ field: 'active', from: 'true', to: 'false' }] : []),
    ...going.map(({ kind, id }) => ({ field: `${kind} credential`, from: id, to: '(absent)' })),
    ...(isRecorded ? [{ field: 'ledger', from: 'in service', to: 'out of service' }] : []),
  ];
  return {
    ...{ applicationId, name, observed: found, desired: undefined, contract, credentials: [], error: null },
    gone: [...new Set(going.map(({ id }) => id))],
    rewrite: found !== undefined && !isInert && (isRecorded || going.length > 0),
    action: changes.length > 0 ? 'retire' : 'retired',
    changes,
  };
}

interface Going {
  readonly kind: string;
  readonly id: string;
}

/** The credentials of an application that carry the marker, whether or not its workflow is there. */
export function credentialsOf(
  name: string,
  found: N8nWorkflow | undefined,
  { credentials }: Observed,
): Going[] {
  const ledger = found && ledgerOf(found);
  const client = found && clientLedgerOf(found);
  const recorded = {
    consumers: ledger?.served?.consumers.id,
    upstream: ledger?.served?.upstream.id,
    server: client?.server?.id,
  };
  const going = KINDS.flatMap(({ kind, type, nameOf }): Going[] => {
    const sought = { name: nameOf(name), type, recorded: recorded[kind] };
    if (credentials !== 'unsupported') {
      return ownCredentials(sought, found, credentials).map(({ id }) => ({ kind, id }));
    }
    const used = found ? credentialIdsIn(found, type, sought.name) : [];
    const ids = new Set([...used, ...(sought.recorded === undefined ? [] : [sought.recorded])]);
    return [...ids].map((id) => ({ kind, id }));
  });
  const replaced = credentials === 'unsupported' ? (ledger?.replaced?.credentials ?? []) : [];
  return [...going, ...replaced.map((id) => ({ kind: 'replaced', id }))];
}
