import {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { packName } from '../version';
import type { ServerAccess } from './access';

const MOST_PROVIDERS = 100;
const providers = new Map<string, OAuthClientProvider>();

/**
 * The OAuth 2 client of a credential. It keeps its token for as long as the process runs, so that executions after
 * each other ask for one token and not for one each. The secret goes to the declared issuer and to no other, whatever
 * the MCP server advertises.
 */
export function oauthProvider({ oauth, fingerprint }: ServerAccess): OAuthClientProvider | undefined {
  if (!oauth) return undefined;
  const known = providers.get(fingerprint);
  if (known) return known;
  const { clientId, issuer: expectedIssuer, scope, secret } = oauth;
  const common = {
    clientId,
    clientName: packName,
    expectedIssuer,
    ...(scope === undefined ? {} : { scope }),
  };
  const provider =
    'clientSecret' in secret
      ? new ClientCredentialsProvider({ ...common, clientSecret: secret.clientSecret })
      : new PrivateKeyJwtProvider({ ...common, privateKey: secret.privateKey, algorithm: secret.algorithm });
  if (providers.size >= MOST_PROVIDERS) providers.clear();
  providers.set(fingerprint, provider);
  return provider;
}

/** Texts that must never be shown: the secrets of the credential, and the tokens that were got with them. */
export function secretsOf({ secrets, fingerprint }: ServerAccess): readonly string[] {
  const tokens = providers.get(fingerprint)?.tokens();
  if (!tokens || !('access_token' in tokens)) return secrets;
  return [...secrets, tokens.access_token];
}
