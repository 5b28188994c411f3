import { AwsV4Signer } from 'aws4fetch';
import type { S3Access } from './s3Access';
import type { UpstreamRequest } from './transport';

type Unsigned = Pick<UpstreamRequest, 'method' | 'url'>;

/** SHA-256 of an empty body, which every request of ours has. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Keys that are derived from the secret, one a day and region. */
const derived = new Map<string, ArrayBuffer>();
const MOST_DERIVED = 200;

/**
 * The address of a bucket, or of one object in it.
 *
 * @param key checked: no dot segments, no empty parts
 */
export function s3Url({ base, pathStyle }: S3Access, bucket: string, key?: string): URL {
  const url = new URL(base);
  if (!pathStyle) url.hostname = `${bucket}.${base.hostname}`;
  const parts = [...(pathStyle ? [bucket] : []), ...(key === undefined ? [] : key.split('/'))];
  url.pathname = `/${parts.map(encoded).join('/')}`;
  return url;
}

/** Sets a query in the one spelling that is signed and sent: RFC 3986, `%20` for a space. */
export function withQuery(url: URL, query: readonly (readonly [name: string, value: string])[]): URL {
  const next = new URL(url);
  next.search = query.map((pair) => pair.map(encoded).join('=')).join('&');
  return next;
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * A request signed with AWS Signature Version 4 (Amazon S3 API reference, "Authenticating Requests: Using the
 * Authorization Header"). Only what no proxy changes is signed.
 *
 * @param nowMilliseconds the present; servers allow a difference of 15 minutes
 */
export async function signedS3Request(
  { method, url }: Unsigned,
  access: S3Access,
  nowMilliseconds: number,
): Promise<Omit<UpstreamRequest, 'signal'>> {
  if (derived.size >= MOST_DERIVED) derived.clear();
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: { 'x-amz-content-sha256': EMPTY_SHA256 },
    accessKeyId: access.accessKeyId,
    secretAccessKey: access.secretAccessKey,
    service: 's3',
    region: access.region,
    datetime: new Date(nowMilliseconds).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    cache: derived,
  });
  const { headers } = await signer.sign();
  return {
    method,
    url,
    headers: { ...Object.fromEntries(headers), 'accept-encoding': 'identity' },
    body: undefined,
  };
}
