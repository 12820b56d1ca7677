import { randomUUID } from "node:crypto";
import {
  databaseTime,
  type Kysely,
  type RawBuilder,
  type Selectable,
  type ServiceDatabase,
} from "svc-access/database";
import type { Removals } from "../../ground/removals/removals.ts";
import type {
  OrganizationsTable,
  OrganizationTables,
} from "../../ground/store/organization-tables.ts";
import { isStorable } from "../../ground/store/storable-text.ts";
import type { IamTables } from "../../ground/store/tables.ts";

/** What people see of an organization. */
export interface OrganizationFields {
  readonly displayName: string;
  /** Empty where it has none. */
  readonly websiteUrl: string;
}

/** The record of an organization. */
export interface OrganizationRecord extends OrganizationFields {
  /** Also that of its zone. */
  readonly id: string;
  /** Changes with each change of the record. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  /** Milliseconds since the epoch. */
  readonly updateTime: number;
}

/** What became of the deletion of an organization. */
export type OrganizationDeletion = "deleted" | "absent" | "has_groups";

/** The records of the organizations in the database. */
export class OrganizationRecords {
  readonly #database: ServiceDatabase<IamTables>;
  readonly #removals: Pick<Removals, "add">;

  constructor(database: ServiceDatabase<IamTables>, removals: Pick<Removals, "add">) {
    this.#database = database;
    this.#removals = removals;
  }

  /** An organization by its id; undefined where there is none. */
  async find(id: string): Promise<OrganizationRecord | undefined> {
    if (!isStorable(id)) return undefined;
    const row = await this.#database.kysely
      .selectFrom("iam_organizations")
      .selectAll()
      .where("id", "=", id)
      .where("deleted_time", "is", null)
      .executeTakeFirst();
    return row === undefined ? undefined : recordOf(row);
  }

  /**
   * The organizations, by id.
   *
   * @param after the id after which they begin; empty: the first
   */
  async list(after: string, limit: number): Promise<readonly OrganizationRecord[]> {
    const rows = await this.#database.kysely
      .selectFrom("iam_organizations")
      .selectAll()
      .where("id", ">", after)
      .where("deleted_time", "is", null)
      .orderBy("id")
      .limit(limit)
      .execute();
    return rows.map(recordOf);
  }

  /**
   * Changes an organization.
   *
   * @param etag it is changed only if it still has this one
   * @returns undefined where there is no such organization, or it has another etag
   */
  async replace(
    id: string,
    { displayName, websiteUrl }: OrganizationFields,
    etag: string,
  ): Promise<OrganizationRecord | undefined> {
    const row = await this.#database.kysely
      .updateTable("iam_organizations")
      .set({
        display_name: displayName,
        website_url: websiteUrl,
        etag: randomUUID(),
        update_time: this.#time(),
      })
      .where("id", "=", id)
      .where("etag", "=", etag)
      .where("deleted_time", "is", null)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : recordOf(row);
  }

  /** Deletes an organization without groups, and has what was granted on its zone removed. */
  async delete(id: string): Promise<OrganizationDeletion> {
    if (!isStorable(id)) return "absent";
    return this.#database.inTransaction(async (transaction) => {
      // It locks the row: a group that is being made is in the table before, or its making waits and is refused.
      const { numUpdatedRows } = await transaction
        .updateTable("iam_organizations")
        .set((row) => ({ etag: row.ref("etag") }))
        .where("id", "=", id)
        .where("deleted_time", "is", null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return "absent";
      const group = await transaction
        .selectFrom("iam_groups")
        .select("id")
        .where("organization_id", "=", id)
        .limit(1)
        .executeTakeFirst();
      if (group !== undefined) return "has_groups";
      await transaction
        .updateTable("iam_organizations")
        .set({ deleted_time: this.#time() })
        .where("id", "=", id)
        .execute();
      await this.#removals.add(transaction, "organization", id);
      return "deleted";
    });
  }

  #time() {
    return databaseTime(this.#database.kind);
  }
}

/**
 * Stores the record of an organization.
 *
 * @param now the time of its creation
 * @returns undefined where one has the id, or had it
 */
export async function insertOrganization(
  organizations: Kysely<Pick<OrganizationTables, "iam_organizations">>,
  { id, etag, displayName, websiteUrl }: Omit<OrganizationRecord, "createTime" | "updateTime">,
  now: RawBuilder<number>,
): Promise<OrganizationRecord | undefined> {
  const row = await organizations
    .insertInto("iam_organizations")
    .values({
      id,
      display_name: displayName,
      website_url: websiteUrl,
      etag,
      create_time: now,
      update_time: now,
      deleted_time: null,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

function recordOf(row: Selectable<OrganizationsTable>): OrganizationRecord {
  return {
    id: row.id,
    displayName: row.display_name,
    websiteUrl: row.website_url,
    etag: row.etag,
    createTime: Number(row.create_time),
    updateTime: Number(row.update_time),
  };
}
