import { makeBearer } from '../../core/server/bearer';
import { knock, type Seen } from './knock';
import type { CheckName, SurfaceReport } from './verifyReport';

/** A bearer that must not open a surface. */
export interface StrangeBearer {
  /** Whose it is. */
  readonly consumer: string;
  readonly token: string;
  /** Such as "at web-app-example", to say which of its bearers. */
  readonly where: string;
}

const SILENT = 404;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** Nobody without a bearer, and nobody with one that was never given out, is let in. */
export async function verifyRefusals(
  endpoint: string,
  report: SurfaceReport,
  signal: AbortSignal,
): Promise<void> {
  const nobody = await knock(endpoint, 'POST', undefined, signal);
  if (judged(nobody, 'no_bearer_refused', null, [UNAUTHORIZED], 'bearer_not_required', report)) {
    if (/^bearer\b/i.test(nobody.challenge ?? '')) {
      report.passed(
        'no_bearer_refused',
        null,
        'Without a bearer the endpoint answers 401 and asks for one in WWW-Authenticate.',
      );
    } else {
      report.failed(
        'no_bearer_refused',
        null,
        'challenge_missing',
        'The endpoint answers 401 without a WWW-Authenticate header that asks for a bearer; a proxy may drop it.',
      );
    }
  }
  const stranger = await knock(endpoint, 'POST', makeBearer().token, signal);
  if (judged(stranger, 'wrong_bearer_refused', null, [UNAUTHORIZED], 'wrong_bearer_accepted', report)) {
    report.passed('wrong_bearer_refused', null, 'A bearer that was never given out is answered 401.');
  }
}

/** Bearers of other consumers and of other surfaces open nothing here. */
export async function verifyForeignBearers(
  endpoint: string,
  strangers: readonly StrangeBearer[],
  report: SurfaceReport,
  signal: AbortSignal,
): Promise<void> {
  const check = 'foreign_bearer_refused';
  if (strangers.length === 0) {
    report.skipped(
      check,
      null,
      'no_other_bearer',
      'The operator file refers to no bearer that this surface would have to refuse.',
    );
  }
  for (const { consumer, token, where } of strangers) {
    const seen = await knock(endpoint, 'POST', token, signal);
    const refused = [UNAUTHORIZED, FORBIDDEN];
    if (!judged(seen, check, consumer, refused, 'foreign_bearer_accepted', report)) continue;
    report.passed(check, consumer, `The bearer of ${consumer}${where} is answered ${String(seen.status)}.`);
  }
}

/** A bearer that has run out opens nothing. */
export async function verifyExpired(
  endpoint: string,
  consumer: string,
  token: string,
  report: SurfaceReport,
  signal: AbortSignal,
): Promise<void> {
  const check = 'expired_bearer_refused';
  const seen = await knock(endpoint, 'POST', token, signal);
  if (judged(seen, check, consumer, [UNAUTHORIZED], 'expired_bearer_accepted', report)) {
    report.passed(check, consumer, `The bearer of ${consumer} has expired and is answered 401.`);
  }
}

/** A surface that is not enabled answers as if it had never been: nobody is even asked for a bearer. */
export async function verifySilent(
  endpoint: string,
  report: SurfaceReport,
  signal: AbortSignal,
): Promise<void> {
  for (const method of ['GET', 'POST'] as const) {
    const check = method === 'GET' ? 'silent_get' : 'silent_post';
    const { status, cause } = await knock(endpoint, method, undefined, signal);
    if (status === SILENT) {
      report.passed(check, null, `The disabled surface answers 404 to ${method}.`);
    } else if (status === undefined) {
      // An n8n that does not answer proves nothing about the surface.
      report.failed(check, null, 'endpoint_unreachable', `Nobody answers at the endpoint: ${cause}.`);
    } else {
      report.failed(
        check,
        null,
        'still_served',
        `The surface is disabled but its endpoint answers ${String(status)} to ${method}; run mcp-curated apply.`,
      );
    }
  }
}

/** Whether the answer is one of the refusals that are wanted; reports what it is otherwise. */
function judged(
  { status, cause }: Seen,
  check: CheckName,
  consumer: string | null,
  wanted: readonly number[],
  accepted: string,
  report: SurfaceReport,
): boolean {
  if (status === undefined) {
    report.failed(check, consumer, 'endpoint_unreachable', `Nobody answers at the endpoint: ${cause}.`);
    return false;
  }
  if (wanted.includes(status)) return true;
  const shown = String(status);
  if (status < 300) {
    report.failed(
      check,
      consumer,
      accepted,
      `The endpoint lets in what it must refuse: it answers ${shown}.`,
    );
  } else if (status === SILENT) {
    const message = 'The surface is enabled but its endpoint answers 404; run mcp-curated apply.';
    report.failed(check, consumer, 'not_served', message);
  } else {
    const message = `The endpoint answers ${shown} instead of ${wanted.join(' or ')}; n8n's log or a proxy says why.`;
    report.failed(check, consumer, 'refusal_unexpected', message);
  }
  return false;
}
