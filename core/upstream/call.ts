import type { PreparedOperation } from '../contract/definition';
import type { Operation } from '../contract/operation';
import { isWebRequest, type WebRequest } from '../contract/request';
import { isFitting, sessionOf } from '../contract/schema';
import { PolicyError } from '../policy/errors';
import type { UpstreamAccess } from './access';
import { readAnswer } from './answer';
import { boundPrometheusCall, normalizePrometheusBody } from './prometheus';
import type { UpstreamPorts } from './ports';
import { buildRequest, matchesPathTemplate } from './request';
import { runOperation, type CallContext, type CallResult } from './run';
import type { UpstreamRequest, UpstreamResponse, UpstreamTransport } from './transport';

/**
 * Runs one operation of an upstream that is asked over HTTP.
 *
 * @param given the caller's arguments, untrusted
 * @throws PolicyError with the code of what went wrong; nothing else escapes
 */
export async function callOperation(
  prepared: PreparedOperation,
  given: unknown,
  access: UpstreamAccess,
  context: CallContext,
  ports: UpstreamPorts,
): Promise<CallResult> {
  const { definition } = prepared;
  const { adapter, operation, limits } = definition;
  const request = webRequestOf(operation);
  refuseOtherAuthentication(adapter.authentication, access);
  return await runOperation(prepared, given, context, async (valid, signal) => {
    const now = ports.now() / 1_000;
    const args = boundPrometheusCall(definition, valid, now);
    const built = buildRequest(definition, request, args, context, access, now);
    const response = await signedIn({ ...built, signal }, prepared, access, ports);
    const body = await readAnswer(response, operation, access, limits.response_bytes);
    return adapter.type === 'prometheus_readonly' ? normalizePrometheusBody(body) : body;
  });
}

function webRequestOf({ request, name }: Operation): WebRequest {
  if (isWebRequest(request)) return request;
  throw new PolicyError(
    'surface_unconfigured',
    `${name} is not asked over HTTP by a contract's own path; render the workflow from its contract again.`,
  );
}

function refuseOtherAuthentication(
  authentication: PreparedOperation['definition']['adapter']['authentication'],
  access: UpstreamAccess,
): void {
  if (isFitting(authentication, access.kind)) return;
  throw new PolicyError(
    'credential_missing',
    `This application takes the authentication ${authentication.kind}; the operator has to choose it in the upstream credential.`,
  );
}

/** The request with a token of the session, made anew once when upstream no longer takes it. */
async function signedIn(
  request: UpstreamRequest,
  prepared: PreparedOperation,
  access: UpstreamAccess,
  { transport, sessions, now }: UpstreamPorts,
): Promise<UpstreamResponse> {
  const session = sessionOf(prepared.definition.adapter);
  if (!session || access.kind !== 'session') return await exchange(request, prepared, access, transport);
  const send = async () => {
    const { headers } = await sessions.header(session, access, request.signal, now());
    return await exchange(
      { ...request, headers: { ...request.headers, ...headers } },
      prepared,
      access,
      transport,
    );
  };
  const response = await send();
  if (response.status !== 401) return response;
  response.discard();
  sessions.drop(session, access);
  return await send();
}

/** One request, and the one redirect that a contract may allow: same origin, same path template, our own query. */
async function exchange(
  request: UpstreamRequest,
  { definition: { operation } }: PreparedOperation,
  access: UpstreamAccess,
  transport: UpstreamTransport,
): Promise<UpstreamResponse> {
  const response = await transport(request);
  const location = response.header('location');
  const redirected = response.status >= 300 && response.status < 400 && location !== undefined;
  if (!redirected || request.method !== 'GET' || operation.response.redirect !== 'same_path_template') {
    return response;
  }
  const target = URL.canParse(location, request.url.href) ? new URL(location, request.url.href) : undefined;
  const allowed =
    target?.origin === access.base.origin &&
    target.username === '' &&
    matchesPathTemplate(target.pathname, access, webRequestOf(operation).path);
  if (!target || !allowed) return response;
  response.discard();
  const next = new URL(request.url);
  next.pathname = target.pathname;
  return await transport({ ...request, url: next });
}
