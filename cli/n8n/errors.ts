/** Why n8n's public API did not do what it was asked for. Codes are stable; messages are not. */
export type N8nErrorCode =
  /** 401: the key is wrong, revoked or expired. */
  | 'api_key_refused'
  /** 403: the key, or the person whose key it is, may not do this. */
  | 'api_key_scope_missing'
  /** 404: there is no such object. */
  | 'not_found'
  /** 405, or 404 for the address as such: this release does not have the call. */
  | 'method_not_supported'
  /** 409: something is in the way, such as another workflow on the path. */
  | 'conflict'
  /** 400 and every other 4xx: n8n does not take what was sent. */
  | 'rejected'
  /** 429 until the end of all attempts. */
  | 'rate_limited'
  /** 5xx until the end of all attempts. */
  | 'unavailable'
  /** A web page, a redirect, half a JSON, or JSON of another shape. */
  | 'not_the_public_api'
  /** No answer until the end of all attempts. */
  | 'unreachable'
  /** What would make something was sent and its answer was lost: whether it was made has to be looked up. */
  | 'outcome_unknown'
  /** The pages of a list go round in circles, or do not end. */
  | 'page_cursor_repeated'
  /** A page holds more than was asked for. */
  | 'page_size_differs';

/**
 * The public API of n8n did not do what it was asked for; the message is one sentence to act on and holds no secret.
 * `status` is 0 when the answer was not the public API's at all, or when there was none.
 */
export class N8nApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: N8nErrorCode = codeOfStatus(status),
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'N8nApiError';
  }
}

/** Whether `error` is an {@link N8nApiError} with one of the codes. */
export function failedWith(error: unknown, ...codes: readonly N8nErrorCode[]): error is N8nApiError {
  return error instanceof N8nApiError && codes.includes(error.code);
}

export function codeOfStatus(status: number): N8nErrorCode {
  if (status >= 500) return 'unavailable';
  return BY_STATUS[status] ?? (status >= 400 ? 'rejected' : 'not_the_public_api');
}

const BY_STATUS: Readonly<Record<number, N8nErrorCode>> = {
  401: 'api_key_refused',
  403: 'api_key_scope_missing',
  404: 'not_found',
  405: 'method_not_supported',
  409: 'conflict',
  429: 'rate_limited',
};

/** What to do about it, as the end of a sentence; most answers of n8n say enough themselves. */
export function adviceOf(code: N8nErrorCode, scope: string): string {
  switch (code) {
    case 'api_key_refused':
      return '; make a new API key in n8n (Settings, n8n API)';
    case 'api_key_scope_missing':
      return `; give the API key the scope ${scope}, or use a key of somebody who may do this`;
    case 'method_not_supported':
      return '; this release of n8n does not have the call';
    case 'rate_limited':
      return '; wait a moment and run it again';
    case 'unavailable':
      return "; n8n's log says why";
    default:
      return '';
  }
}

export function notThePublicApi(status: number, what = 'is not JSON of the public API of n8n'): N8nApiError {
  return new N8nApiError(
    0,
    `The answer (${String(status)}) ${what}; check the base address.`,
    'not_the_public_api',
  );
}
