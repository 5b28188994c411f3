import type { PreparedOperation } from '../contract/definition';
import type { S3Request } from '../contract/request';
import { PolicyError } from '../policy/errors';
import { refuseFailedStatus } from './answer';
import type { UpstreamPorts } from './ports';
import { runOperation, type CallContext, type CallResult } from './run';
import type { S3Access } from './s3Access';
import { metadataOf, readContent, readPage } from './s3Answer';
import { locationOfKey, placesOf, spelled, type S3Place } from './s3Locations';
import { s3Url, signedS3Request, withQuery } from './s3Request';
import type { UpstreamResponse } from './transport';

type Arguments = Readonly<Record<string, unknown>>;
type S3Ports = Pick<UpstreamPorts, 'transport' | 'now'>;

/**
 * Runs one operation on an object store. Only what the operator declared can be reached or listed, whatever the
 * arguments say.
 *
 * @param given the caller's arguments, untrusted
 * @throws PolicyError with the code of what went wrong; nothing else escapes
 */
export async function callS3Operation(
  prepared: PreparedOperation,
  given: unknown,
  access: S3Access,
  context: CallContext,
  ports: S3Ports,
): Promise<CallResult> {
  const { operation } = prepared.definition;
  const { request } = operation;
  if (request.kind !== 's3') {
    throw new PolicyError(
      'surface_unconfigured',
      `${operation.name} does not read an object store; render the workflow from its contract again.`,
    );
  }
  const store = new Store(prepared, access, ports);
  return await runOperation(prepared, given, context, async (args, signal) =>
    request.action === 'list'
      ? await store.list(args, signal)
      : await store.object(request.action, args, signal),
  );
}

class Store {
  constructor(
    private readonly prepared: PreparedOperation,
    private readonly access: S3Access,
    private readonly ports: S3Ports,
  ) {}

  /**
   * One page. Several places are listed one after the other: where one ends, `next` leads to the next one.
   *
   * @returns `{items, next, locations}`
   */
  async list(args: Arguments, signal: AbortSignal): Promise<unknown> {
    const { locations } = this.access;
    const places = placesOf(locations, textArgument(args, 'bucket'), textArgument(args, 'prefix'));
    const cursor = readCursor(textArgument(args, 'cursor'), places);
    const place = places[cursor.index];
    if (!place) throw badCursor();
    const { response_bytes: limit } = this.prepared.definition.limits;
    const url = withQuery(s3Url(this.access, place.location.bucket), [
      ['list-type', '2'],
      ['delimiter', '/'],
      ['encoding-type', 'url'],
      ['fetch-owner', 'false'],
      ['max-keys', String(args['limit'])],
      ['prefix', place.prefix],
      ...(cursor.token === undefined ? [] : [['continuation-token', cursor.token] as const]),
    ]);
    const { items, token } = await readPage(await this.#ask('GET', url, signal), place, limit);
    const following = places[cursor.index + 1];
    return {
      // A folder that was made as an object of its own is what is listed, not something in it.
      items: items.filter(({ kind, key }) => kind === 'folder' || key !== place.prefix),
      next: token !== null ? cursorOf(place, token) : following ? cursorOf(following) : null,
      locations: locations.map(spelled),
    };
  }

  /** @returns what the headers say; for `get` the content too, where it is text or JSON */
  async object(
    action: Exclude<S3Request['action'], 'list'>,
    args: Arguments,
    signal: AbortSignal,
  ): Promise<unknown> {
    const key = textArgument(args, 'key') ?? '';
    const { bucket } = locationOfKey(this.access.locations, textArgument(args, 'bucket'), key);
    const response = await this.#ask(
      action === 'get' ? 'GET' : 'HEAD',
      s3Url(this.access, bucket, key),
      signal,
    );
    const metadata = metadataOf(response, bucket, key);
    if (action === 'head') {
      response.discard();
      return metadata;
    }
    const { response_bytes: limit } = this.prepared.definition.limits;
    return { ...metadata, ...(await readContent(response, key, limit)) };
  }

  async #ask(method: 'GET' | 'HEAD', url: URL, signal: AbortSignal): Promise<UpstreamResponse> {
    const signed = await signedS3Request({ method, url }, this.access, this.ports.now());
    const response = await this.ports.transport({ ...signed, signal });
    await refuseFailedStatus(response, this.prepared.definition.operation, this.access);
    return response;
  }
}

function textArgument(args: Arguments, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' ? value : undefined;
}

/** Where to read on: `<bucket>/<prefix>`, and upstream's token after a line feed, in base64url. */
function cursorOf({ location, prefix }: S3Place, token = ''): string {
  return Buffer.from(`${location.bucket}/${prefix}\n${token}`, 'utf8').toString('base64url');
}

/** A cursor chooses among the places that the other arguments allow; it cannot name others. */
function readCursor(
  cursor: string | undefined,
  places: readonly S3Place[],
): { index: number; token?: string } {
  if (cursor === undefined) return { index: 0 };
  const [place, token = '', ...rest] = Buffer.from(cursor, 'base64url').toString('utf8').split('\n');
  const index = places.findIndex(({ location, prefix }) => `${location.bucket}/${prefix}` === place);
  if (index < 0 || rest.length > 0 || /[\p{Cc}\ufffd]/u.test(token)) throw badCursor();
  return token === '' ? { index } : { index, token };
}

function badCursor(): PolicyError {
  return new PolicyError(
    'arguments_invalid',
    'Argument /cursor must be the value of next of an earlier answer to the same bucket and prefix.',
    { pointer: '/cursor' },
  );
}
