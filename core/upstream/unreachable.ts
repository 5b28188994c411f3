import { PolicyError } from '../policy/errors';

/** For the connection test of a credential: nobody answered. */
export function serverUnreachable(cause: unknown): PolicyError {
  return new PolicyError('upstream_unreachable', 'The server could not be reached or ended the connection.', {
    cause,
  });
}
