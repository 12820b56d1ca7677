import type { AuditRecord, AuditRecorder, Job } from "svc-access/runtime";
import { AttemptBudget, type AttemptLimits } from "./attempt-budget.ts";

/** A failure that anybody can cause, or somebody who has the password of an account. */
export interface FailedAttempt {
  readonly event:
    | "login.failed"
    | "login.slowed"
    | "client.authentication_failed"
    | "second_factor.failed"
    | "refresh_token.reused"
    | "authorization_code.reused"
    | "device_code.reused"
    | "bootstrap.failed"
    | "password.reset_failed";
  /** Fixed words and the ids of clients, never what somebody sent: they have a limited number of values. */
  readonly details: Readonly<Record<string, string>>;
  /** The object that it is about, if it is known. */
  readonly resource?: string;
  /** The id of the user, whose name the event has instead of a `resource`. Its failures are counted apart from all others. */
  readonly accountId?: string;
  /** MEDIUM by default. */
  readonly riskLevel?: "MEDIUM" | "HIGH";
}

/** The call in which it happened. */
export interface FailedCall {
  readonly clientAddress: string;
  readonly audit: Pick<AuditRecorder, "record">;
}

/** What records failures. */
export interface FailedAttemptsOptions {
  /** For the events of a minute; without it repeats are not recorded. */
  readonly recorder?: Pick<AuditRecorder, "record"> | undefined;
  /** For the events of a minute that could not be recorded. */
  readonly log: { error(fields: object, message: string): void };
  readonly limits?: AttemptLimits;
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number;
}

const LIMITS: AttemptLimits = { perAddress: 10, all: 600 };
const WINDOW_MS = 60_000;
/** How many events of a minute are recorded at once: the audit stores so many in a commit, and keeps room for calls. */
const AT_ONCE = 128;

/**
 * Records failures that anybody can cause, so that a flood of them does not fill the store: the first ones of each
 * address in a minute are events, the others are counted in one event of the minute.
 */
export class FailedAttempts {
  readonly #options: FailedAttemptsOptions;
  readonly #now: () => number;
  /** Of the minute, by the name of the event. */
  #budgets = new Map<FailedAttempt["event"], AttemptBudget>();
  #begin: number;
  /** Ends when all minutes that are over are recorded; it never fails. */
  #recorded: Promise<void> = Promise.resolve();

  constructor(options: FailedAttemptsOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#begin = this.#now();
  }

  /** Records a failure of a call, or counts it. */
  async record(
    { clientAddress: address, audit }: FailedCall,
    { event, details, resource, accountId, riskLevel = "MEDIUM" }: FailedAttempt,
  ): Promise<void> {
    // Whoever comes first after a minute does not wait for its events.
    if (this.#isOver()) this.#endMinute();
    const user = accountId === undefined ? undefined : `user:${accountId}`;
    const record: AuditRecord = { event, riskLevel, details };
    if (!this.#budgetOf(event).take({ record, user, address })) return;
    const object = resource ?? user;
    return audit.record(object === undefined ? record : { ...record, resource: object });
  }

  /** Records what was counted, if the minute is over. */
  async closeMinute(): Promise<void> {
    if (this.#isOver()) this.#endMinute();
    await this.#recorded;
  }

  /** Records what was counted, when the service stops. */
  async close(): Promise<void> {
    this.#endMinute();
    await this.#recorded;
  }

  /** The job that records the last minute of a flood. */
  job(): Job {
    return { name: "failed_attempts", every: "1m", run: () => this.closeMinute() };
  }

  #isOver(): boolean {
    return this.#now() - this.#begin >= WINDOW_MS;
  }

  /** Begins a new minute, and to record what was counted in the last one. */
  #endMinute(): void {
    const repeated = [...this.#budgets.values()].flatMap((budget) => budget.repeated());
    this.#begin = this.#now();
    this.#budgets = new Map();
    this.#recorded = this.#recorded.then(() => this.#recordAll(repeated));
  }

  async #recordAll(records: readonly AuditRecord[]): Promise<void> {
    for (let from = 0; from < records.length; from += AT_ONCE) {
      const some = records.slice(from, from + AT_ONCE);
      await Promise.all(some.map((record) => this.#recordOne(record)));
    }
  }

  async #recordOne(record: AuditRecord): Promise<void> {
    const { recorder, log } = this.#options;
    try {
      await recorder?.record(record);
    } catch (error) {
      // Nobody waits for it who could get the error, and the other events must not be lost.
      log.error({ error, event: record.event }, "an audit event was not stored");
    }
  }

  #budgetOf(event: FailedAttempt["event"]): AttemptBudget {
    const known = this.#budgets.get(event);
    if (known !== undefined) return known;
    const budget = new AttemptBudget(this.#options.limits ?? LIMITS);
    this.#budgets.set(event, budget);
    return budget;
  }
}
