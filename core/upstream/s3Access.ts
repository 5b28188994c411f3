import { literalAddress } from '../policy/address';
import { PolicyError } from '../policy/errors';
import { parseLocations, type S3Location } from './s3Locations';

/** What an S3 credential holds, as its fields are named in n8n. */
export interface S3Credential {
  /** Origin of the S3 API, such as `https://s3.example.com:9000`. */
  readonly endpoint: string;
  readonly region: string;
  /** The bucket is the first part of the path; otherwise a part of the host name. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Lines of `bucket/prefix`. */
  readonly locations: string;
}

export interface S3Access {
  /** Origin without a path: what is signed is the path that the server sees. */
  readonly base: URL;
  readonly region: string;
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly locations: readonly S3Location[];
  /** Texts that must never appear in an answer or a log line. */
  readonly secrets: readonly string[];
}

const REGION = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Neither the header nor the derivation of the key could carry others. */
const PRINTABLE = /^[\x21-\x7e]+$/;
const ACCESS_KEY_ID = /^[^\s/,=]+$/;

/** @throws PolicyError `credential_missing` that names the field to correct, never its value */
export function s3Access(credential: S3Credential): S3Access {
  const { accessKeyId, secretAccessKey, pathStyle } = credential;
  const region = credential.region.trim();
  if (!REGION.test(region)) throw incomplete('the region is none, such as us-east-1');
  if (!PRINTABLE.test(accessKeyId) || !ACCESS_KEY_ID.test(accessKeyId))
    throw incomplete('the access key id is empty or holds characters that none has');
  if (!PRINTABLE.test(secretAccessKey))
    throw incomplete('the secret access key is empty or holds white space or control characters');
  const base = originOf(credential.endpoint);
  if (!pathStyle && literalAddress(base.hostname) !== undefined)
    throw incomplete('an endpoint that is an IP address needs path-style addressing');
  return {
    base,
    region,
    pathStyle,
    accessKeyId,
    secretAccessKey,
    locations: parseLocations(credential.locations),
    secrets: [...new Set([secretAccessKey, encodeURIComponent(secretAccessKey), accessKeyId])],
  };
}

function originOf(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw incomplete('the endpoint is not an address such as https://s3.example.com');
  if (
    url.username !== '' ||
    url.password !== '' ||
    url.pathname !== '/' ||
    url.search !== '' ||
    url.hash !== ''
  )
    throw incomplete('the endpoint must be an origin: no user, path, query or fragment');
  return url;
}

function incomplete(reason: string): PolicyError {
  return new PolicyError('credential_missing', `The S3 credential cannot be used: ${reason}.`);
}
