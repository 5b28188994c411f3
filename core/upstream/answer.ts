import type { Operation } from '../contract/operation';
import { readPointer } from '../contract/paths';
import { PolicyError, type ErrorCode } from '../policy/errors';
import { foreignText } from '../policy/redaction';
import type { UpstreamAccess } from './access';
import type { UpstreamResponse } from './transport';

const ERROR_BODY_BYTES = 16_384;
const MESSAGE_CHARACTERS = 300;

/**
 * Reads the JSON of a successful answer, or throws what kind of failure it was.
 *
 * @param limit bytes after which the body is refused as a whole; JSON is never cut in the middle
 * @throws PolicyError one of the `upstream_*` codes or `response_too_large`
 */
export async function readAnswer(
  response: UpstreamResponse,
  operation: Operation,
  access: UpstreamAccess,
  limit: number,
): Promise<unknown> {
  if (response.status >= 300 && response.status < 400) {
    response.discard();
    throw new PolicyError(
      'upstream_redirect_refused',
      'Upstream answered with a redirect, which is not followed; check the base address in the credential.',
    );
  }
  if (response.status < 200 || response.status >= 300) throw await failureOf(response, operation, access);
  if (!isJson(response)) {
    response.discard();
    throw new PolicyError(
      'upstream_not_json',
      'Upstream answered with something other than JSON, for example a sign-in page; check the base address.',
    );
  }
  const text = await readText(response, limit);
  if (text === undefined) {
    throw new PolicyError(
      'response_too_large',
      `Upstream answered with more than ${String(limit)} bytes; ask for fewer records or a narrower filter.`,
    );
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new PolicyError(
      'upstream_not_json',
      'Upstream said that it answers with JSON, but the body is not JSON.',
    );
  }
}

function isJson(response: UpstreamResponse): boolean {
  const type = (response.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return type === 'application/json' || type.endsWith('+json');
}

/** The whole body as text, or `undefined` as soon as it is larger than `limit` bytes. */
async function readText(response: UpstreamResponse, limit: number): Promise<string | undefined> {
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
  return Buffer.concat(chunks).toString('utf8');
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
  access: UpstreamAccess,
): Promise<PolicyError> {
  const { status } = response;
  const [code, sentence] = BY_STATUS[status] ?? [
    status >= 500 ? 'upstream_unavailable' : 'upstream_rejected',
    status >= 500
      ? `Upstream failed with status ${String(status)}`
      : `Upstream answered with status ${String(status)}`,
  ];
  const detail = code === 'upstream_rejected' ? await explanation(response, operation, access) : undefined;
  if (detail === undefined) response.discard();
  const retryAfter = Number(response.header('retry-after'));
  return new PolicyError(
    code,
    `${sentence}${detail === undefined ? '' : `: ${detail.replace(/[.\s]+$/, '')}`}.`,
    {
      ...(Number.isInteger(retryAfter) && retryAfter > 0
        ? { retryAfterSeconds: Math.min(retryAfter, 3_600) }
        : {}),
    },
  );
}

/** Upstream's own sentence, where the contract says that it may be shown, e.g. what is wrong with a query. */
async function explanation(
  response: UpstreamResponse,
  operation: Operation,
  access: UpstreamAccess,
): Promise<string | undefined> {
  if (operation.errors.message === null || !isJson(response)) return undefined;
  try {
    const text = await readText(response, ERROR_BODY_BYTES);
    const message = text === undefined ? undefined : readPointer(JSON.parse(text), operation.errors.message);
    if (typeof message !== 'string' || message === '') return undefined;
    return foreignText(message, MESSAGE_CHARACTERS, [
      ...access.secrets,
      access.base.origin,
      access.base.host,
      access.base.hostname,
    ]);
  } catch {
    return undefined;
  }
}
