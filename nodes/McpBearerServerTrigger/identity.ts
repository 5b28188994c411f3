import type { ICredentialDataDecryptedObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { rememberParsed } from '../../core/contract/rememberParsed';
import { PolicyError } from '../../core/policy/errors';
import { authenticate } from '../../core/server/authenticate';
import { authenticateToken } from '../../core/server/authenticateToken';
import type { Consumer } from '../../core/server/consumers';
import { parseIssuer, type Issuer } from '../../core/server/issuer';
import { rememberedConsumers } from '../../core/server/rememberConsumers';
import { createTransport } from '../../core/upstream/transport';
import { staticParameter } from '../shared/staticParameter';
import { hostCredential } from './hostCredential';

type TriggerContext = IWebhookFunctions | IHookFunctions;

const keyTransport = createTransport();

/** Remembered by content: an issuer keeps the keys that it has fetched. The credential holds no secret. */
const issuerOfJson = rememberParsed((json): Issuer => parseIssuer(JSON.parse(json), keyTransport));

/** Whether bearers are tokens of an issuer, and not those that the operator hands out. */
export function usesIssuer(context: TriggerContext): boolean {
  return staticParameter(context.getNode(), 'authentication') === 'jwt';
}

/**
 * Whom a request's bearer names.
 *
 * @param authorization every value of the `Authorization` header as received
 * @param now milliseconds since the epoch
 * @throws PolicyError for nobody, or `surface_unconfigured`
 */
export async function identify(
  context: TriggerContext,
  authorization: readonly string[],
  now: number,
): Promise<Consumer> {
  return usesIssuer(context)
    ? await authenticateToken(authorization, await issuerOf(context), now)
    : authenticate(authorization, await consumersOf(context), now);
}

/** @throws PolicyError `surface_unconfigured` when what says who may call is missing or cannot be used */
export async function checkIdentity(context: TriggerContext): Promise<void> {
  await (usesIssuer(context) ? issuerOf(context) : consumersOf(context));
}

/** @throws PolicyError `surface_unconfigured` */
export async function issuerOf(context: TriggerContext): Promise<Issuer> {
  const credential = await credentialOf(context, 'mcpJwtIssuerApi', 'MCP JWT issuer');
  return issuerOfJson(JSON.stringify(credential));
}

async function consumersOf(context: TriggerContext): Promise<readonly Consumer[]> {
  return rememberedConsumers(await credentialOf(context, 'mcpConsumersApi', 'MCP consumers'));
}

async function credentialOf(
  context: TriggerContext,
  type: string,
  shown: string,
): Promise<ICredentialDataDecryptedObject> {
  return await hostCredential(context, type).catch((cause: unknown) => {
    throw new PolicyError('surface_unconfigured', `The trigger has no ${shown} credential; choose one.`, {
      cause,
    });
  });
}

/** For the test of the credential: what is set up, and whether the keys can be had. @throws PolicyError */
export async function describeIssuer(credential: unknown): Promise<string> {
  const issuer = parseIssuer(credential, keyTransport);
  const keys = issuer.remote ? `${String(await issuer.remote.count())} keys fetched` : 'fixed keys';
  return `Usable: ${keys}. Scopes: ${[...issuer.scopes.keys()].join(', ')}`;
}
