import type { Logger } from "../../../common/logger.ts";
import type { Database } from "../../../database/database.ts";
import type { AuditRecord } from "../../call/call-context.ts";
import { NO_EVENTS, type RuntimeEvents } from "../../events/runtime-events.ts";
import { type AuditPrincipal, eventId } from "../event/audit-event.ts";
import { checkRecord, describeRecord } from "../event/audit-record.ts";
import type { EventSource } from "../event/describe-call.ts";
import type { AuditTables } from "../tables/audit-table.ts";
import { EventQueue } from "../tables/event-queue.ts";
import { EventWriter } from "../tables/save-events.ts";
import { sizedEvent } from "../trail/sized-event.ts";

/**
 * Records audit events outside of calls: in jobs, at the start, in commands. Made by
 * `openAuditRecorder`.
 */
export interface AuditRecorder {
  /**
   * Stores an event. Resolves when it is stored, or waits for the database.
   *
   * @throws TypeError for an event that is not valid; Error if the recorder is closed; ServiceError UNAVAILABLE for
   * one with `mustBeStored`
   */
  record(event: AuditRecord): Promise<void>;
  /** Stores the waiting events, as far as that is possible. The server of the recorder does this itself. */
  close(): Promise<void>;
}

/** What an open recorder needs. */
export interface AuditRecorderParts {
  readonly source: EventSource;
  /** With the tables of audit. */
  readonly database: Database<AuditTables>;
  readonly logger: Logger;
  /** Who does what it records. */
  readonly principal?: AuditPrincipal | undefined;
}

/** Stores the events of a process in its database, and logs them. */
export class StoredAuditRecorder implements AuditRecorder {
  readonly #parts: AuditRecorderParts;
  readonly #queue: EventQueue;
  #events: RuntimeEvents = NO_EVENTS;
  #closing: Promise<void> | undefined;

  constructor(parts: AuditRecorderParts) {
    const { database, logger } = parts;
    const writer = new EventWriter(database);
    this.#parts = parts;
    this.#queue = new EventQueue({
      save: (rows) => writer.save(rows),
      explain: (error) => database.explain(error),
      logger,
      events: { ...NO_EVENTS, audit: (outcome) => this.#events.audit(outcome) },
    });
  }

  /** The process that the events name. */
  get instance(): string {
    return this.#parts.source.instance;
  }

  /** Counts the events in the metrics of a server. */
  countIn(events: RuntimeEvents): void {
    this.#events = events;
  }

  async record(record: AuditRecord): Promise<void> {
    const details = checkRecord(record);
    if (this.#closing !== undefined) {
      throw new Error(`the audit event ${record.event} comes too late: the recorder is closed`);
    }
    const { source, logger, principal } = this.#parts;
    const time = Date.now();
    const described = { record, details, id: eventId(time), time, callEvent: undefined, principal };
    const { event, row } = sizedEvent(time, time, (maxText) =>
      describeRecord(source, undefined, described, maxText),
    );
    if (record.mustBeStored === true) await this.#queue.required(row);
    logger.info({ audit: event }, "audit");
    if (record.mustBeStored !== true) await this.#queue.outcome(row);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#queue.close());
  }
}
