import { type IncomingMessage, request as httpRequest } from 'node:http';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  method: Method;
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON unless undefined. */
  body?: unknown;
  /** Milliseconds for the whole exchange; default 30 000. */
  timeoutMs?: number;
}

export interface HttpResponse {
  status: number;
  headers: IncomingMessage['headers'];
  /** Parsed if the answer says that it is JSON, else the text. */
  body: unknown;
}

/**
 * One request on a connection of its own. Not fetch: its connection pool keeps jest waiting at the end and
 * hands out dead connections after a host was restarted.
 */
export function http(options: HttpRequest): Promise<HttpResponse> {
  const payload = options.body === undefined ? undefined : JSON.stringify(options.body);
  const headers: Record<string, string | number> = { accept: 'application/json', ...options.headers };
  if (payload !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = Buffer.byteLength(payload);
  }
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(options.timeoutMs ?? 30_000);
    const request = httpRequest(
      options.url,
      { method: options.method, headers, agent: false, signal },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const isJson = (response.headers['content-type'] ?? '').includes('json');
          try {
            const body: unknown = isJson && text !== '' ? JSON.parse(text) : text;
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
          } catch (error) {
            reject(error instanceof Error ? error : new Error('the answer is not JSON'));
          }
        });
      },
    );
    request.once('error', reject);
    request.end(payload);
  });
}

/** An answer of the public API with a status of 400 or more. The message holds n8n's reason, cut to 500. */
export class ApiError extends Error {
  constructor(
    readonly method: Method,
    readonly path: string,
    readonly status: number,
    readonly body: unknown,
  ) {
    const reason = typeof body === 'string' ? body : JSON.stringify(body);
    super(`${method} ${path} answered ${status}: ${reason.slice(0, 500)}`);
    this.name = 'ApiError';
  }
}

/**
 * The public API of a host (`/api/v1`) with the owner's key. Paths begin with a slash below `/api/v1`:
 * `get('/workflows?limit=1')`. Everything but `request` throws {@link ApiError} on a status of 400 or more.
 */
export interface HostApi {
  get<T = unknown>(path: string): Promise<T>;
  post<T = unknown>(path: string, body?: unknown): Promise<T>;
  put<T = unknown>(path: string, body: unknown): Promise<T>;
  patch<T = unknown>(path: string, body: unknown): Promise<T>;
  delete<T = unknown>(path: string): Promise<T>;
  /** Never throws on a status; `key: null` sends no key, any other string instead of the owner's. */
  request(
    method: Method,
    path: string,
    options?: { body?: unknown; key?: string | null },
  ): Promise<HttpResponse>;
}

export function createApi(hostUrl: string, apiKey: string): HostApi {
  const request: HostApi['request'] = (method, path, { body, key = apiKey } = {}) =>
    http({
      method,
      url: `${hostUrl}/api/v1${path}`,
      headers: key === null ? {} : { 'x-n8n-api-key': key },
      ...(body === undefined ? {} : { body }),
    });
  const call = async <T>(method: Method, path: string, body?: unknown): Promise<T> => {
    const response = await request(method, path, { body });
    if (response.status >= 400) throw new ApiError(method, path, response.status, response.body);
    return response.body as T;
  };
  return {
    request,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
  };
}
