import { performance as nodePerformance } from "node:perf_hooks";
import type { CompiledQuery, Logger } from "kysely";
import type { DatabaseRead } from "../database.ts";
import { isBusy } from "./busy-patience.ts";
import type { ImmediateRead } from "./immediate-read.ts";
import { KnownRows } from "./known-rows.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";

/** What reads need of their database. */
export interface TurnReadsOptions {
  readonly connection: Pick<
    SqliteConnection<unknown>,
    "prepare" | "prepareRead" | "isTransaction" | "hasRun" | "mayHaveChanged"
  >;
  /** Whether another statement or a transaction has the connection. */
  readonly isTaken: () => boolean;
  /** Throws if statements are not allowed now. */
  readonly assertUsable: () => void;
  readonly log: Logger;
  /** Replaces the errors of statements. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * How long statements count as allowed, in milliseconds: to look at the file each time would take as long
 * as a read.
 */
const LOOK_EVERY_MS = 100;
/** The most reads at once: other events are not delayed by more. */
const AT_ONCE = 256;
/** How long a turn may rely on what it knows of other processes, in milliseconds. */
const TOLD_FOR_MS = 1;

/**
 * Runs the reads of one turn of the event loop together at its end, in one transaction: to lock and
 * unlock the file takes longer than most reads. All of them have begun by then, so each sees what was
 * stored before it.
 *
 * What was read before is answered at once, as long as nothing stored has changed. Whether another
 * process has changed something is asked once for all reads of a turn that follow within a millisecond:
 * what it changes in between counts from the next question on.
 */
export class TurnReads {
  readonly #options: TurnReadsOptions;
  readonly #prepared = new WeakMap<CompiledQuery, ImmediateRead>();
  readonly #known = new KnownRows();
  #waiting: DatabaseRead[] = [];
  /** When statements were allowed. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The turn in which other processes had changed nothing, and when that was. */
  #askedIn = -1;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** What was answered at once in the turn. */
  #answered = 0;

  constructor(options: TurnReadsOptions) {
    this.#options = options;
  }

  /**
   * Answers what is known, and reads the rest at the end of the turn; nothing if another statement has
   * the connection by then.
   */
  read(read: DatabaseRead): void {
    if (read.isFirst && this.#isKnownCurrent()) {
      const rows = this.#known.find(read.query, read.parameters);
      if (rows !== undefined && ++this.#answered <= AT_ONCE) return read.resolve(rows);
    }
    this.#waiting.push(read);
    if (this.#waiting.length === 1) setImmediate(() => this.#runTurn());
  }

  #runTurn(): void {
    const reads = this.#waiting;
    this.#waiting = reads.splice(AT_ONCE);
    if (this.#waiting.length > 0) setImmediate(() => this.#runTurn());
    // A transaction would show what it has not stored yet.
    if (this.#options.isTaken()) {
      for (const { resolve } of reads) resolve(undefined);
    } else if (reads.length === 1) this.#answer(reads);
    else this.#inTransaction(() => this.#answer(reads));
  }

  /** Whether what is known is what is stored. */
  #isKnownCurrent(): boolean {
    const { connection, isTaken } = this.#options;
    // In a transaction SQLite does not say what others have changed since it began.
    if (isTaken()) return false;
    const turn = nodePerformance.nodeTiming.uvMetricsInfo?.loopCount;
    const now = performance.now();
    const isTold = turn === this.#askedIn && now - this.#askedAt < TOLD_FOR_MS;
    if (isTold && !connection.hasRun) return true;
    if (turn !== this.#askedIn) this.#answered = 0;
    try {
      this.#assertUsable(now);
      if (connection.mayHaveChanged()) this.#known.clear();
      // Not known to all versions of Node.js: it is asked for each read then.
      this.#askedIn = turn ?? -1;
      this.#askedAt = now;
      return true;
    } catch {
      // The read is refused with the reason, or waits for another program's lock.
      this.#known.clear();
      return false;
    }
  }

  /** Without the transaction each read would be one of its own. */
  #inTransaction(work: () => void): void {
    const { connection } = this.#options;
    try {
      connection.prepare("begin").run([]);
    } catch {
      return work();
    }
    try {
      work();
    } finally {
      // Some errors of a statement have ended it.
      if (connection.isTransaction) connection.prepare("rollback").run([]);
    }
  }

  #answer(reads: readonly DatabaseRead[]): void {
    for (const read of reads) this.#answerOne(read);
  }

  #answerOne({ query, parameters, isFirst, resolve, reject }: DatabaseRead): void {
    const { log, explain } = this.#options;
    const begin = performance.now();
    try {
      this.#assertUsable(begin);
      const rows = this.#of(query).rows(parameters, isFirst);
      if (isFirst) this.#known.keep(query, parameters, rows);
      void log({ level: "query", query, queryDurationMillis: performance.now() - begin });
      resolve(rows);
    } catch (error) {
      // By itself it waits for another program's lock.
      if (isBusy(error)) return resolve(undefined);
      void log({ level: "error", error, query, queryDurationMillis: performance.now() - begin });
      reject(explain(error));
    }
  }

  /** Throws if statements are not allowed now. */
  #assertUsable(now = performance.now()): void {
    if (now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#options.assertUsable();
    this.#lookedAt = now;
  }

  #of(query: CompiledQuery): ImmediateRead {
    let read = this.#prepared.get(query);
    if (read === undefined) {
      read = this.#options.connection.prepareRead(query.sql);
      this.#prepared.set(query, read);
    }
    return read;
  }
}
