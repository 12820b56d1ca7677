import type { ServiceDatabase } from "svc-access/database";
import type { Job, MetricSample, ServiceMetric } from "svc-access/runtime";
import type { RemovalRow } from "../store/removal-tables.ts";
import type { IamTables } from "../store/tables.ts";
import { type RemovingEngine, removeRelationshipsOf } from "./relationship-removal.ts";
import type { RemovalKind, RemovalTransaction } from "./removal-kind.ts";
import { DUE_BATCH, type PendingRemovals, RemovalQueue } from "./removal-queue.ts";

/** What removals need. */
export interface RemovalsOptions {
  readonly database: ServiceDatabase<IamTables>;
  readonly engine: RemovingEngine;
  /** Milliseconds since the epoch, instead of the clock of the database; for tests. */
  readonly now?: () => number;
}

const NOTHING: PendingRemovals = { count: 0, oldestMs: 0 };

/**
 * Deletes records that the database and the authorization model both know. A record is marked as
 * deleted first, in one transaction with `add`: from then on nobody sees it. A job then removes its
 * relationships, in batches, and the record goes last. What is left to do is in the database, so any
 * process continues it after a restart.
 *
 * @example
 * ```ts
 * removals.register({
 *   name: "group",
 *   objectType: "group",
 *   deleteRecord: async (tx, id) => void (await tx.deleteFrom("iam_groups").where("id", "=", id).execute()),
 * });
 * await database.inTransaction(async (tx) => {
 *   await groups.markDeleted(tx, id);
 *   await removals.add(tx, "group", id);
 * });
 * ```
 */
export class Removals {
  readonly #engine: RemovingEngine;
  readonly #queue: RemovalQueue;
  readonly #kinds = new Map<string, RemovalKind>();
  #removed = 0;

  constructor({ database, engine, now }: RemovalsOptions) {
    this.#engine = engine;
    this.#queue = new RemovalQueue(database, now);
  }

  /**
   * Says how records of a kind are deleted; at the start of the service.
   *
   * @throws Error for a second kind of the same name
   */
  register(kind: RemovalKind): void {
    if (this.#kinds.has(kind.name)) throw new Error(`there are two kinds of removal ${kind.name}`);
    this.#kinds.set(kind.name, kind);
  }

  /**
   * Records that an object is to be removed, in the transaction that marks it as deleted.
   *
   * @param kind the name of one that is registered
   */
  async add(transaction: RemovalTransaction, kind: string, id: string): Promise<void> {
    this.#kindOf(kind);
    await this.#queue.add(transaction, kind, id);
  }

  /** Removes what is due, in one process at a time. */
  get job(): Job {
    return {
      name: "removals",
      every: "5s",
      deadline: "5m",
      exclusive: true,
      run: (signal) => this.run(signal),
    };
  }

  /** What is left to do, and what was done. */
  get metrics(): readonly ServiceMetric[] {
    return [
      {
        name: "iam_removals_pending",
        help: "Deleted records whose relationships are still being removed.",
        type: "gauge",
        read: () => this.#pending(({ count }) => count),
      },
      {
        name: "iam_removals_oldest_seconds",
        help: "How long ago the oldest of the pending removals began.",
        type: "gauge",
        read: () => this.#pending(({ oldestMs }) => oldestMs / 1000),
      },
      {
        name: "iam_removed_relationships_total",
        help: "Relationships of deleted records that this process has removed.",
        type: "counter",
        read: () => [{ value: this.#removed }],
      },
    ];
  }

  /**
   * Continues all removals that are due. One that fails does not hold up the others, and is tried again
   * later.
   *
   * @throws the first error, after all were tried
   */
  async run(signal: AbortSignal): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (;;) {
      const due = await this.#queue.due();
      for (const row of due) {
        signal.throwIfAborted();
        try {
          await this.#continue(row, signal);
        } catch (error) {
          // Cut off, and not failed.
          signal.throwIfAborted();
          failure ??= { error };
          await this.#queue.postpone(row);
        }
      }
      if (due.length < DUE_BATCH) break;
    }
    if (failure !== undefined) throw failure.error;
  }

  async #continue(row: RemovalRow, signal: AbortSignal): Promise<void> {
    const kind = this.#kindOf(row.kind);
    let hasRemoved = false;
    const object = { type: kind.objectType, id: row.id };
    await removeRelationshipsOf(this.#engine, object, signal, (count) => {
      this.#removed += count;
      hasRemoved = true;
    });
    if (hasRemoved || row.empty_time === null) await this.#queue.settle(row);
    else await this.#queue.finish(row, kind);
  }

  #kindOf(name: string): RemovalKind {
    const kind = this.#kinds.get(name);
    if (kind === undefined) throw new Error(`there is no kind of removal ${name}`);
    return kind;
  }

  async #pending(valueOf: (pending: PendingRemovals) => number): Promise<MetricSample[]> {
    const pending = await this.#queue.pending();
    return [...this.#kinds.keys()].map((kind) => ({
      labels: { kind },
      value: valueOf(pending.get(kind) ?? NOTHING),
    }));
  }
}
