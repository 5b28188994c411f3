export type CheckName =
  | 'bearer'
  | 'handshake'
  | 'tool_names'
  | 'tool_pins'
  | 'read'
  | 'upstream_credential'
  | 'redaction'
  | 'no_bearer_refused'
  | 'wrong_bearer_refused'
  | 'foreign_bearer_refused'
  | 'expired_bearer_refused'
  | 'silent_get'
  | 'silent_post';

/** One thing that was looked at. Fields are those of JSON output, hence their spelling. */
export interface Check {
  readonly application_id: string;
  /** Whose bearer was shown; `null` where none was. */
  readonly consumer: string | null;
  readonly check: CheckName;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it did not pass; `null` for what passed. */
  readonly code: string | null;
  readonly message: string;
}

/** What was looked at on one surface, in the order in which it was. */
export class SurfaceReport {
  readonly checks: Check[] = [];
  readonly #applicationId: string;

  constructor(applicationId: string) {
    this.#applicationId = applicationId;
  }

  passed(check: CheckName, consumer: string | null, message: string): void {
    this.#add({ check, consumer, status: 'passed', code: null, message });
  }

  failed(check: CheckName, consumer: string | null, code: string, message: string): void {
    this.#add({ check, consumer, status: 'failed', code, message });
  }

  skipped(check: CheckName, consumer: string | null, code: string, message: string): void {
    this.#add({ check, consumer, status: 'skipped', code, message });
  }

  #add(check: Omit<Check, 'application_id'>): void {
    const { consumer, check: name, status, code, message } = check;
    this.checks.push({ application_id: this.#applicationId, consumer, check: name, status, code, message });
  }
}
