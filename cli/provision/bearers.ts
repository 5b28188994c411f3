import { OperatorError } from '../operator/error';
import type { Operator } from '../operator/load';
import type { OperatorConsumer } from '../operator/schema';
import { hashOf, resolveSecret } from './desired';

/** What is known of the bearer that a consumer shows at one surface. */
export type Bearer =
  | { readonly kind: 'known'; readonly token: string; readonly sha256: string }
  /** The file holds only its hash: the consumer alone has it. */
  | { readonly kind: 'held_by_client'; readonly sha256: string }
  | { readonly kind: 'unreadable'; readonly code: string; readonly message: string };

/** Reads the bearer of a consumer at a surface. A reference that leads nowhere is a finding, not an exception. */
export async function bearerOf(
  { folder }: Operator,
  { id, token: reference, token_sha256 }: OperatorConsumer,
  applicationId: string,
): Promise<Bearer> {
  if (reference === undefined) return { kind: 'held_by_client', sha256: token_sha256 ?? '' };
  try {
    const token = await resolveSecret(reference, applicationId, folder);
    return { kind: 'known', token, sha256: hashOf(token, id) };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { kind: 'unreadable', code: error.code, message: error.message };
  }
}

/** Whether the bearer of a consumer has run out. */
export function isExpired({ expires_at }: OperatorConsumer, now: number): boolean {
  return expires_at !== undefined && Date.parse(expires_at) <= now;
}
