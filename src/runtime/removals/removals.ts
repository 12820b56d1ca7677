import type { ServiceDatabase } from "../../database/service/service-database.ts";
import { ServiceError } from "../error/service-error.ts";
import type { Job } from "../jobs/job.ts";
import type { ServiceMetric } from "../observers/metrics/service-metric.ts";
import { type RemovingEngine, removeRelationshipsOf } from "./relationship-removal.ts";
import type { RemovalKind } from "./removal-kind.ts";
import { RemovalMetrics } from "./removal-metrics.ts";
import { type AnyTransaction, RemovalQueue, type RemovalRow } from "./removal-queue.ts";
import type { RemovalTables } from "./removal-table.ts";

/**
 * What removals need.
 *
 * @typeParam Tables - the tables of the service, as types of Kysely
 */
export interface RemovalsOptions<Tables> {
  /** The database of the service, opened with `openServiceDatabase`. */
  readonly database: ServiceDatabase<Tables>;
  /** The engine whose relationships are removed; the one that the server gets. */
  readonly engine: RemovingEngine;
  /** Milliseconds since the epoch, instead of the clock of the database; for tests. */
  readonly now?: () => number;
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/**
 * Deletes records that the database and the authorization model both know, and gives up creations that were cut
 * off between the two. Made by `openRemovals`.
 *
 * A record is marked as deleted first, in one transaction with `add`: from then on nobody sees it. A job then removes
 * the relationships that name its object, in batches, and the record goes last. What is left to do is in the
 * database, so any process continues it after a restart.
 *
 * @typeParam Tables - the tables of the service, as types of Kysely
 */
export class Removals<Tables> {
  readonly #engine: RemovingEngine;
  readonly #queue: RemovalQueue;
  readonly #kinds = new Map<string, RemovalKind<Tables>>();
  readonly #metrics: RemovalMetrics;

  /** @internal */
  constructor({ database, engine, now }: RemovalsOptions<Tables>) {
    this.#engine = engine;
    this.#queue = new RemovalQueue(database.as<RemovalTables>(), now);
    this.#metrics = new RemovalMetrics(this.#queue);
  }

  /**
   * Says how records of a kind are deleted; before the server starts.
   *
   * @throws TypeError for a name that is not valid, or a second kind of the same name
   */
  register(kind: RemovalKind<Tables>): void {
    const { name } = kind;
    if (!NAME.test(name)) {
      throw new TypeError(
        `the name ${JSON.stringify(name)} of a kind of removal is not valid: use lower-case letters, digits and _, at most 63`,
      );
    }
    if (this.#kinds.has(name)) throw new TypeError(`there are two kinds of removal ${name}`);
    this.#kinds.set(name, kind);
    this.#metrics.expect(name);
  }

  /**
   * Records that an object is to be removed, in the transaction that marks its record as deleted.
   *
   * @param transaction - of the database that these removals have
   * @param kind - the name of one that is registered
   * @param id - of the object in the authorization model
   * @throws TypeError for a kind that is not registered
   */
  async add(transaction: AnyTransaction, kind: string, id: string): Promise<void> {
    await this.#queue.add(transaction, this.#kindOf(kind).name, id);
  }

  /**
   * Records that an object is being created, in the transaction that inserts its record, which nobody sees yet. Unless
   * `completeCreation` follows within 10 minutes, its relationships and its record are removed. For a record that is
   * complete use it never: that one would be removed, too.
   *
   * @param transaction - of the database that these removals have
   * @param kind - the name of one that is registered
   * @param id - of the object in the authorization model
   * @throws TypeError for a kind that is not registered
   */
  async beginCreation(transaction: AnyTransaction, kind: string, id: string): Promise<void> {
    await this.#queue.addCreation(transaction, this.#kindOf(kind).name, id);
  }

  /**
   * Ends a creation whose relationships are stored, in the transaction that makes the record visible.
   *
   * @param transaction - of the database that these removals have
   * @param kind - the name of one that is registered
   * @param id - of the object in the authorization model
   * @throws ServiceError UNAVAILABLE if it took too long, or the object was deleted meanwhile: the transaction must fail
   */
  async completeCreation(transaction: AnyTransaction, kind: string, id: string): Promise<void> {
    if (await this.#queue.takeCreation(transaction, this.#kindOf(kind).name, id)) return;
    throw new ServiceError(
      "UNAVAILABLE",
      "the creation took too long, and was given up: repeat it",
    );
  }

  /** Removes what is due, in one process at a time: for `jobs` of the server. */
  get job(): Job {
    return {
      name: "removals",
      every: "5s",
      deadline: "5m",
      exclusive: true,
      run: (signal) => this.run(signal),
    };
  }

  /** What is left to do, and what was done: for `metrics` of the server. */
  get metrics(): readonly ServiceMetric[] {
    return this.#metrics.all;
  }

  /**
   * Continues all removals that are due, as the job does. One that fails does not hold up the others, and is tried
   * again later; nor does one with very many relationships, whose turn ends after some ten thousand of them.
   *
   * @throws the first error, after all were tried; whatever the signal aborts with
   */
  async run(signal: AbortSignal): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (;;) {
      const due = await this.#queue.due([...this.#kinds.keys()]);
      if (due.length === 0) break;
      for (const row of due) {
        signal.throwIfAborted();
        try {
          await this.#continue(row, signal);
        } catch (error) {
          // Cut off, and not failed.
          if (signal.aborted) await this.#queue.putLast(row);
          signal.throwIfAborted();
          failure ??= { error };
          await this.#queue.postpone(row);
        }
      }
    }
    if (failure !== undefined) throw failure.error;
  }

  async #continue(row: RemovalRow, signal: AbortSignal): Promise<void> {
    if (row.creating !== 0 && !(await this.#queue.giveUp(row))) return;
    const { objectType, namedBy, deleteRecord } = this.#kindOf(row.kind);
    const object = { type: objectType, id: row.id, namedBy };
    const hasFound = await removeRelationshipsOf(this.#engine, object, signal, (count) =>
      this.#metrics.removed(count),
    );
    if (hasFound) await this.#queue.lookAgain(row);
    else if (row.empty_time === null) await this.#queue.settle(row);
    else await this.#queue.finish(row, deleteRecord);
  }

  #kindOf(name: string): RemovalKind<Tables> {
    const kind = this.#kinds.get(name);
    if (kind === undefined) throw new TypeError(`there is no kind of removal ${name}: register it`);
    return kind;
  }
}
