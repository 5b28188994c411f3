import type { FAILURE_CODES, Operation } from '../contract/operation';
import { readPointer } from '../contract/paths';
import { PolicyError, type ErrorCode } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import type { UpstreamAccess } from './access';
import { decodeBody, isOfFormat } from './decode';
import type { UpstreamResponse } from './transport';

const ERROR_BODY_BYTES = 16_384;
const MESSAGE_CHARACTERS = 300;

/**
 * Reads the body of a successful answer as data, or throws what kind of failure it was, also where upstream tells a
 * failure with status 200.
 *
 * @param limit bytes after which the body is refused as a whole; it is never cut in the middle
 * @returns the body; `{body, headers}` where the contract reads headers too
 * @throws PolicyError one of the `upstream_*` codes or `response_too_large`
 */
export async function readAnswer(
  response: UpstreamResponse,
  operation: Operation,
  access: UpstreamAccess,
  limit: number,
): Promise<unknown> {
  await refuseFailedStatus(response, operation, access);
  const { format = 'json', lists, headers } = operation.response;
  const body = await decodeBody(response, format, limit, lists);
  refuseFailure(body, operation, access);
  if (headers === undefined) return body;
  const read = headers.map((name) => [name, response.header(name) ?? null] as const);
  return { body, headers: Object.fromEntries(read) };
}

/** What may be said of an upstream: never its address or one of the secrets. */
type Unsayable = Pick<UpstreamAccess, 'base' | 'secrets'>;

/** @throws PolicyError one of the `upstream_*` codes for every status but 2xx */
export async function refuseFailedStatus(
  response: UpstreamResponse,
  operation: Operation,
  access: Unsayable,
): Promise<void> {
  refuseRedirect(response);
  if (response.status < 200 || response.status >= 300) throw await failureOf(response, operation, access);
}

/**
 * The JSON of a successful answer that no operation describes, such as that of a sign-in.
 *
 * @throws PolicyError
 */
export async function readJson(response: UpstreamResponse, limit: number): Promise<unknown> {
  refuseRedirect(response);
  return await decodeBody(response, 'json', limit);
}

function refuseRedirect(response: UpstreamResponse): void {
  if (response.status < 300 || response.status >= 400) return;
  response.discard();
  throw new PolicyError(
    'upstream_redirect_refused',
    'Upstream answered with a redirect, which is not followed; check the base address in the credential.',
  );
}

const SENTENCES: Record<(typeof FAILURE_CODES)[number], string> = {
  upstream_auth_failed: 'Upstream refused the credential or does not allow this identity to read that',
  upstream_not_found: 'Upstream has nothing under that identifier',
  upstream_rejected: 'Upstream could not process the request',
  upstream_rate_limited: 'Upstream asks for fewer requests; wait before the next call',
  upstream_unavailable: 'Upstream failed',
};

/** Some upstreams answer 200 and say in the body that it went wrong. */
function refuseFailure(body: unknown, { errors }: Operation, access: Unsayable): void {
  const { failure } = errors;
  if (!failure) return;
  const found = readPointer(body, failure.at);
  if (failure.unless ? failure.unless.some((value) => value === found) : isNothing(found)) return;
  const code = failure.codes?.[String(found)] ?? 'upstream_rejected';
  const detail = code === 'upstream_rejected' ? sentenceIn(body, errors.message, access) : undefined;
  throw new PolicyError(code, sentence(SENTENCES[code], detail));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function sentence(start: string, detail: string | undefined): string {
  return `${start}${detail === undefined ? '' : `: ${detail.replace(/[.\s]+$/, '')}`}.`;
}

const BY_STATUS: Partial<Record<number, [code: ErrorCode, sentence: string]>> = {
  400: ['upstream_rejected', 'Upstream refused the request as invalid'],
  401: ['upstream_auth_failed', 'Upstream refused the credential; the operator has to renew it'],
  403: ['upstream_auth_failed', 'Upstream does not allow this identity to read that'],
  404: ['upstream_not_found', 'Upstream has nothing under that identifier'],
  410: ['upstream_not_found', 'Upstream no longer has that record'],
  422: ['upstream_rejected', 'Upstream could not process the request'],
  429: ['upstream_rate_limited', 'Upstream asks for fewer requests; wait before the next call'],
};

async function failureOf(
  response: UpstreamResponse,
  operation: Operation,
  access: Unsayable,
): Promise<PolicyError> {
  const { status } = response;
  const own = operation.errors.statuses?.[String(status)];
  const [code, start] = (own && ([own, SENTENCES[own]] as const)) ??
    BY_STATUS[status] ?? [
      status >= 500 ? 'upstream_unavailable' : 'upstream_rejected',
      status >= 500
        ? `Upstream failed with status ${String(status)}`
        : `Upstream answered with status ${String(status)}`,
    ];
  const detail = code === 'upstream_rejected' ? await explanation(response, operation, access) : undefined;
  if (detail === undefined) response.discard();
  const retryAfter = Number(response.header('retry-after'));
  return new PolicyError(code, sentence(start, detail), {
    ...(Number.isInteger(retryAfter) && retryAfter > 0
      ? { retryAfterSeconds: Math.min(retryAfter, 3_600) }
      : {}),
  });
}

/** Upstream's own sentence, where the contract says that it may be shown, e.g. what is wrong with a query. */
async function explanation(
  response: UpstreamResponse,
  operation: Operation,
  access: Unsayable,
): Promise<string | undefined> {
  const { format } = operation.response;
  // Errors are told in JSON even where the answer is plain text.
  const expected = format === 'xml' && isOfFormat(response, 'xml') ? 'xml' : 'json';
  if (operation.errors.message === null || !isOfFormat(response, expected)) return undefined;
  try {
    const body = await decodeBody(response, expected, ERROR_BODY_BYTES);
    return sentenceIn(body, operation.errors.message, access);
  } catch {
    return undefined;
  }
}

function sentenceIn(body: unknown, pointer: string | null, access: Unsayable): string | undefined {
  const message = pointer === null ? undefined : readPointer(body, pointer);
  if (typeof message !== 'string' || message === '') return undefined;
  const { origin, host, hostname } = access.base;
  return foreignText(message, MESSAGE_CHARACTERS, [...access.secrets, origin, host, hostname]);
}
