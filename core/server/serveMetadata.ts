import { randomUUID } from 'node:crypto';
import { auditEvent } from '../policy/audit';
import { PolicyError, toPolicyError, type ErrorCode } from '../policy/errors';
import { utf8Bytes } from '../policy/limits';
import type { InboundRequest } from './inbound';
import type { Issuer } from './issuer';
import { metadataAnswer, noMetadata } from './metadata';
import { checkHosting, corsHeaders, type HostingRules } from './origin';
import { refusalAnswer, type OutboundAnswer } from './outbound';
import type { Endpoint, Served } from './serve';
import type { ServedSurface } from './tools';

/** What is known of the endpoint whose metadata is asked for. */
export interface DescribedEndpoint
  extends HostingRules, Pick<Endpoint, 'applicationId' | 'takeUndelivered' | 'now'> {
  /** The address of the endpoint as clients know it; `undefined` when nobody has said it. */
  resource(): string | undefined;
  /** `undefined` where bearers are handed out by the operator. */
  issuer(): Promise<Issuer | undefined>;
  surface(): ServedSurface;
}

/** Answers a request for the metadata of an endpoint (RFC 9728). Needs no bearer. Never throws. */
export async function serveMetadata(request: InboundRequest, endpoint: DescribedEndpoint): Promise<Served> {
  const arrived = endpoint.now();
  const correlationId = randomUUID();
  const fixed = { ...corsHeaders(request, endpoint.allowedOrigins), 'x-correlation-id': correlationId };
  const finish = (answer: OutboundAnswer, code: 'ok' | ErrorCode, cause: unknown): Served => ({
    answer: { ...answer, headers: { ...answer.headers, ...fixed } },
    cause,
    isCall: false,
    audit:
      code === 'ok'
        ? undefined
        : auditEvent({
            arrived,
            correlation_id: correlationId,
            provider_application_id: endpoint.applicationId,
            consumer_application_id: null,
            tool: undefined,
            credential_subject: null,
            code,
            duration_ms: endpoint.now() - arrived,
            request_bytes: request.bodyBytes,
            response_bytes: utf8Bytes(answer.body),
            undelivered_before: endpoint.takeUndelivered(),
          }),
  });
  try {
    checkHosting(request, endpoint);
    const issuer = await endpoint.issuer();
    if (!issuer) throw noMetadata();
    const resource = endpoint.resource();
    if (resource === undefined) {
      throw new PolicyError('surface_unconfigured', 'Public Address is not an address.');
    }
    return finish(metadataAnswer(resource, issuer, endpoint.surface()), 'ok', undefined);
  } catch (thrown) {
    const error = toPolicyError(thrown, 'internal_error', 'The request failed inside the server.');
    const shown =
      error.code === 'surface_unconfigured'
        ? new PolicyError('surface_unconfigured', 'This surface is not set up correctly.')
        : error;
    return finish(refusalAnswer(shown, null), error.code, shown === error ? error.cause : error);
  }
}
