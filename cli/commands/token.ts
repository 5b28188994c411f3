import { makeBearer } from '../../core/server/bearer';
import type { Output } from '../output';

/** `mcp-curated token`: a bearer for a consumer, and the hash that n8n keeps of it. @returns exit code */
export function tokenCommand(output: Output): number {
  const { token, sha256 } = makeBearer();
  output.result({ token, sha256 }, () => [
    `Bearer, for the client:                ${token}`,
    `Token SHA-256, for the n8n credential: ${sha256}`,
  ]);
  return 0;
}
