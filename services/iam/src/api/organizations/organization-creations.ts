import { randomUUID } from "node:crypto";
import { databaseTime, type Kysely, type ServiceDatabase } from "svc-access/database";
import type { Job } from "svc-access/runtime";
import type { IamTables } from "../../ground/store/tables.ts";
import {
  insertOrganization,
  type OrganizationFields,
  type OrganizationRecord,
} from "./organization-records.ts";
import type { OrganizationZones } from "./organization-zones.ts";

/** How long after its begin a call may still be under way. */
const GRACE_MS = 600_000;
/** How many creations a run looks at. */
const MOST = 100;

/**
 * Creations of organizations with a first owner. The owner is a relationship, and the record is stored after it. What
 * is begun is in the database, so a creation that was cut off between the two is completed, and no owner is left of an
 * organization that does not exist.
 */
export class OrganizationCreations {
  readonly #database: ServiceDatabase<IamTables>;
  readonly #zones: Pick<OrganizationZones, "hasOwner">;
  readonly #now: (() => number) | undefined;

  /** @param now instead of the clock of the database; for tests */
  constructor(
    database: ServiceDatabase<IamTables>,
    zones: Pick<OrganizationZones, "hasOwner">,
    now?: () => number,
  ) {
    this.#database = database;
    this.#zones = zones;
    this.#now = now;
  }

  /**
   * Completes or discards those that were cut off, each minute.
   *
   * @param after what is done then
   */
  jobWith(after: () => Promise<void>): Job {
    return {
      name: "unfinished_organizations",
      every: "1m",
      exclusive: true,
      run: async (signal) => {
        await this.run(signal);
        await after();
      },
    };
  }

  /**
   * Begins one; a call that is repeated continues it.
   *
   * @param token of the call, and of those that repeat it: the first etag of the organization
   * @returns discards it, unless another call was about to create the organization before or is now; undefined where
   * an organization has the id, or had it
   */
  async begin(
    id: string,
    { displayName, websiteUrl }: OrganizationFields,
    token: string = randomUUID(),
  ): Promise<(() => Promise<void>) | undefined> {
    const begin_time = this.#time();
    return this.#database.inTransaction(async (transaction) => {
      if (await isKnown(transaction, id)) return undefined;
      const other = await transaction
        .updateTable("iam_organization_creations")
        .set({ token, begin_time })
        .where("id", "=", id)
        .executeTakeFirst();
      if (other.numUpdatedRows > 0n) return async () => {};
      await transaction
        .insertInto("iam_organization_creations")
        .values({ id, display_name: displayName, website_url: websiteUrl, token, begin_time })
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ token }))
        .execute();
      // It may have waited for a call that has made the organization without an owner.
      if (!(await isKnown(transaction, id))) return () => this.#discard(id, token);
      await removeCreation(transaction, id);
      return undefined;
    });
  }

  /**
   * Creates an organization without an owner. While one with an owner is under way, it is refused: the other call would
   * find the organization made, and leave it an owner that this one has not named.
   *
   * @returns undefined where an organization has the id, or had it
   */
  async create(
    id: string,
    fields: OrganizationFields,
    etag: string = randomUUID(),
  ): Promise<OrganizationRecord | "under_way" | undefined> {
    const { displayName: display_name, websiteUrl: website_url } = fields;
    return this.#database.inTransaction(async (transaction) => {
      // One that begins meanwhile waits for this row.
      const { numInsertedOrUpdatedRows = 0n } = await transaction
        .insertInto("iam_organization_creations")
        .values({ id, display_name, website_url, token: etag, begin_time: this.#time() })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) return "under_way";
      await removeCreation(transaction, id);
      const organizations = transaction.$pickTables<"iam_organizations">();
      return insertOrganization(organizations, { id, etag, ...fields }, this.#time());
    });
  }

  /** Stores the record of one that has its owner; undefined if it is not under way any more. */
  async finish(
    id: string,
    fields: OrganizationFields,
    etag: string = randomUUID(),
  ): Promise<OrganizationRecord | undefined> {
    return this.#database.inTransaction(async (transaction) => {
      if (!(await removeCreation(transaction, id))) return undefined;
      const organizations = transaction.$pickTables<"iam_organizations">();
      return insertOrganization(organizations, { id, etag, ...fields }, this.#time());
    });
  }

  /** @throws AuthzError or DatabaseError: the next run continues */
  async run(signal: AbortSignal): Promise<void> {
    const rows = await this.#database.kysely
      .selectFrom("iam_organization_creations")
      .select(["id", "display_name", "website_url", "token", "begin_time", this.#time().as("now")])
      .orderBy("begin_time")
      .limit(MOST)
      .execute();
    for (const row of rows) {
      signal.throwIfAborted();
      // PostgreSQL sends whole numbers of 64 bits as text.
      if (Number(row.now) - Number(row.begin_time) < GRACE_MS) return;
      const fields = { displayName: row.display_name, websiteUrl: row.website_url };
      if (await this.#zones.hasOwner(row.id, signal)) await this.finish(row.id, fields, row.token);
      else await this.#discard(row.id, row.token);
    }
  }

  async #discard(id: string, token: string): Promise<void> {
    await this.#database.kysely
      .deleteFrom("iam_organization_creations")
      .where("id", "=", id)
      .where("token", "=", token)
      .execute();
  }

  #time() {
    return databaseTime(this.#database.kind, this.#now);
  }
}

/** Whether an organization has an id, or had it. */
async function isKnown(transaction: Kysely<IamTables>, id: string): Promise<boolean> {
  const row = await transaction
    .selectFrom("iam_organizations")
    .select("id")
    .where("id", "=", id)
    .executeTakeFirst();
  return row !== undefined;
}

async function removeCreation(transaction: Kysely<IamTables>, id: string): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom("iam_organization_creations")
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
