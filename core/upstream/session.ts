import { createHash } from 'node:crypto';
import { readPointer } from '../contract/paths';
import type { Session } from '../contract/request';
import { putBounded } from '../policy/boundedMap';
import { PolicyError } from '../policy/errors';
import { isHeaderValue } from '../policy/headers';
import { addressBelow, type UpstreamAccess } from './access';
import { readJson } from './answer';
import { encodeBody } from './request';
import type { UpstreamTransport } from './transport';

const ANSWER_BYTES = 65_536;
/** Credentials that one process signs in with; far more than one n8n has. */
const MOST_SESSIONS = 500;

interface SignedIn {
  readonly token: Promise<string>;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export interface SessionHeader {
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string;
}

/**
 * Tokens of upstreams that want a sign-in, in memory only: one per credential and sign-in, shared by all calls and made
 * once however many calls wait for it.
 */
export class Sessions {
  readonly #signedIn = new Map<string, SignedIn>();

  constructor(private readonly transport: UpstreamTransport) {}

  /**
   * @param now milliseconds since the epoch
   * @throws PolicyError `upstream_auth_failed` and what else a request can end with
   */
  async header(
    session: Session,
    access: UpstreamAccess,
    signal: AbortSignal,
    now: number,
  ): Promise<SessionHeader> {
    const key = keyOf(session, access);
    let known = this.#signedIn.get(key);
    if (!known || now >= known.until) {
      known = {
        token: signIn(session, access, signal, this.transport),
        until: now + session.lifetime_seconds * 1_000,
      };
      putBounded(this.#signedIn, key, known, MOST_SESSIONS);
    }
    try {
      const token = await known.token;
      return {
        headers: { [session.header.name]: session.header.text.replace('{token}', () => token) },
        token,
      };
    } catch (error) {
      this.#forget(key, known);
      // Another call made this sign-in and went away with it.
      if (!signal.aborted && (error as { name?: unknown }).name === 'AbortError') {
        return await this.header(session, access, signal, now);
      }
      throw error;
    }
  }

  /** Upstream no longer takes the token. */
  drop(session: Session, access: UpstreamAccess): void {
    this.#signedIn.delete(keyOf(session, access));
  }

  #forget(key: string, entry: SignedIn): void {
    if (this.#signedIn.get(key) === entry) this.#signedIn.delete(key);
  }
}

function keyOf(session: Session, { base, account, secret }: UpstreamAccess): string {
  return createHash('sha256')
    .update(JSON.stringify([session, base.href, account, secret]))
    .digest('hex');
}

async function signIn(
  session: Session,
  access: UpstreamAccess,
  signal: AbortSignal,
  transport: UpstreamTransport,
): Promise<string> {
  const url = addressBelow(access, session.path);
  const values = new Map([
    ['account', access.account],
    ['secret', access.secret],
  ]);
  const { type, text } = encodeBody(session.body.format, session.body.content, values);
  const headers = { accept: 'application/json', 'accept-encoding': 'identity', 'content-type': type };
  const response = await transport({ method: 'POST', url, headers, body: text, signal });
  if (response.status < 200 || response.status >= 300) {
    response.discard();
    throw refused(
      response.status === 429
        ? 'upstream_rate_limited'
        : response.status >= 500
          ? 'upstream_unavailable'
          : undefined,
    );
  }
  const token = readPointer(await readJson(response, ANSWER_BYTES), session.token);
  if (typeof token !== 'string' || token === '' || !isHeaderValue(token)) throw refused();
  return token;
}

function refused(
  code: 'upstream_auth_failed' | 'upstream_rate_limited' | 'upstream_unavailable' = 'upstream_auth_failed',
): PolicyError {
  const sentences = {
    upstream_auth_failed: 'Upstream refused the sign-in; the operator has to renew the credential.',
    upstream_rate_limited: 'Upstream asks for fewer sign-ins; wait before the next call.',
    upstream_unavailable: 'Upstream failed at the sign-in.',
  };
  return new PolicyError(code, sentences[code]);
}
