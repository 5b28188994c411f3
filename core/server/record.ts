import { randomUUID } from 'node:crypto';
import { auditEvent } from '../policy/audit';
import type { ErrorCode } from '../policy/errors';
import { utf8Bytes } from '../policy/limits';
import type { InboundRequest } from './inbound';
import { corsHeaders } from './origin';
import type { OutboundAnswer } from './outbound';
import type { Endpoint, Served } from './serve';

/** What became known of a request on its way; `null` or `undefined` for what did not. */
export interface RequestFacts {
  readonly isCall: boolean;
  readonly consumer: string | null;
  readonly tool: unknown;
  readonly credentialSubject: string | null;
}

/** One request from its arrival on: the headers that every answer to it has, and its end with the audit event. */
export interface RequestRecord {
  readonly correlationId: string;
  readonly headers: Readonly<Record<string, string>>;
  finish(answer: OutboundAnswer, code: 'ok' | ErrorCode, cause: unknown, facts: RequestFacts): Served;
}

export function beginRecord(
  request: InboundRequest,
  endpoint: Pick<Endpoint, 'applicationId' | 'allowedOrigins' | 'takeUndelivered' | 'now'>,
): RequestRecord {
  const arrived = endpoint.now();
  const correlationId = randomUUID();
  const headers = { ...corsHeaders(request, endpoint.allowedOrigins), 'x-correlation-id': correlationId };
  return {
    correlationId,
    headers,
    finish: (answer, code, cause, { isCall, consumer, tool, credentialSubject }) => ({
      answer: { ...answer, headers: { ...answer.headers, ...headers } },
      cause,
      isCall,
      audit:
        code === 'ok' && !isCall
          ? undefined
          : auditEvent({
              arrived,
              correlation_id: correlationId,
              provider_application_id: endpoint.applicationId,
              consumer_application_id: consumer,
              tool,
              credential_subject: credentialSubject,
              code,
              duration_ms: endpoint.now() - arrived,
              request_bytes: request.bodyBytes,
              response_bytes: answer.streamedBytes ?? utf8Bytes(answer.body),
              undelivered_before: endpoint.takeUndelivered(),
            }),
    }),
  };
}
