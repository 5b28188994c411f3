/** Events that wait at most for an execution of their own. More would fill the memory of a host that cannot keep up. */
const MOST_WAITING = 1_000;
/** So long the execution of an event may take to begin. */
const LATEST_MS = 60_000;

/**
 * Counts the audit events of one surface that did not arrive where they belong: in the log and, where they are recorded,
 * in an execution. n8n does not say whether it has started what it was handed, so each execution reports its beginning
 * (`arrived`). Where executions begin in another process (queue mode) nothing is ever reported, and nothing is counted
 * as missing.
 */
export class AuditOutlet {
  /** When each event was handed over, by correlation id, the oldest first. */
  readonly #waiting = new Map<string, number>();
  #undelivered = 0;
  #isReported = false;

  /** The count for the next event; it starts again at 0. */
  takeUndelivered(now: number): number {
    this.#giveUp(now);
    const count = this.#undelivered;
    this.#undelivered = 0;
    return count;
  }

  /** @param events how many were lost, those that the lost event itself told of included */
  lost(events: number): void {
    this.#undelivered += events;
  }

  /** Whether an event may start an execution; where it may not it counts as lost. */
  handOver(id: string, now: number): boolean {
    this.#giveUp(now);
    if (this.#waiting.size >= MOST_WAITING) {
      if (this.#isReported) {
        this.lost(1);
        return false;
      }
      const [oldest] = this.#waiting.keys();
      if (oldest !== undefined) this.#waiting.delete(oldest);
    }
    this.#waiting.set(id, now);
    return true;
  }

  /** The execution of an event has begun. One that comes late is counted as lost already, and stays so. */
  arrived(id: string): void {
    if (this.#waiting.delete(id)) this.#isReported = true;
  }

  #giveUp(now: number): void {
    for (const [id, since] of this.#waiting) {
      if (now - since < LATEST_MS) return;
      this.#waiting.delete(id);
      if (this.#isReported) this.#undelivered += 1;
    }
  }
}
