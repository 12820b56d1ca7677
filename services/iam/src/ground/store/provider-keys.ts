import { IS_SHARED, type Transaction } from "svc-access/database";
import type { ProviderDatabase } from "./provider-database.ts";
import type { KeyRow, KeyState, ProviderTables } from "./provider-tables.ts";

/** A new key, before it has a state. */
export interface NewKey {
  readonly kid: string;
  /** Sealed. */
  readonly material: string;
}

/** What became of a rotation. */
export type Rotation =
  | {
      readonly outcome: "rotated";
      /** The key that signs now. */
      readonly current: string;
      /** The one that signed before. */
      readonly retired: string | undefined;
    }
  | {
      /** The next key has not been published for long enough. */
      readonly outcome: "waits";
      /** When it will have been, in milliseconds since the epoch. */
      readonly until: number;
    };

/** The stored keys of the embedded provider of one purpose. */
export class ProviderKeys {
  readonly #database: ProviderDatabase;
  readonly #purpose: string;

  constructor(database: ProviderDatabase, purpose: string) {
    this.#database = database;
    this.#purpose = purpose;
  }

  /** All keys: the current one first, then the next one, then the retired ones. */
  async list(): Promise<KeyRow[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom("iam_keys")
        .selectAll()
        .where("purpose", "=", this.#purpose)
        .orderBy("create_time", "desc")
        .execute(),
    );
    const read = rows.map((row) => ({
      ...row,
      // PostgreSQL sends whole numbers of 64 bits as text.
      create_time: Number(row.create_time),
      current_time: row.current_time === null ? null : Number(row.current_time),
      retire_time: row.retire_time === null ? null : Number(row.retire_time),
    }));
    return read.sort((left, right) => ORDER.indexOf(left.state) - ORDER.indexOf(right.state));
  }

  /** Stores a key in a state that only one has. @returns false if another process was faster */
  async add(key: NewKey, state: KeyState, now: number): Promise<boolean> {
    const row = {
      ...key,
      purpose: this.#purpose,
      state,
      create_time: now,
      current_time: state === "current" ? now : null,
      retire_time: null,
    };
    const added = await this.#database.run((db) =>
      db
        .insertInto("iam_keys")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .returning("kid")
        .execute(),
    );
    return added.length > 0;
  }

  /**
   * Makes the next key the current one, in one transaction.
   *
   * @param publishedMs how long it must have been published
   * @param following becomes the next key
   */
  async rotate(following: NewKey, publishedMs: number, now: number): Promise<Rotation> {
    return this.#database.transaction(async (tx) => {
      const [current, next] = [await this.#lock(tx, "current"), await this.#lock(tx, "next")];
      // A process that rotates at the same time has made another one the next key.
      if (next === undefined) return { outcome: "waits", until: now + publishedMs };
      const until = Number(next.create_time) + publishedMs;
      if (until > now) return { outcome: "waits", until };
      if (current !== undefined) {
        await this.#set(tx, current.kid, { state: "retired", retire_time: now });
      }
      await this.#set(tx, next.kid, { state: "current", current_time: now });
      await tx
        .insertInto("iam_keys")
        .values({
          ...following,
          purpose: this.#purpose,
          state: "next",
          create_time: now,
          current_time: null,
          retire_time: null,
        })
        .execute();
      return { outcome: "rotated", current: next.kid, retired: current?.kid };
    });
  }

  /** Deletes the keys that were retired before a time. */
  async removeRetired(before: number): Promise<string[]> {
    const rows = await this.#database.run((db) =>
      db
        .deleteFrom("iam_keys")
        .where("purpose", "=", this.#purpose)
        .where("state", "=", "retired")
        .where("retire_time", "<", before)
        .returning("kid")
        .execute(),
    );
    return rows.map(({ kid }) => kid);
  }

  async #lock(tx: Transaction<ProviderTables>, state: KeyState): Promise<KeyRow | undefined> {
    const query = tx
      .selectFrom("iam_keys")
      .selectAll()
      .where("purpose", "=", this.#purpose)
      .where("state", "=", state);
    // Alone, one transaction writes at a time.
    return (IS_SHARED[this.#database.kind] ? query.forUpdate() : query).executeTakeFirst();
  }

  async #set(
    tx: Transaction<ProviderTables>,
    kid: string,
    changes: Partial<Pick<KeyRow, "state" | "retire_time" | "current_time">>,
  ): Promise<void> {
    await tx.updateTable("iam_keys").set(changes).where("kid", "=", kid).execute();
  }
}

const ORDER: readonly KeyState[] = ["current", "next", "retired"];
