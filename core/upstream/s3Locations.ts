import { PolicyError } from '../policy/errors';
import { isSegment } from './segments';

/** A part of a bucket that the operator declared. */
export interface S3Location {
  readonly bucket: string;
  /** Ends in a slash, so that `pub` does not open `public-secret/`. */
  readonly prefix: string;
}

/** What one list asks for: below a declared location, and no more. */
export interface S3Place {
  readonly location: S3Location;
  /** Begins with the prefix of the location. */
  readonly prefix: string;
}

/** Amazon S3, "Bucket naming rules"; an IP address is none of them, and would change where a host name leads. */
const BUCKET = /^(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9](?:[a-z0-9-]|\.(?=[a-z0-9])){1,61}[a-z0-9]$/;
const LONGEST_KEY_BYTES = 1_024;

/**
 * Reads the declared locations: one `bucket/prefix` per line. A bucket without a prefix is refused: an unrestricted
 * bucket is no boundary (document 003, "The schema MUST reject").
 *
 * @throws PolicyError `credential_missing` that names the line, never what stands there
 */
export function parseLocations(text: string): readonly S3Location[] {
  const locations = text.split(/\r?\n/).flatMap((line, index) => {
    const trimmed = line.trim();
    return trimmed === '' || trimmed.startsWith('#') ? [] : [locationOf(trimmed, index)];
  });
  if (locations.length === 0) throw unusable('no location is declared');
  return locations;
}

function locationOf(line: string, index: number): S3Location {
  const [bucket = '', ...parts] = line.replace(/\/$/, '').split('/');
  const fault = (reason: string) => unusable(`line ${String(index + 1)} of its locations ${reason}`);
  if (!BUCKET.test(bucket)) throw fault('does not begin with the name of a bucket');
  if (parts.length === 0) throw fault('has no prefix after the bucket');
  if (!parts.every(isSegment)) throw fault('has an empty part or a dot segment in its prefix');
  return { bucket, prefix: `${parts.join('/')}/` };
}

function unusable(reason: string): PolicyError {
  return new PolicyError('credential_missing', `The S3 credential cannot be used: ${reason}.`);
}

export const spelled = ({ bucket, prefix }: S3Location): string => `${bucket}/${prefix}`;

/**
 * The places that a list is about, in the order of their declaration: all declared ones, those of one bucket, or one.
 *
 * @throws PolicyError `arguments_invalid` for what is not below a declared location
 */
export function placesOf(
  locations: readonly S3Location[],
  bucket: string | undefined,
  prefix: string | undefined,
): readonly S3Place[] {
  const candidates = inBucket(locations, bucket);
  if (prefix === undefined || prefix === '') {
    return candidates.map((location) => ({ location, prefix: location.prefix }));
  }
  const parts = prefix.split('/');
  if (!parts.slice(0, -1).every(isSegment) || !(parts.at(-1) === '' || isSegment(parts.at(-1) ?? '')))
    throw invalid('prefix', 'must be a plain path: no empty parts, no dot segments');
  return [{ location: soleLocation(candidates, prefix, 'prefix'), prefix }];
}

/**
 * The location of one object.
 *
 * @throws PolicyError `arguments_invalid` for a key that is not below a declared location, or that could climb
 */
export function locationOfKey(
  locations: readonly S3Location[],
  bucket: string | undefined,
  key: string,
): S3Location {
  if (!key.split('/').every(isSegment))
    throw invalid('key', 'must be a plain path: no slash at its ends, no empty parts, no dot segments');
  if (Buffer.byteLength(key, 'utf8') > LONGEST_KEY_BYTES)
    throw invalid('key', `must not be longer than ${String(LONGEST_KEY_BYTES)} bytes`);
  return soleLocation(inBucket(locations, bucket), key, 'key');
}

function inBucket(locations: readonly S3Location[], bucket: string | undefined): readonly S3Location[] {
  const found = locations.filter((location) => bucket === undefined || location.bucket === bucket);
  if (found.length === 0) throw invalid('bucket', 'must be one of those that the operator declared');
  return found;
}

function soleLocation(candidates: readonly S3Location[], path: string, argument: string): S3Location {
  const found = candidates.filter(({ prefix }) => path.startsWith(prefix));
  const [first] = found;
  if (!first) throw invalid(argument, 'must begin with a prefix that the operator declared');
  if (found.some(({ bucket }) => bucket !== first.bucket))
    throw invalid('bucket', 'must be given: more than one bucket has that prefix');
  return first;
}

function invalid(argument: string, reason: string): PolicyError {
  return new PolicyError('arguments_invalid', `Argument /${argument} ${reason}.`, {
    pointer: `/${argument}`,
  });
}
