import { randomUUID } from "node:crypto";
import {
  databaseTime,
  type Kysely,
  type Selectable,
  type ServiceDatabase,
} from "svc-access/database";
import type { RemovalTransaction } from "../../ground/removals/removal-kind.ts";
import type { Removals } from "../../ground/removals/removals.ts";
import type { GroupsTable, GroupTables, RecordState } from "../../ground/store/group-tables.ts";
import { isStorable } from "../../ground/store/storable-text.ts";
import type { IamTables } from "../../ground/store/tables.ts";

/** The record of a group that people may see. */
export interface GroupRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly displayName: string;
  /** Changes with each change of the record. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  /** Milliseconds since the epoch. */
  readonly updateTime: number;
}

/** A group that is being made or deleted. */
export interface UnfinishedGroup extends Pick<GroupRecord, "id" | "organizationId"> {
  readonly state: "creating" | "deleting";
  /** Since when it has the state, in milliseconds. */
  readonly age: number;
}

/** How far a group is that is to be made: an earlier call may have made it, and somebody deleted it. */
export type BegunGroup = "begun" | "ready" | "deleted" | "no_organization";

/** The table of the groups, such as in a transaction. */
export type GroupTable = Kysely<GroupTables>;

/** The records of the groups in the database. */
export class GroupRecords {
  readonly #database: ServiceDatabase<IamTables>;
  readonly #removals: Pick<Removals, "add">;
  readonly #now: (() => number) | undefined;

  /** @param now instead of the clock of the database; for tests */
  constructor(
    database: ServiceDatabase<IamTables>,
    removals: Pick<Removals, "add">,
    now?: () => number,
  ) {
    this.#database = database;
    this.#removals = removals;
    this.#now = now;
  }

  /**
   * Stores the record of a group that nobody sees yet, unless an earlier call has.
   *
   * @param id one that was never used, or that of a call that is repeated
   */
  async begin(id: string, organizationId: string, displayName: string): Promise<BegunGroup> {
    const now = this.#time();
    return this.#database.inTransaction(async (transaction) => {
      // Its row is locked until the end, so that it is not deleted meanwhile. One without a row has none to delete.
      const organization = await transaction
        .updateTable("iam_organizations")
        .set((row) => ({ etag: row.ref("etag") }))
        .where("id", "=", organizationId)
        .returning("deleted_time")
        .executeTakeFirst();
      if (organization !== undefined && organization.deleted_time !== null) {
        return "no_organization";
      }
      const former = await transaction
        .selectFrom("iam_former_ids")
        .select("id")
        .where("type", "=", "group")
        .where("id", "=", id)
        .executeTakeFirst();
      if (former !== undefined) return "deleted";
      const { state } = await transaction
        .insertInto("iam_groups")
        .values({
          id,
          organization_id: organizationId,
          display_name: displayName,
          etag: randomUUID(),
          state: "creating",
          state_time: now,
          create_time: now,
          update_time: now,
        })
        .onConflict((conflict) =>
          // It changes nothing, and returns the row.
          conflict.column("id").doUpdateSet((row) => ({ etag: row.ref("iam_groups.etag") })),
        )
        .returning("state")
        .executeTakeFirstOrThrow();
      if (state === "creating") return "begun";
      return state === "ready" ? "ready" : "deleted";
    });
  }

  /** A group by its id; undefined where there is none that people may see. */
  async find(id: string): Promise<GroupRecord | undefined> {
    return (await this.findAll([id])).get(id);
  }

  /** Groups by their ids, as `find` has them. */
  async findAll(ids: readonly string[]): Promise<ReadonlyMap<string, GroupRecord>> {
    const storable = ids.filter(isStorable);
    if (storable.length === 0) return new Map();
    const rows = await this.#database.kysely
      .selectFrom("iam_groups")
      .selectAll()
      .where("id", "in", storable)
      .where("state", "=", "ready")
      .execute();
    return new Map(rows.map((row) => [row.id, recordOf(row)]));
  }

  /**
   * The groups of an organization, by id.
   *
   * @param after the id after which they begin; empty: the first
   */
  async list(
    organizationId: string,
    after: string,
    limit: number,
  ): Promise<readonly GroupRecord[]> {
    const rows = await this.#database.kysely
      .selectFrom("iam_groups")
      .selectAll()
      .where("organization_id", "=", organizationId)
      .where("id", ">", after)
      .where("state", "=", "ready")
      .orderBy("id")
      .limit(limit)
      .execute();
    return rows.map(recordOf);
  }

  /**
   * Changes the name of a group.
   *
   * @param etag the group is changed only if it still has this one
   * @returns undefined where there is no such group, or it has another etag
   */
  async rename(id: string, displayName: string, etag: string): Promise<GroupRecord | undefined> {
    const row = await this.#database.kysely
      .updateTable("iam_groups")
      .set({ display_name: displayName, etag: randomUUID(), update_time: this.#time() })
      .where("id", "=", id)
      .where("etag", "=", etag)
      .where("state", "=", "ready")
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : recordOf(row);
  }

  /**
   * Moves a record to its next state.
   *
   * @param database a transaction that it is a part of
   * @returns false where it is in none of the states `from`
   */
  async advance(
    id: string,
    from: readonly RecordState[],
    to: RecordState,
    database: GroupTable = this.#database.kysely.$pickTables<"iam_groups">(),
  ): Promise<boolean> {
    const { numUpdatedRows } = await database
      .updateTable("iam_groups")
      .set({ state: to, state_time: this.#time() })
      .where("id", "=", id)
      .where("state", "in", from)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Deletes the record of a group that was never seen. */
  async discard(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database.kysely
      .deleteFrom("iam_groups")
      .where("id", "=", id)
      .where("state", "=", "creating")
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Has the relationships of a group removed whose deletion is decided, and then its record. */
  async beginRemoval(id: string): Promise<void> {
    await this.#database.inTransaction(async (transaction) => {
      const groups = transaction.$pickTables<"iam_groups">();
      if (!(await this.advance(id, ["deleting"], "removing", groups))) return;
      await this.#removals.add(transaction, "group", id);
    });
  }

  /** Deletes the record of a group that has no relationships, in a transaction. */
  async delete(transaction: RemovalTransaction, id: string): Promise<void> {
    await transaction
      .deleteFrom("iam_groups")
      .where("id", "=", id)
      .where("state", "=", "removing")
      .execute();
  }

  /** Those whose creation or deletion is not decided yet, the oldest first. */
  async unfinished(limit: number): Promise<readonly UnfinishedGroup[]> {
    const rows = await this.#database.kysely
      .selectFrom("iam_groups")
      .select(["id", "organization_id", "state", "state_time", this.#time().as("now")])
      .where("state", "in", ["creating", "deleting"])
      .orderBy("state_time")
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      id: row.id,
      organizationId: row.organization_id,
      state: row.state as UnfinishedGroup["state"],
      // PostgreSQL sends whole numbers of 64 bits as text.
      age: Number(row.now) - Number(row.state_time),
    }));
  }

  #time() {
    return databaseTime(this.#database.kind, this.#now);
  }
}

function recordOf(row: Selectable<GroupsTable>): GroupRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    displayName: row.display_name,
    etag: row.etag,
    createTime: Number(row.create_time),
    updateTime: Number(row.update_time),
  };
}
