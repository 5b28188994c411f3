import { ruleOf, type ErrorCode } from './errors';

/**
 * The audit event: exactly these fields, no arguments and no bodies (document 003, "Tool and Adapter Safety
 * Contract"). One is made per `tools/call` and per refusal.
 */
export interface AuditEvent {
  /** RFC 3339, UTC, milliseconds: when the request arrived. */
  readonly time: string;
  readonly correlation_id: string;
  readonly provider_application_id: string;
  /** `null` when the caller was not identified. */
  readonly consumer_application_id: string | null;
  /** `null` when the refusal came before a tool was named, or when the name is none a tool could have. */
  readonly tool: string | null;
  /** Whose upstream identity is used (`credential.owner` of the contract); `null` where none is declared. */
  readonly credential_subject: string | null;
  readonly status: 'ok' | 'refused' | 'error';
  /** `ok`, or one of the stable codes of `core/policy/errors`. */
  readonly code: 'ok' | ErrorCode;
  readonly duration_ms: number;
  readonly request_bytes: number;
  readonly response_bytes: number;
  /** Events of this surface that this process has lost since the one before; 0 as long as all is well. */
  readonly undelivered_before: number;
}

export type AuditFacts = Omit<AuditEvent, 'status' | 'time' | 'tool'> & { arrived: number; tool: unknown };

const NAMEABLE = /^[A-Za-z0-9_.-]{1,64}$/;

/** Builds the event. A tool name that could not be one is caller data and is left out of the record. */
export function auditEvent({ arrived, tool, ...facts }: AuditFacts): AuditEvent {
  return {
    time: new Date(arrived).toISOString(),
    correlation_id: facts.correlation_id,
    provider_application_id: facts.provider_application_id,
    consumer_application_id: facts.consumer_application_id,
    tool: typeof tool === 'string' && NAMEABLE.test(tool) ? tool : null,
    credential_subject: facts.credential_subject,
    status: facts.code === 'ok' ? 'ok' : ruleOf(facts.code).outcome,
    code: facts.code,
    duration_ms: Math.round(facts.duration_ms),
    request_bytes: facts.request_bytes,
    response_bytes: facts.response_bytes,
    undelivered_before: facts.undelivered_before,
  };
}

/** The event as one log line that a shipper can find by its first word. */
export function auditLine(event: AuditEvent): string {
  return `mcp_audit ${JSON.stringify(event)}`;
}

/** Which events are also saved as an n8n execution. */
export type Recording = 'all' | 'refusals' | 'none';

/**
 * Whether `event` is saved. Only calls of identified consumers are: a request that named no consumer must not start
 * an execution, otherwise anybody who can reach the port could fill the database.
 *
 * @param isCall whether the request was a `tools/call`
 */
export function isRecorded(event: AuditEvent, isCall: boolean, recording: Recording): boolean {
  if (!isCall || event.consumer_application_id === null || recording === 'none') return false;
  return recording === 'all' || event.status !== 'ok';
}
