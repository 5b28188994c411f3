import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { auditEvent, auditLine, isRecorded, type AuditEvent, type Recording } from '../../core/policy/audit';
import { AuditOutlet } from '../../core/policy/auditOutlet';
import { PolicyError } from '../../core/policy/errors';
import { utf8Bytes } from '../../core/policy/limits';
import type { OutboundAnswer } from '../../core/server/outbound';
import type { Served } from '../../core/server/serve';

/** One per surface of this process. */
const outlets = new Map<string, AuditOutlet>();

export function outletOf(surfaceKey: string): AuditOutlet {
  const outlet = outlets.get(surfaceKey) ?? new AuditOutlet();
  outlets.set(surfaceKey, outlet);
  return outlet;
}

/** The key under which a trigger's limits and losses are counted. Reports from its executions come under the same one. */
export function surfaceKeyOf(context: { getWorkflow(): { id?: string }; getNode(): { id: string } }): string {
  return `${context.getWorkflow().id ?? ''}/${context.getNode().id}`;
}

/**
 * Writes the event of a request to the log and, where it is recorded, hands it to n8n as an execution. The answer is out
 * by then, so that neither can make a call slow or fail it.
 */
export function deliver(
  context: IWebhookFunctions,
  { audit, isCall, cause }: Served,
  recording: Recording,
): IWebhookResponseData {
  if (!audit) return { noWebhookResponse: true };
  const outlet = outletOf(surfaceKeyOf(context));
  try {
    context.logger.info(auditLine(audit));
    if (cause !== undefined) context.logger.warn(`mcp_cause ${audit.correlation_id} ${kindOf(cause)}`);
  } catch {
    // What the log did not take is told by the event after it.
    outlet.lost(1 + audit.undelivered_before);
  }
  const isHanded = isRecorded(audit, isCall, recording) && outlet.handOver(audit.correlation_id, Date.now());
  return { noWebhookResponse: true, ...(isHanded ? { workflowData: [[{ json: { ...audit } }]] } : {}) };
}

/** The event of a request that failed before anything was known of it. */
export function deliverFailure(
  context: IWebhookFunctions,
  answer: OutboundAnswer,
  cause: unknown,
): IWebhookResponseData {
  const audit = auditEvent({
    arrived: Date.now(),
    correlation_id: randomUUID(),
    provider_application_id: 'unconfigured',
    consumer_application_id: null,
    tool: undefined,
    credential_subject: null,
    code: 'internal_error',
    duration_ms: 0,
    request_bytes: 0,
    response_bytes: utf8Bytes(answer.body),
    undelivered_before: outletOf(surfaceKeyOf(context)).takeUndelivered(Date.now()),
  });
  return deliver(context, { answer, audit, isCall: false, cause }, 'none');
}

/** The execution that an event has started reports that it has begun. */
export function reportArrival(surfaceKey: string, { correlation_id: id }: Partial<AuditEvent>): void {
  if (typeof id === 'string') outletOf(surfaceKey).arrived(id);
}

/** What a cause may show in a log: its own sentence if it is ours, else only its kind. Foreign texts hold addresses. */
function kindOf(cause: unknown): string {
  if (cause instanceof PolicyError) return `${cause.code}: ${cause.message}`;
  if (!(cause instanceof Error)) return 'unknown';
  const { code } = cause as NodeJS.ErrnoException;
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : cause.name;
}
