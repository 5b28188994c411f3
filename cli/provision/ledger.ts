import { z } from 'zod';
import { SHA256_PATTERN } from '../../core/contract/canonical';

const credentialSchema = z.strictObject({ id: z.string().min(1), fingerprint: z.string().min(1) });

const servedSchema = z.strictObject({
  consumers: credentialSchema.extend({
    /** Everything about the consumers but their bearers, to say what has changed. */
    rows: z.array(
      z.strictObject({
        id: z.string(),
        tools: z.array(z.string()),
        expires_at: z.string().nullable(),
        tenant: z.string().nullable(),
        requests_per_minute: z.number().optional(),
        concurrent_calls: z.number().optional(),
      }),
    ),
  }),
  upstream: credentialSchema.extend({
    base_url: z.string(),
    authentication: z.string(),
    name: z.string(),
    settings: z.string().default(''),
    test_path: z.string(),
    /** Whose secrets are there, by commas. */
    secret_consumers: z.string().optional(),
  }),
});

/** What the next run has to know and n8n does not tell. Holds no secret. */
const ledgerSchema = z.strictObject({
  version: z.literal(1),
  application_id: z.string().min(1),
  contract: z.string().regex(SHA256_PATTERN),
  /** `null` for a surface that was taken out of service: its credentials are gone. */
  served: servedSchema.nullable(),
  /** What is to be deleted as soon as what replaces it is served; absent most of the time. */
  replaced: z.strictObject({ credentials: z.array(z.string()), workflows: z.array(z.string()) }).optional(),
});

export type Ledger = z.infer<typeof ledgerSchema>;
export type Replaced = NonNullable<Ledger['replaced']>;
export type ServedLedger = z.infer<typeof servedSchema>;

const HEADING = '### Ledger of mcp-curated';
const FENCE = '```';

/**
 * A note's text with a ledger at its end, readable by a person and by the next run: it stands inside of the managed
 * workflow, so that nothing else has to be kept, and a lost file is no disaster.
 */
export function withLedgerJson(note: string, ledger: object): string {
  const json = JSON.stringify(ledger, null, 1);
  return `${withoutLedger(note)}\n\n${HEADING}\n\nWritten by every run; an edit makes the next run look again.\n\n${FENCE}json\n${json}\n${FENCE}`;
}

export function withLedger(note: string, ledger: Ledger): string {
  return withLedgerJson(note, ledger);
}

/** The part of a note that is not the ledger. */
export function withoutLedger(note: string): string {
  const at = note.indexOf(HEADING);
  return (at < 0 ? note : note.slice(0, at)).trimEnd();
}

/** What stands in the ledger of a note; `undefined` when there is none, or none that is JSON. */
export function ledgerJson(note: string): unknown {
  const at = note.indexOf(HEADING);
  const json =
    at < 0 ? undefined : new RegExp(`${FENCE}json\\n([\\s\\S]*?)\\n${FENCE}`).exec(note.slice(at))?.[1];
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/** The ledger of a surface; `undefined` when it is missing or was edited into something else. */
export function readLedger(note: string): Ledger | undefined {
  return ledgerSchema.safeParse(ledgerJson(note)).data;
}
