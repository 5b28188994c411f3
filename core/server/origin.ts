import { PolicyError } from '../policy/errors';
import { headerValues, type InboundRequest } from './inbound';

/** Which web pages may call, and under which names this server may be called. */
export interface HostingRules {
  /** Exact origins such as `https://chat.example.com`; an empty set allows no page. */
  readonly allowedOrigins: ReadonlySet<string>;
  /** Host names that the operator lists; with an empty set only connections over loopback are checked. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Host names under which n8n itself says that it is reached. Asked only when it matters. */
  ownHosts(): readonly string[];
}

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses a browser page of another origin, and a name that is not this server's. Programs send no `Origin`, and that
 * is fine.
 *
 * The name guards against DNS rebinding: a page of `evil.example` that makes its own name point at 127.0.0.1 is of the
 * same origin for a browser. What comes in over loopback must therefore be meant for a loopback name, for the name that
 * n8n is configured with, or for one that the operator lists. Elsewhere any name is fine until the operator lists some:
 * inside of a container network n8n is called by names that it does not know.
 *
 * @throws PolicyError `origin_not_allowed`, `host_not_allowed`
 */
export function checkHosting(request: InboundRequest, rules: HostingRules): void {
  for (const origin of headerValues(request.rawHeaders, 'origin')) {
    if (!rules.allowedOrigins.has(origin)) {
      throw new PolicyError(
        'origin_not_allowed',
        'This web origin is not in the allowed origins of the surface.',
      );
    }
  }
  if (rules.allowedHosts.size === 0 && request.isLoopback !== true) return;
  for (const host of headerValues(request.rawHeaders, 'host')) {
    const name = nameOf(host);
    if (LOOPBACK_NAMES.has(name) || rules.allowedHosts.has(name)) continue;
    if (rules.ownHosts().includes(name)) continue;
    throw new PolicyError(
      'host_not_allowed',
      'This host name is not in the allowed hosts of the surface; the operator can add it there.',
    );
  }
}

/** `Example.com:8443` is `example.com`: a port is no part of what rebinding changes. */
export function nameOf(host: string): string {
  return host.trim().toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** What a page may read of an answer beside its body. */
const EXPOSED = 'WWW-Authenticate, Retry-After, X-Correlation-Id, Mcp-Session-Id';

/** The headers by which a browser lets the page of an allowed origin read the answer. */
export function corsHeaders(request: InboundRequest, allowed: ReadonlySet<string>): Record<string, string> {
  const [origin, second] = headerValues(request.rawHeaders, 'origin');
  if (origin === undefined) return {};
  if (second !== undefined || !allowed.has(origin)) return { vary: 'Origin' };
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': EXPOSED,
  };
}
