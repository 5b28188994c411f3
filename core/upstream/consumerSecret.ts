import { z } from 'zod';
import { rememberParsed } from '../contract/rememberParsed';
import { APPLICATION_ID_PATTERN } from '../contract/vocabulary';
import { PolicyError } from '../policy/errors';
import type { UpstreamCredential } from './access';

/** An upstream credential that may hold a secret for each consumer, as JSON text. */
export interface ConsumersUpstreamCredential extends UpstreamCredential {
  readonly consumerSecrets?: string | undefined;
}

const secretsSchema = z
  .record(
    z.string().regex(APPLICATION_ID_PATTERN),
    z.union([z.string().min(1), z.strictObject({ name: z.string().min(1), secret: z.string().min(1) })]),
  )
  .refine((secrets) => Object.keys(secrets).length > 0);

type Secrets = ReadonlyMap<string, { readonly name?: string; readonly secret: string }>;

const parse = rememberParsed((json): Secrets => {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw unusable('are not valid JSON');
  }
  const parsed = secretsSchema.safeParse(value);
  if (!parsed.success) throw unusable('must be an object of consumer ids, each with its secret');
  return new Map(
    Object.entries(parsed.data).map(([id, own]) => [id, typeof own === 'string' ? { secret: own } : own]),
  );
}, 20);

/**
 * The credential as one consumer uses it. Where secrets are mapped by consumer there is no other: who is not in the map,
 * an agent inside n8n included, reaches nothing, so that nobody reads with somebody else's rights.
 *
 * @param consumer id of the caller; `null` for one that is no named consumer
 * @throws PolicyError `consumer_secret_missing`, or `credential_missing` for a map that cannot be used
 */
export function forConsumer(
  credential: ConsumersUpstreamCredential,
  consumer: string | null,
): UpstreamCredential {
  const json = (credential.consumerSecrets ?? '').trim();
  if (json === '') return credential;
  const own = consumer === null ? undefined : parse(json).get(consumer);
  if (own) return { ...credential, ...own };
  throw new PolicyError(
    'consumer_secret_missing',
    consumer === null
      ? 'This application is read as the consumer that asks, and an agent inside n8n is none.'
      : 'The operator has stored no secret of this consumer for the application, so nothing is read.',
  );
}

/** For the test of the connection: the secret beside the map, else the first in it. @throws PolicyError */
export function forTest(credential: ConsumersUpstreamCredential): UpstreamCredential {
  const json = (credential.consumerSecrets ?? '').trim();
  if (json === '') return credential;
  const [first] = parse(json).values();
  return (credential.secret ?? '') === '' ? { ...credential, ...first } : credential;
}

/** Who has a secret of its own. @throws PolicyError `credential_missing` for a map that cannot be used */
export function consumersIn({ consumerSecrets = '' }: ConsumersUpstreamCredential): string[] {
  return consumerSecrets.trim() === '' ? [] : [...parse(consumerSecrets.trim()).keys()];
}

function unusable(reason: string): PolicyError {
  return new PolicyError(
    'credential_missing',
    `The upstream credential cannot be used: the secrets by consumer ${reason}.`,
  );
}
