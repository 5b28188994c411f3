import { PolicyError } from '../policy/errors';
import { foreignText } from '../policy/redaction';

/** Who a server says it is, and where it is. A pin of a tool says nothing about either. */
export interface ServerIdentity {
  /** Empty for a server that does not name itself (allowed from MCP 2026-07-28 on). */
  readonly name: string;
  readonly origin: string;
}

export function identityOf(name: string | undefined, endpoint: URL): ServerIdentity {
  return { name: name ?? '', origin: endpoint.origin };
}

/** As it is stored: `<name>@<origin>`. An origin holds no `@`. */
export function identityText({ name, origin }: ServerIdentity): string {
  return `${name}@${origin}`;
}

const SHOWN = 120;

/** @throws PolicyError `pin_malformed` */
export function parseIdentity(text: string): ServerIdentity {
  const at = text.lastIndexOf('@');
  const origin = text.slice(at + 1);
  if (at < 0 || !URL.canParse(origin) || new URL(origin).origin !== origin) {
    throw new PolicyError(
      'pin_malformed',
      'The pinned server is missing or unreadable; choose the server from the list again.',
    );
  }
  return { name: text.slice(0, at), origin };
}

/**
 * A renamed or re-pointed server defeats every hash of its tools, so both are compared first.
 *
 * @param secrets of the credential, which the server may call itself by
 * @throws PolicyError `endpoint_drift` or `server_drift`
 */
export function compareIdentity(
  pinned: ServerIdentity,
  live: ServerIdentity,
  secrets: readonly string[] = [],
): void {
  if (pinned.origin !== live.origin) {
    throw new PolicyError(
      'endpoint_drift',
      `The tools were reviewed at ${pinned.origin} and the credential now points to ${live.origin}; review them there.`,
    );
  }
  if (pinned.name !== live.name) {
    throw new PolicyError(
      'server_drift',
      `The server was reviewed as "${foreignText(pinned.name, SHOWN, secrets)}" and now calls itself "${foreignText(live.name, SHOWN, secrets)}"; review its tools again.`,
    );
  }
}
