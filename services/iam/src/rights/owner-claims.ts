import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { databaseTime, type ServiceDatabase, sql } from "svc-access/database";
import { type ProcessLogger, ServiceError } from "svc-access/runtime";
import type { OwnerClaimTables } from "../ground/store/owner-claim-tables.ts";

/** Much longer than an operation may take: another one takes the claim over only if the process has ended. */
const LEASE_MS = 60_000;
const ATTEMPTS = 40;
const PAUSE_MS = 50;

/** Groups that an operation deletes, or grants something to. */
export interface ClaimedGroups {
  /** They are granted nothing meanwhile. */
  readonly deleted?: readonly string[];
  /** They are not deleted meanwhile; others may grant them something, too. */
  readonly granted?: readonly string[];
}

/** What one operation has claimed. */
export interface Claims {
  /** Claims more; false if another operation has one of them. */
  add(objects: readonly string[]): Promise<boolean>;
}

/**
 * Makes operations that take owners from zones wait for each other, across replicas, where they concern the same
 * objects. A claim is a row, and not a transaction: the work under it writes to another store.
 */
export class OwnerClaims {
  readonly #database: ServiceDatabase<OwnerClaimTables>;
  readonly #log: Pick<ProcessLogger, "warn">;
  readonly #now: (() => number) | undefined;

  /** @param now instead of the clock of the database; for tests */
  constructor(
    database: ServiceDatabase<OwnerClaimTables>,
    log: Pick<ProcessLogger, "warn">,
    now?: () => number,
  ) {
    this.#database = database;
    this.#log = log;
    this.#now = now;
  }

  /**
   * Does work under claims. It begins again, without claims, if it returns `busy`.
   *
   * @param objects what is claimed first, as `type:id`
   * @param isSettled whether the work is certainly over after an error; otherwise its claims stay until they expire
   * @param groups as `type:id`; those that are deleted are among the objects, too
   * @throws ServiceError UNAVAILABLE if others have the claims for too long
   */
  async during<Result>(
    objects: readonly string[],
    signal: AbortSignal,
    work: (claims: Claims) => Promise<Result | "busy">,
    isSettled: (error: unknown) => boolean,
    { deleted = [], granted = [] }: ClaimedGroups = {},
  ): Promise<Result> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const holder = randomUUID();
      const add = (more: readonly string[]) => this.#claim(holder, more);
      const first = [
        ...objects,
        ...deleted.map(deletionOf),
        ...granted.map((group) => `${grantsTo(group)}${holder}`),
      ];
      let keep = false;
      try {
        const isFree =
          (await add(first)) &&
          // One of two that meet sees the other: each looks once its own claim is stored.
          !(await this.#areDeleted(granted)) &&
          (await this.#untilGranted(deleted, signal));
        const result = isFree ? await work({ add }) : "busy";
        if (result !== "busy") return result;
      } catch (error) {
        keep = !isSettled(error);
        throw error;
      } finally {
        if (!keep) await this.#release(holder).catch((error) => this.#left(error));
      }
      // Those that met would otherwise meet again.
      await sleep(Math.random() * PAUSE_MS, undefined, { signal }).catch(() =>
        signal.throwIfAborted(),
      );
    }
    throw busy();
  }

  async #areDeleted(groups: readonly string[]): Promise<boolean> {
    if (groups.length === 0) return false;
    const found = await this.#live()
      .where("object", "in", groups.map(deletionOf))
      .executeTakeFirst();
    return found !== undefined;
  }

  /**
   * Waits for the grants under way. The claims stay, so that no new one begins: else others could keep a group from
   * being deleted.
   */
  async #untilGranted(groups: readonly string[], signal: AbortSignal): Promise<boolean> {
    for (const group of groups) {
      const prefix = grantsTo(group);
      for (let attempt = 1; await this.#hasPrefix(prefix); attempt++) {
        if (attempt === ATTEMPTS) throw busy();
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    }
    return true;
  }

  async #hasPrefix(prefix: string): Promise<boolean> {
    const begin = sql<string>`substr(object, 1, ${sql.lit([...prefix].length)})`;
    const found = await this.#live().where(begin, "=", prefix).executeTakeFirst();
    return found !== undefined;
  }

  /** The claims that have not expired. */
  #live() {
    const { kind, kysely } = this.#database;
    return kysely
      .selectFrom("iam_owner_claims")
      .select("object")
      .where("expire_time", ">=", databaseTime(kind, this.#now));
  }

  async #claim(holder: string, objects: readonly string[]): Promise<boolean> {
    const wanted = [...new Set(objects)].sort();
    if (wanted.length === 0) return true;
    const { kind } = this.#database;
    const now = () => databaseTime(kind, this.#now);
    return this.#database.inTransaction(async (transaction) => {
      for (const object of wanted) {
        const expires = sql<number>`${now()} + ${sql.lit(LEASE_MS)}`;
        const { numInsertedOrUpdatedRows = 0n } = await transaction
          .insertInto("iam_owner_claims")
          .values({ object, holder, expire_time: expires })
          .onConflict((conflict) =>
            conflict
              .column("object")
              .doUpdateSet({ holder, expire_time: expires })
              .where((row) =>
                row.or([
                  row("iam_owner_claims.holder", "=", holder),
                  row("iam_owner_claims.expire_time", "<", now()),
                ]),
              ),
          )
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n) return false;
      }
      return true;
    });
  }

  /** The operation is over, and its outcome stands: the claims expire. */
  #left(error: unknown): void {
    this.#log.warn(
      { error, seconds: LEASE_MS / 1000 },
      "claims of owners could not be released: other changes of these owners wait until they expire",
    );
  }

  async #release(holder: string): Promise<void> {
    await this.#database.kysely
      .deleteFrom("iam_owner_claims")
      .where((row) =>
        row.or([
          row("holder", "=", holder),
          // Those that nobody has ended, and nobody has taken over.
          row("expire_time", "<", databaseTime(this.#database.kind, this.#now)),
        ]),
      )
      .execute();
  }
}

/** Objects have no spaces. */
function deletionOf(group: string): string {
  return `${group} deleted`;
}

/** What the claims begin with that grants to a group have, each of its own. */
function grantsTo(group: string): string {
  return `${group} granted `;
}

function busy(): ServiceError {
  const message = "another change of the same owners or groups is under way: repeat the call";
  return new ServiceError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}
