import { PolicyError } from '../policy/errors';
import type { UpstreamResponse } from './transport';

export type UpstreamBody = Pick<UpstreamResponse, 'header' | 'body' | 'discard'>;

/** The whole body as text, or `undefined` as soon as it is larger than `limit` bytes. */
export async function readText(response: UpstreamBody, limit: number): Promise<string | undefined> {
  const bytes = await readBytes(response, limit);
  return bytes?.toString('utf8');
}

/** The whole body, or `undefined` as soon as it is larger than `limit` bytes. */
export async function readBytes(response: UpstreamBody, limit: number): Promise<Buffer | undefined> {
  if (Number(response.header('content-length') ?? 0) > limit) {
    response.discard();
    return undefined;
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > limit) {
      response.discard();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function tooLarge(limit: number): PolicyError {
  return new PolicyError(
    'response_too_large',
    `Upstream answered with more than ${String(limit)} bytes; ask for fewer records or a narrower filter.`,
  );
}
