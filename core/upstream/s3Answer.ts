import { readPointer } from '../contract/paths';
import { PolicyError } from '../policy/errors';
import { readBytes, tooLarge } from './body';
import { decodeBody } from './decode';
import type { S3Place } from './s3Locations';
import type { UpstreamResponse } from './transport';

/** One entry of a list: an object, or what has deeper keys in common. */
interface Entry {
  readonly kind: 'object' | 'folder';
  readonly bucket: string;
  readonly key: string;
  readonly size: number | null;
  readonly last_modified: string | null;
  readonly etag: string | null;
  readonly storage_class: string | null;
}

export interface S3Page {
  readonly items: readonly Entry[];
  /** Upstream's continuation token; `null` at the end. */
  readonly token: string | null;
}

/**
 * Reads a ListObjectsV2 answer, keys in plain text.
 *
 * @throws PolicyError `upstream_unexpected_shape` for another answer, and for a key outside of what was asked for
 */
export async function readPage(
  response: UpstreamResponse,
  { location: { bucket }, prefix }: S3Place,
  limit: number,
): Promise<S3Page> {
  const body = await decodeBody(response, 'xml', limit, ['Contents', 'CommonPrefixes']);
  const result = readPointer(body, '/ListBucketResult');
  // An empty element is read as empty text.
  if (result === undefined) throw unexpected();
  const isEncoded = readPointer(result, '/EncodingType') === 'url';
  const plain = (value: unknown): string => {
    const key = isEncoded ? decoded(textOf(value)) : textOf(value);
    if (!key.startsWith(prefix)) throw unexpected();
    return key;
  };
  const folders = listAt(result, '/CommonPrefixes').map((entry): Entry => ({
    ...{ kind: 'folder', bucket, key: plain(readPointer(entry, '/Prefix')) },
    ...{ size: null, last_modified: null, etag: null, storage_class: null },
  }));
  const objects = listAt(result, '/Contents').map((entry): Entry => ({
    kind: 'object',
    bucket,
    key: plain(readPointer(entry, '/Key')),
    size: countOf(readPointer(entry, '/Size')),
    last_modified: optional(readPointer(entry, '/LastModified')),
    etag: withoutQuotes(optional(readPointer(entry, '/ETag'))),
    storage_class: optional(readPointer(entry, '/StorageClass')),
  }));
  const isTruncated = textOf(readPointer(result, '/IsTruncated')) === 'true';
  const token = textOf(readPointer(result, '/NextContinuationToken'));
  if (isTruncated && token === '') throw unexpected();
  return { items: [...folders, ...objects], token: isTruncated ? token : null };
}

function listAt(result: unknown, pointer: string): readonly unknown[] {
  const found = readPointer(result, pointer);
  return Array.isArray(found) ? found : [];
}

/** Servers encode keys as forms do: a plus is a space. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    throw unexpected();
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const optional = (value: unknown): string | null => (textOf(value) === '' ? null : textOf(value));
const withoutQuotes = (etag: string | null): string | null => etag && etag.replace(/^(W\/)?"|"$/g, '');

function countOf(value: unknown): number | null {
  const text = textOf(value);
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** What the headers say of one object, and its content where it is text. */
export interface S3Object {
  readonly bucket: string;
  readonly key: string;
  readonly size: number | null;
  readonly content_type: string | null;
  readonly last_modified: string | null;
  readonly etag: string | null;
}

export function metadataOf(response: UpstreamResponse, bucket: string, key: string): S3Object {
  return {
    bucket,
    key,
    size: countOf(response.header('content-length')),
    content_type: optional(response.header('content-type')),
    last_modified: optional(response.header('last-modified')),
    etag: withoutQuotes(optional(response.header('etag'))),
  };
}

export interface S3Content {
  /** `omitted`: neither text nor JSON, so nothing of it is returned. */
  readonly content: 'text' | 'json' | 'omitted';
  readonly text: string | null;
  readonly json: unknown;
}

const OMITTED: S3Content = { content: 'omitted', text: null, json: null };
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The content of an object, whole or not at all.
 *
 * @throws PolicyError `response_too_large` for a text of more than `limit` bytes
 */
export async function readContent(
  response: UpstreamResponse,
  key: string,
  limit: number,
): Promise<S3Content> {
  const kind = contentKind(response, key);
  if (kind === 'omitted') {
    response.discard();
    return OMITTED;
  }
  const bytes = await readBytes(response, limit);
  if (bytes === undefined) throw tooLarge(limit);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return OMITTED;
  }
  if (text.includes('\u0000')) return OMITTED;
  if (kind === 'json') {
    try {
      return { content: 'json', text: null, json: JSON.parse(text) as unknown };
    } catch {
      // What calls itself JSON and is none is still text.
    }
  }
  return { content: 'text', text, json: null };
}

const TEXT_TYPE =
  /^(?:text\/.+|application\/(?:.+\+)?(?:xml|yaml)|application\/(?:x-yaml|x-ndjson|csv|toml|sql))$/;
const JSON_TYPE = /^application\/(?:.+\+)?json$|^text\/json$/;
/** What uploads without a type get. */
const UNTYPED = ['', 'application/octet-stream', 'binary/octet-stream'];
const TEXT_ENDING = /\.(?:txt|md|csv|tsv|log|xml|ya?ml|ndjson|jsonl|html?|ini|toml|sql)$/i;

function contentKind(response: UpstreamResponse, key: string): S3Content['content'] {
  const coding = (response.header('content-encoding') ?? '').trim().toLowerCase();
  // aws-chunked is left over from some uploads and says nothing of the content.
  if (!['', 'identity', 'aws-chunked'].includes(coding)) return 'omitted';
  const type = (response.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (JSON_TYPE.test(type)) return 'json';
  if (TEXT_TYPE.test(type)) return 'text';
  if (!UNTYPED.includes(type)) return 'omitted';
  if (/\.json$/i.test(key)) return 'json';
  return TEXT_ENDING.test(key) ? 'text' : 'omitted';
}

function unexpected(): PolicyError {
  return new PolicyError(
    'upstream_unexpected_shape',
    'Upstream did not answer with a list of objects below the prefix that was asked for; its version may differ from the one this contract was tested with.',
  );
}
