import { createHash } from 'node:crypto';
import type { PreparedOperation } from '../../../core/contract/definition';
import { upstreamAccess, type UpstreamAccess } from '../../../core/upstream/access';
import { callOperation } from '../../../core/upstream/call';
import { createPorts } from '../../../core/upstream/ports';
import type { CallResult } from '../../../core/upstream/run';
import type { UpstreamRequest, UpstreamResponse } from '../../../core/upstream/transport';
import type { Evidence, OperationEvidence, RequestEvidence } from './evidence';

export const SECRET = 'k3y-that-nobody-may-see';
export const TOKEN = 't0ken-of-the-session';
/** The user that evidence names where upstream wants one. */
const ACCOUNT = 'svc';
const BASIC = Buffer.from(`${ACCOUNT}:${SECRET}`).toString('base64');
export const ORIGIN = 'https://upstream.test:8443';
/** The present in Unix seconds. */
export const NOW = 1_767_225_600;

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The secret and the token in the places where evidence leaves room for them; hashes are computed. */
export function filled<T>(value: T): T {
  if (typeof value === 'string') {
    const text = value
      .replaceAll('{secret}', SECRET)
      .replaceAll('{token}', TOKEN)
      .replaceAll('{basic}', BASIC);
    return (text.startsWith('sha256:') ? sha256(text.slice(7)) : text) as T;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(filled) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, filled(entry as unknown)]),
  ) as T;
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

export function accessOf({ access }: Evidence): UpstreamAccess {
  const { authentication, name, secret, settings } = filled(access);
  return upstreamAccess({ baseUrl: ORIGIN, authentication, name, secret, settings });
}

/** An upstream that answers from evidence and remembers what it was asked. */
export class EvidenceUpstream {
  readonly requests: UpstreamRequest[] = [];
  readonly #ports = createPorts(this.#answer.bind(this), () => NOW * 1_000);

  constructor(
    readonly evidence: Evidence,
    private readonly answers: (request: UpstreamRequest) => Answer,
  ) {}

  async call(prepared: PreparedOperation, args: Record<string, unknown>): Promise<CallResult> {
    const { signal } = new AbortController();
    const context = { consumer: 'client-test', tenant: 'tenant-test', correlationId: 'test', signal };
    return await callOperation(prepared, args, accessOf(this.evidence), context, this.#ports);
  }

  #answer(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { sign_in: signIn } = this.evidence;
    const isSignIn =
      signIn !== undefined &&
      request.url.pathname === signIn.request.path &&
      request.method === signIn.request.method;
    if (!isSignIn) this.requests.push(request);
    return Promise.resolve(responseOf(isSignIn ? filled(signIn.response) : this.answers(request)));
  }
}

export const answerOf = ({ response }: OperationEvidence): Answer => response;

function responseOf({ status, type, headers, body }: Answer): UpstreamResponse {
  const text = type.includes('json') || typeof body !== 'string' ? JSON.stringify(body) : body;
  const all: Record<string, string> = { 'content-type': type, ...headers };
  return {
    status,
    header: (name) => all[name],
    // eslint-disable-next-line @typescript-eslint/require-await -- an answer in one piece
    body: (async function* () {
      yield Buffer.from(text, 'utf8');
    })(),
    discard: () => undefined,
  };
}

/** A request in the form of evidence, for a comparison of all that was sent. */
export function shown({ method, url, headers, body }: UpstreamRequest): RequestEvidence {
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(name);
    query[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  const { accept: _accept, 'accept-encoding': _encoding, 'content-type': type = '', ...others } = headers;
  return { method, path: url.pathname, query, headers: others, body: bodyOf(type, body) };
}

function bodyOf(type: string, body: string | undefined): unknown {
  if (body === undefined) return undefined;
  if (type === 'application/json') return withoutLayout(JSON.parse(body));
  if (type === 'application/x-www-form-urlencoded')
    return { form: Object.fromEntries(new URLSearchParams(body)) };
  return { xml: squeezed(body) };
}

/** A GraphQL document means the same however it is laid out. */
export function withoutLayout(body: unknown): unknown {
  if (body === null || typeof body !== 'object' || !('query' in body) || typeof body.query !== 'string')
    return body;
  return 'variables' in body ? { ...body, query: squeezed(body.query) } : body;
}

export const squeezed = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/ ?([{}(),:<>]) ?/g, '$1')
    .trim();
