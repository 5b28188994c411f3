import { Sessions } from './session';
import { createTransport, type UpstreamTransport } from './transport';

/** What a call needs of the world around it. One instance serves a process. */
export interface UpstreamPorts {
  readonly transport: UpstreamTransport;
  readonly sessions: Sessions;
  /** The present in milliseconds. */
  readonly now: () => number;
}

export function createPorts(
  transport: UpstreamTransport = createTransport(),
  now: () => number = Date.now,
): UpstreamPorts {
  return { transport, now, sessions: new Sessions(transport) };
}
