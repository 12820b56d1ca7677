import type { Logger } from "../../../common/logger.ts";
import { within } from "../../../common/within.ts";
import { NoAnswerError } from "../../../database/database-error.ts";
import { ServiceError } from "../../error/service-error.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import { briefError } from "../../logging/redaction/brief-error.ts";
import type { NewAuditRow } from "./audit-table.ts";
import { Backlog, MAX_BATCH } from "./save-events.ts";

/** The options of a queue. */
export interface EventQueueOptions {
  /** Stores from 1 to `MAX_BATCH` rows, all or nothing. */
  readonly save: (rows: readonly NewAuditRow[]) => Promise<void>;
  /** Explains an error of `save`, for the log. */
  readonly explain: (error: unknown) => Error;
  readonly logger: Logger;
  readonly events: RuntimeEvents;
  /** The most outcomes that wait for a retry; 10,000 if absent. */
  readonly maxBacklog?: number;
  /** After how many milliseconds an attempt counts as failed; 2,000 if absent. */
  readonly attemptTimeoutMs?: number;
  /** After how many milliseconds another reason of the same outage is logged; 10,000 if absent. */
  readonly logPauseMs?: number;
  /** The pauses between attempts, in milliseconds; 100 to 10,000 if absent. */
  readonly backoffMs?: { readonly first: number; readonly most: number };
}

/** A row that somebody waits for. */
interface Waiting {
  readonly row: NewAuditRow;
  readonly settle: (error: Error | undefined) => void;
}

const MAX_BACKLOG = 10_000;
/** The most rows that wait for the batch that is being stored. */
const MAX_WAITING = 10_000;
const ATTEMPT_TIMEOUT = 2000;
const LOG_PAUSE = 10_000;
/** When to retry a call that cannot be audited now. */
const RETRY_AFTER_SECONDS = 1;
const BACKOFF = { first: 100, most: 10_000 };

/**
 * Stores events in their order, one batch at a time: events that arrive while a batch is stored
 * form the next one, so that many calls share one commit. Outcomes that cannot be stored wait and
 * are retried until that succeeds.
 */
