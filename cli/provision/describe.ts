import type { Change } from './compare';
import { limitsOf, type DesiredSurface } from './desired';
import { matchesFingerprint } from './fingerprint';
import type { ServedLedger } from './ledger';
import { consumerSecretsIn, secretIn, upstreamData } from './upstreamKinds';

type Kind = keyof ServedLedger;

/** Whether a ledger describes a credential as it is wanted, secrets aside. */
export function sayTheSame<K extends Kind>(
  kind: K,
  recorded: ServedLedger[K],
  desired: DesiredSurface,
): boolean {
  return differences(kind, recorded, desired).length === 0;
}

/** What of a credential has changed, secrets only as such. */
export async function describedChanges<K extends Kind>(
  kind: K,
  recorded: ServedLedger[K],
  desired: DesiredSurface,
): Promise<Change[]> {
  const changes = differences(kind, recorded, desired);
  const before = asRecorded(kind, recorded, desired);
  const isSecret =
    changes.length === 0 || (before && !(await matchesFingerprint(before, recorded.fingerprint)));
  return isSecret ? [...changes, { field: `${kind} secret`, from: 'changed', to: 'changed' }] : changes;
}

function differences<K extends Kind>(
  kind: K,
  recorded: ServedLedger[K],
  { described }: DesiredSurface,
): Change[] {
  const { id: _id, fingerprint: _fingerprint, ...told } = recorded;
  const before = flat(kind, told);
  const after = flat(kind, kind === 'consumers' ? { rows: described.rows } : described.upstream);
  const fields = [...new Set([...before.keys(), ...after.keys()])];
  return fields
    .filter((field) => before.get(field) !== after.get(field))
    .map((field) => ({
      field,
      from: before.get(field) ?? '(absent)',
      to: after.get(field) ?? '(absent)',
    }));
}

/**
 * What the credential held if only what the ledger describes has changed since: what is wanted, with everything but the
 * secrets as recorded. `undefined` where the ledger names a consumer whose bearer nobody knows any more.
 */
function asRecorded(kind: Kind, recorded: ServedLedger[Kind], desired: DesiredSurface): unknown {
  if (kind === 'upstream') {
    const upstream = recorded as ServedLedger['upstream'];
    // An address without authentication has no secret, and a secret cannot have changed where none was.
    if (upstream.authentication === 'none') return undefined;
    // Nor can it be told where it is about other consumers than before.
    if (upstream.secret_consumers !== desired.described.upstream.secret_consumers) return undefined;
    const { data } = desired.upstream;
    return upstreamData(upstream, secretIn(data), consumerSecretsIn(data));
  }
  const { values } = desired.consumers.data.consumers;
  const rows = (recorded as ServedLedger['consumers']).rows.map((told) => {
    const row = values.find((one) => one.id === told.id);
    if (!row) return undefined;
    const { requestsPerMinute: _rate, concurrentCalls: _calls, ...rest } = row;
    const { tools, expires_at, tenant } = told;
    return {
      ...rest,
      ...{ tools: tools.join(', '), expiresAt: expires_at ?? '', tenant: tenant ?? '' },
      ...limitsOf(told),
    };
  });
  return rows.includes(undefined) ? undefined : { consumers: { values: rows } };
}

function flat(prefix: string, value: object): Map<string, string> {
  const fields = new Map<string, string>();
  if ('rows' in value) {
    for (const { id, ...row } of (value as { rows: ServedLedger['consumers']['rows'] }).rows) {
      for (const [key, entry] of Object.entries(row)) {
        fields.set(`${prefix}.${id}.${key}`, Array.isArray(entry) ? entry.join(', ') : String(entry));
      }
    }
    return fields;
  }
  for (const [key, entry] of Object.entries(value)) fields.set(`${prefix}.${key}`, String(entry));
  return fields;
}
