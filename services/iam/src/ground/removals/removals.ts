import { databaseTime, type ServiceDatabase } from "svc-access/database";
import {
  type Job,
  openRemovals,
  type Removals as RemovalsOf,
  type RemovalsOptions,
  type ServiceMetric,
} from "svc-access/runtime";
import type { IamTables } from "../store/tables.ts";
import { moveFormerRemovals } from "./former-removals.ts";
import type { RemovalKind, RemovalTransaction } from "./removal-kind.ts";

/** The job that completes removals, by which a running replica is known. */
export const REMOVALS_JOB = { name: "removals", everyMs: 5000 };

/** Opens the removals of the service, and makes their table. */
export async function openIamRemovals(options: RemovalsOptions<IamTables>): Promise<Removals> {
  return new Removals(await openRemovals(options), options);
}

/** The removals of records with their relationships, after which their ids stay known. */
export class Removals {
  readonly #removals: RemovalsOf<IamTables>;
  readonly #database: ServiceDatabase<IamTables>;
  readonly #now: (() => number) | undefined;

  constructor(
    removals: RemovalsOf<IamTables>,
    { database, now }: Pick<RemovalsOptions<IamTables>, "database" | "now">,
  ) {
    this.#removals = removals;
    this.#database = database;
    this.#now = now;
  }

  /** Says how records of a kind are deleted; at the start of the service. */
  register(kind: RemovalKind): void {
    this.#removals.register({
      ...kind,
      deleteRecord: async (transaction, id) => {
        await kind.deleteRecord(transaction, id);
        const deleted_time = databaseTime(this.#database.kind, this.#now);
        await transaction
          .insertInto("iam_former_ids")
          .values({ type: kind.objectType, id, deleted_time })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      },
    });
  }

  /** Records that an object is to be removed, in the transaction that marks it as deleted. */
  add(transaction: RemovalTransaction, kind: string, id: string): Promise<void> {
    return this.#removals.add(transaction, kind, id);
  }

  /** Removes what is due, in one process at a time. */
  get job(): Job {
    return { ...this.#removals.job, run: (signal) => this.run(signal) };
  }

  /** What is left to do, and what was done. */
  get metrics(): readonly ServiceMetric[] {
    return this.#removals.metrics;
  }

  /**
   * Continues all removals that are due, also those that a former version has recorded. Where these
   * cannot be moved, the others still run.
   *
   * @throws the first error
   */
  async run(signal: AbortSignal): Promise<void> {
    const move = moveFormerRemovals(this.#database, this, signal);
    const [moved] = await Promise.allSettled([move]);
    const [ran] = await Promise.allSettled([this.#removals.run(signal)]);
    for (const result of [moved, ran]) if (result.status === "rejected") throw result.reason;
  }
}
