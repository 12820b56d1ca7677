import { randomUUID } from "node:crypto";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database, DatabaseKind } from "../../database/database.ts";
import { databaseTime } from "../../database/database-time.ts";
import type { MigrationSet } from "../../database/service/migrate.ts";
import { COLUMN_TYPES } from "../../database/tables.ts";

/** How long a lease is held without being renewed. */
export const LEASE_MS = 30_000;
/** How often it is renewed. */
export const RENEW_MS = 10_000;

/** The table of the leases. Times are milliseconds since the epoch, by the clock of the database. */
export interface LeaseTables {
  readonly job_leases: {
    readonly name: string;
    /** The run that holds it. */
    readonly holder: string;
    /** When others may take it. */
    readonly expires: number;
    /** When the next run is due. */
    readonly due: number;
  };
}

/** The steps to the table of this version. */
export const JOB_MIGRATIONS: MigrationSet = {
  component: "jobs",
  steps: [createLeases],
  rights: { job_leases: ["select", "insert", "update"] },
};

// biome-ignore lint/suspicious/noExplicitAny: it makes the table that a type would name
async function createLeases(connection: Kysely<any>, kind: DatabaseKind): Promise<void> {
  const { text, whole } = COLUMN_TYPES[kind];
  await connection.schema
    .createTable("job_leases")
    .addColumn("name", text, (column) => column.primaryKey())
    .addColumn("holder", text, (column) => column.notNull())
    .addColumn("expires", whole, (column) => column.notNull())
    .addColumn("due", whole, (column) => column.notNull())
    .execute();
}

/** The lease of one exclusive job. */
export class JobLease {
  readonly #database: Database<LeaseTables>;
  readonly #name: string;
  readonly #everyMs: number;
  /** One per run, so that a former run of this process cannot renew the lease of a later one. */
  #holder = "";

  constructor(database: Database<LeaseTables>, name: string, everyMs: number) {
    this.#database = database;
    this.#name = name;
    this.#everyMs = everyMs;
  }

  /** Takes the lease if a run is due. @returns 0 if it has it, else after how long to try again */
  async take(): Promise<number> {
    const { kysely } = this.#database;
    this.#holder = randomUUID();
    if (await this.#tryTake()) return 0;
    await kysely
      .insertInto("job_leases")
      .values({ name: this.#name, holder: "", expires: 0, due: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    if (await this.#tryTake()) return 0;
    const { waits } = await kysely
      .selectFrom("job_leases")
      .where("name", "=", this.#name)
      .select(
        sql<
          number | string
        >`case when expires > due then expires else due end - ${databaseTime(this.#database.kind)}`.as(
          "waits",
        ),
      )
      .executeTakeFirstOrThrow();
    return Math.max(1, Math.min(Number(waits), this.#everyMs));
  }

  async #tryTake(): Promise<boolean> {
    const now = databaseTime(this.#database.kind);
    // Times that no run can have set are from a clock that was ahead.
    const result = await this.#database.kysely
      .updateTable("job_leases")
      .set({ holder: this.#holder, expires: sql`${now} + ${LEASE_MS}` })
      .where("name", "=", this.#name)
      .where(sql<boolean>`(expires <= ${now} or expires > ${now} + ${LEASE_MS})`)
      .where(sql<boolean>`(due <= ${now} or due > ${now} + ${2 * this.#everyMs})`)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  /** Holds the lease longer. @returns false if another process has taken it */
  async renew(): Promise<boolean> {
    return this.#set({ expires: sql`${databaseTime(this.#database.kind)} + ${LEASE_MS}` });
  }

  /** Gives the lease back; the next run is due after this time, or at once if the run did not end. */
  async giveBack(dueMs: number | undefined): Promise<void> {
    await this.#set({
      expires: 0,
      ...(dueMs === undefined
        ? {}
        : { due: sql`${databaseTime(this.#database.kind)} + ${Math.round(dueMs)}` }),
    });
  }

  async #set(values: {
    readonly expires: RawBuilder<unknown> | number;
    readonly due?: RawBuilder<unknown>;
  }): Promise<boolean> {
    const result = await this.#database.kysely
      .updateTable("job_leases")
      .set(values as never)
      .where("name", "=", this.#name)
      .where("holder", "=", this.#holder)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }
}
