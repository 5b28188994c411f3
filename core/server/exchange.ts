import type { ErrorCode, PolicyError } from '../policy/errors';
import type { ConcurrencyGate } from '../policy/limits';
import type { Consumer } from './consumers';
import type { ServedSurface } from './tools';

/** One request on its way through: what is known of it, and what became of it. */
export interface Exchange {
  readonly correlationId: string;
  readonly consumer: Consumer;
  readonly surface: ServedSurface;
  readonly signal: AbortSignal;
  readonly gate: ConcurrencyGate;
  /** Key of the surface for limits: they count per surface and process. */
  readonly gateKey: string;
  readonly serverVersion: string;
  /** `params` of a `tools/call` as received, before the protocol layer saw it. */
  readonly call: { readonly name: unknown; readonly arguments: unknown } | undefined;
  /** Set by the call; the HTTP layer and the audit read it. */
  outcome: 'ok' | ErrorCode;
  refusal: PolicyError | undefined;
}
