import type { NewAuditRow } from "../tables/audit-table.ts";
import { MAX_BATCH } from "../tables/save-events.ts";

/**
 * How often to check which events must be stored again, in milliseconds; within the grace of a
 * call.
 */
const LOOK_EVERY = 4000;
/** How long a pending event counts as under way after it was last stored. */
const LEASE = 30_000;

/** An event whose handler still runs. */
interface Lasting {
  readonly row: NewAuditRow;
  /** The time until which the stored event counts as under way. */
  expires: number;
}

/**
 * The events of calls that are over for their callers, and whose handlers still run. An event
 * is pending for as long as its process lives, so it is stored again before its time is up:
 * only those of a process that died become `unknown`.
 */
export class LastingHandlers {
  readonly #extend: (row: NewAuditRow) => Promise<void>;
  /** By the id of the event. */
  readonly #rows = new Map<string, Lasting>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #whenNone: (() => void)[] = [];

  /** @param extend stores a pending event, or fails silently: it is retried */
  constructor(extend: (row: NewAuditRow) => Promise<void>) {
    this.#extend = extend;
  }

  /** @param isStored whether the event was stored before, as it is of a write */
  add(row: NewAuditRow, isStored: boolean): void {
    this.#rows.set(row.id, { row, expires: isStored ? row.expires : 0 });
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY).unref();
  }

  /** The handler has ended. */
  remove(id: string): void {
    if (!this.#rows.delete(id) || this.#rows.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const notify of this.#whenNone.splice(0)) notify();
  }

  /** Resolves once none is left. */
  none(): Promise<void> {
    if (this.#rows.size === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#whenNone.push(resolve));
  }

  /** Stops waiting for the remaining handlers: their outcome stays unknown. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    await this.#store([...this.#rows.values()], Date.now());
  }

  #look(): void {
    if (this.#looking !== undefined) return;
    const now = Date.now();
    const due = [...this.#rows.values()].filter(({ expires }) => expires - now < 2 * LOOK_EVERY);
    if (due.length === 0) return;
    this.#looking = this.#store(due, now + LEASE).finally(() => {
      this.#looking = undefined;
    });
  }

  /** In batches, so that the intents of calls find room between them. */
  async #store(lasting: readonly Lasting[], expires: number): Promise<void> {
    for (let at = 0; at < lasting.length; at += MAX_BATCH) {
      const batch = lasting.slice(at, at + MAX_BATCH).filter((one) => this.#rows.has(one.row.id));
      for (const one of batch) one.expires = expires;
      await Promise.all(batch.map(({ row }) => this.#extend({ ...row, expires })));
    }
  }
}
