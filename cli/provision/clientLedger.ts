import { z } from 'zod';
import { NODE_TYPES } from '../../core/contract/render';
import type { N8nWorkflow } from '../n8n/publicApi';
import { ledgerJson, withLedgerJson } from './ledger';

const clientLedgerSchema = z.strictObject({
  version: z.literal(1),
  client_id: z.string().min(1),
  /** `null` for a client that was taken out of service: its credential is gone. */
  server: z
    .strictObject({
      id: z.string().min(1),
      fingerprint: z.string().min(1),
      endpoint: z.string(),
      authentication: z.string(),
    })
    .nullable(),
});

/** What the next run has to know of a managed client workflow. Holds no secret. */
export type ClientLedger = z.infer<typeof clientLedgerSchema>;

export const serverName = (name: string): string => `${name} server`;

export function withClientLedger(note: string, ledger: ClientLedger): string {
  return withLedgerJson(note, ledger);
}

export function clientLedgerOfNote(note: string): ClientLedger | undefined {
  return clientLedgerSchema.safeParse(ledgerJson(note)).data;
}

/** The ledger that a client workflow carries, in whichever of its notes it stands. */
export function clientLedgerOf({ nodes }: Pick<N8nWorkflow, 'nodes'>): ClientLedger | undefined {
  for (const node of nodes) {
    if (node['type'] !== NODE_TYPES.stickyNote) continue;
    const { content } = (node['parameters'] ?? {}) as { content?: unknown };
    const ledger = typeof content === 'string' ? clientLedgerOfNote(content) : undefined;
    if (ledger) return ledger;
  }
  return undefined;
}
