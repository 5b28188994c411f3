import { PolicyError } from '../policy/errors';
import type { Consumer } from './consumers';
import { scopesFor } from './metadata';
import { grantedNames, type ServedSurface } from './tools';

/**
 * Whether an identified consumer may speak to a surface at all. Which tools it may list and call is decided by
 * `grantedNames` alone.
 *
 * @throws PolicyError `consumer_not_allowed`; `insufficient_scope` for a token none of whose scopes grants a tool here.
 *   It names the scopes of the surface, which its metadata shows to everybody, and never those of one tool.
 */
export function admit(consumer: Consumer, surface: ServedSurface): void {
  if (surface.allowedConsumers !== null && !surface.allowedConsumers.has(consumer.id)) {
    throw new PolicyError('consumer_not_allowed', 'This consumer is not admitted to this surface.');
  }
  const { scopes } = consumer;
  if (scopes === null || grantedNames(surface, consumer).length > 0) return;
  throw new PolicyError(
    'insufficient_scope',
    'The token has none of the scopes that this server asks for; get one with the scope that you need.',
    { scope: scopesFor(surface, { scopes }).join(' ') },
  );
}
