import type { ErrorCode, PolicyError } from '../policy/errors';
import type { ConcurrencyGate } from '../policy/limits';
import type { Reporter } from '../policy/report';
import type { Consumer } from './consumers';
import type { EventStream } from './eventStream';
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
  /** Where notices and then the answer go once there is a notice; `undefined` for a caller that takes JSON only. */
  readonly stream: EventStream | undefined;
  /** What a tool tells while it works; set by the protocol layer where the caller asks for it. */
  report: Reporter | undefined;
  /** The operation that a `resources/read` turned out to ask for; the audit names it. */
  resource: string | undefined;
  /** `params` of a `tools/call` as received, before the protocol layer saw it. */
  readonly call: { readonly name: unknown; readonly arguments: unknown } | undefined;
  /** Set by the call; the HTTP layer and the audit read it. */
  outcome: 'ok' | ErrorCode;
  refusal: PolicyError | undefined;
}
