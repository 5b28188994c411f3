import { PolicyError } from '../policy/errors';
import type { Issuer } from './issuer';
import type { OutboundAnswer } from './outbound';
import type { ServedSurface } from './tools';

/** Where the metadata is, below the address of the endpoint. */
export const METADATA_SUFFIX = '/.well-known/oauth-protected-resource';

/**
 * What a client has to know to get a token for this endpoint: the metadata of a protected resource, RFC 9728. It is
 * public, and says nothing of tools or consumers.
 *
 * @param resource address of the endpoint as clients know it
 */
export function metadataAnswer(resource: string, issuer: Issuer, surface: ServedSurface): OutboundAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' },
    body: JSON.stringify({
      resource,
      resource_name: surface.name,
      authorization_servers: [issuer.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: scopesFor(surface, issuer),
    }),
  };
}

/** For an endpoint whose bearers nobody issues. */
export function noMetadata(): PolicyError {
  return new PolicyError(
    'metadata_absent',
    'This endpoint takes bearers that its operator hands out; there is no authorization server.',
  );
}

/** The scopes that grant something here. An issuer may know others, for other surfaces. */
export function scopesFor({ names }: ServedSurface, { scopes }: Pick<Issuer, 'scopes'>): string[] {
  return [...scopes]
    .filter(([, tools]) => tools.some((tool) => names.includes(tool)))
    .map(([scope]) => scope);
}