export class EventQueue {
  readonly #options: EventQueueOptions;
  readonly #backlog: Backlog;
  readonly #timeout: number;
  readonly #logPause: number;
  readonly #backoff: { readonly first: number; readonly most: number };
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  /** Attempts that failed since the last that succeeded. */
  #failures = 0;
  /** The last reason in the log. */
  #logged = { reason: "", at: 0 };
  #retry: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(options: EventQueueOptions) {
    this.#options = options;
    this.#backlog = new Backlog(options.maxBacklog ?? MAX_BACKLOG);
    this.#timeout = options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT;
    this.#logPause = options.logPauseMs ?? LOG_PAUSE;
    this.#backoff = options.backoffMs ?? BACKOFF;
  }

  /** How many outcomes wait for a retry. */
  get delayed(): number {
    return this.#backlog.size;
  }

  /** Stores an intent. @throws ServiceError UNAVAILABLE if that fails */
  intent(row: NewAuditRow): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add(row, (error) => {
        if (error === undefined) return resolve();
        this.#options.events.audit("refused");
        const options = { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS };
        reject(new ServiceError("UNAVAILABLE", "the audit event cannot be stored", options));
      });
    });
  }

  /** Stores an event that must not wait. @throws ServiceError UNAVAILABLE if that fails */
  async required(row: NewAuditRow): Promise<void> {
    await this.intent(row);
    this.#options.events.audit("stored");
  }

  /** Stores a pending event again, with its new time; if that fails, the next attempt follows. */
  extend(row: NewAuditRow): Promise<void> {
    if (this.#failures > 0) return Promise.resolve();
    return new Promise((resolve) => this.#add(row, () => resolve()));
  }

  /** Stores an outcome. Ends when it is stored or waits for the next attempt; never rejects. */
  outcome(row: NewAuditRow): void | Promise<void> {
    // No caller waits for a database that is known to be down.
    if (this.#failures > 0) return this.#delay(row);
    return new Promise((resolve) => {
      this.#add(row, (error) => {
        if (error === undefined) this.#options.events.audit("stored");
        else this.#delay(row);
        resolve();
      });
    });
  }

  /** Stores the waiting events, as far as that is possible now. The others are logged. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#retry);
    while (this.#running !== undefined) await this.#running;
    while (this.#backlog.size > 0 && (await this.#storeBacklog())) {}
    const lost = this.#backlog.size;
    if (lost === 0) return;
    for (let count = 0; count < lost; count++) this.#options.events.audit("dropped");
    this.#options.logger.error({ lost }, "audit events could not be stored");
  }

  #add(row: NewAuditRow, settle: Waiting["settle"]): void {
    if (this.#waiting.length >= MAX_WAITING) {
      settle(new Error("too many audit events wait for the database"));
      return;
    }
    this.#waiting.push({ row, settle });
    if (this.#running === undefined) this.#occupy(this.#run());
  }

  /** One batch at a time: events that arrived meanwhile are next. */
  #occupy(work: Promise<unknown>): void {
    this.#running = work.then(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) this.#occupy(this.#run());
    });
  }

  async #run(): Promise<void> {
    // All calls of this turn of the event loop share the batch.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      const error = await this.#attempt(batch.map(({ row }) => row));
      // Events that wait after a failed batch do not wait for that many more failures.
      if (error !== undefined) batch.push(...this.#waiting.splice(0));
      for (const { settle } of batch) settle(error);
    }
    if (this.#failures === 0 && this.#backlog.size > 0) await this.#storeBacklog();
  }

  #delay(row: NewAuditRow): void {
    this.#options.events.audit("delayed");
    const dropped = this.#backlog.add(row);
    if (dropped !== undefined) this.#drop(dropped);
    this.#retryLater();
  }

  #drop({ id, type }: NewAuditRow): void {
    this.#options.events.audit("dropped");
    this.#options.logger.error({ id, type }, "too many audit events wait: one was dropped");
  }

  #retryLater(): void {
    if (this.#retry !== undefined || this.#isClosing) return;
    const { first, most } = this.#backoff;
    const pause = Math.min(most, first * 2 ** Math.min(this.#failures, 30));
    // Replicas that lost the same database do not return at the same time.
    this.#retry = setTimeout(() => this.#again(), pause * (0.5 + Math.random() / 2));
    this.#retry.unref();
  }

  #again(): void {
    this.#retry = undefined;
    if (this.#running !== undefined) return this.#retryLater();
    this.#occupy(this.#storeBacklog());
  }

  /** Stores a batch of events that wait for a retry; false if that fails. */
  async #storeBacklog(): Promise<boolean> {
    const rows = this.#backlog.first(MAX_BATCH);
    const error = rows.length === 0 ? undefined : await this.#attempt(rows);
    if (error === undefined) {
      this.#backlog.remove(rows);
      for (const _ of rows) this.#options.events.audit("stored");
    }
    if (this.#backlog.size > 0) this.#retryLater();
    return error === undefined;
  }

  async #attempt(rows: readonly NewAuditRow[]): Promise<Error | undefined> {
    const { save, explain, logger } = this.#options;
    try {
      await within(save(latest(rows)), this.#timeout, () => {
        throw new NoAnswerError(this.#timeout);
      });
      if (this.#failures > 0) logger.info({}, "audit events are stored again");
      this.#failures = 0;
      return undefined;
    } catch (error) {
      this.#failures++;
      const reason = explain(error);
      this.#log(reason);
      return reason;
    }
  }

  /** Each reason once, not for each call while the database is down; reasons that alternate, sometimes. */
  #log(reason: Error): void {
    const now = performance.now();
    if (this.#failures > 1) {
      if (reason.message === this.#logged.reason) return;
      if (now < this.#logged.at + this.#logPause) return;
    }
    this.#logged = { reason: reason.message, at: now };
    this.#options.logger.error({ error: briefError(reason) }, "audit events cannot be stored");
  }
}

/** One row for each event, the later one: a statement cannot write a row twice. */
function latest(rows: readonly NewAuditRow[]): readonly NewAuditRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return byId.size === rows.length ? rows : [...byId.values()];
}
