import { PolicyError } from '../policy/errors';
import type { UpstreamPorts } from './ports';
import type { S3Access } from './s3Access';
import { readPage } from './s3Answer';
import { spelled } from './s3Locations';
import { s3Url, signedS3Request, withQuery } from './s3Request';
import { serverUnreachable } from './unreachable';

const SECONDS = 15;
const BYTES = 1_048_576;

/**
 * Whether every declared location of an object store can be listed. For the connection test of a credential.
 *
 * @returns a sentence about what works
 * @throws PolicyError
 */
export async function checkS3(
  access: S3Access,
  { transport, now }: Pick<UpstreamPorts, 'transport' | 'now'>,
): Promise<string> {
  const signal = AbortSignal.timeout(SECONDS * 1_000);
  for (const location of access.locations) {
    const { bucket, prefix } = location;
    const url = withQuery(s3Url(access, bucket), [
      ['list-type', '2'],
      ['encoding-type', 'url'],
      ['max-keys', '1'],
      ['prefix', prefix],
    ]);
    const signed = await signedS3Request({ method: 'GET', url }, access, now());
    const response = await transport({ ...signed, signal }).catch((cause: unknown) => {
      throw cause instanceof PolicyError ? cause : serverUnreachable(cause);
    });
    if (response.status !== 200) {
      response.discard();
      throw new PolicyError(
        response.status === 403 ? 'upstream_auth_failed' : 'upstream_rejected',
        `The store answers with status ${String(response.status)} to a list of ${spelled(location)}.`,
      );
    }
    await readPage(response, { location, prefix }, BYTES);
  }
  return `Connection successful. Locations: ${access.locations.map(spelled).join(', ')}`;
}
