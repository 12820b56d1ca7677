import type { ColumnTypes, Kysely, Selectable } from "svc-access/database";

/** A login, as people see and end it. */
export interface SessionsTable {
  /** Of a browser, the `uid` of its session; of a device, its claim `sid`. */
  readonly id: string;
  /** Whether it is a browser, or a device that was approved in one. */
  readonly kind: "browser" | "device";
  readonly account_id: string;
  /** JSON: the clients with the claim `sid` of their tokens and their grants. */
  readonly clients: string;
  /** The address of the client at its last login. */
  readonly address: string;
  /** What the browser or device says it is. */
  readonly user_agent: string;
  /** Milliseconds since the epoch, as all times. */
  readonly create_time: number;
  /** When it was last used: by a login or a refresh. */
  readonly seen_time: number;
  /** When it ends if it is not used. */
  readonly expire_time: number;
  /** When it was ended. */
  readonly ended_time: number | null;
  /** When it ends, however much it is used; null if it began before this was stored. */
  readonly end_time: number | null;
}

/** Tokens that no longer count, before they expire. */
export interface RevocationsTable {
  /** In the order in which they were committed. */
  readonly position: number;
  /** What `value` is. */
  readonly kind: "sid" | "jti" | "subject";
  readonly value: string;
  /** Of a subject, its type. */
  readonly subject_type: string | null;
  /** Of a subject, the last `iat` that no longer counts. */
  readonly issued_until: number | null;
  /** When the last of the tokens has expired. */
  readonly keep_until: number;
}

/** The last position of the revocations: one row, whose lock orders their commits. */
export interface RevocationHeadTable {
  /** Always 1. */
  readonly id: number;
  readonly position: number;
}

/** The tables of sessions and revocations. */
export interface SessionTables {
  readonly iam_sessions: SessionsTable;
  readonly iam_revocations: RevocationsTable;
  readonly iam_revocation_head: RevocationHeadTable;
}

/** A row of `iam_sessions`. */
export type SessionRow = Selectable<SessionsTable>;

/** A row of `iam_revocations`. */
export type RevocationRow = Selectable<RevocationsTable>;

/** What the sessions need in PostgreSQL. */
export const SESSION_RIGHTS = {
  iam_sessions: ["select", "insert", "update", "delete"],
  iam_revocations: ["select", "insert", "delete"],
  iam_revocation_head: ["select", "update"],
} as const;

/** Creates the tables of sessions and revocations. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createSessionTables(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_sessions")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("kind", text, (column) => column.notNull())
    .addColumn("account_id", text, (column) => column.notNull())
    .addColumn("clients", text, (column) => column.notNull())
    .addColumn("address", text, (column) => column.notNull())
    .addColumn("user_agent", text, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("seen_time", whole, (column) => column.notNull())
    .addColumn("expire_time", whole, (column) => column.notNull())
    .addColumn("ended_time", whole)
    .execute();
  for (const column of ["account_id", "expire_time"]) {
    const index = db.schema.createIndex(`iam_sessions_${column}`).on("iam_sessions");
    await index.column(column).execute();
  }
  await db.schema
    .createTable("iam_revocations")
    .addColumn("position", whole, (column) => column.primaryKey())
    .addColumn("kind", text, (column) => column.notNull())
    .addColumn("value", text, (column) => column.notNull())
    .addColumn("subject_type", text)
    .addColumn("issued_until", whole)
    .addColumn("keep_until", whole, (column) => column.notNull())
    .execute();
  const index = db.schema.createIndex("iam_revocations_value").on("iam_revocations");
  await index.columns(["value", "kind"]).execute();
  await db.schema
    .createTable("iam_revocation_head")
    .addColumn("id", whole, (column) => column.primaryKey())
    .addColumn("position", whole, (column) => column.notNull())
    .execute();
  await db.insertInto("iam_revocation_head").values({ id: 1, position: 0 }).execute();
}

/** Adds the time at which a session ends however much it is used. */
// biome-ignore lint/suspicious/noExplicitAny: a migration changes the tables that a type would name
export async function addSessionEnd(db: Kysely<any>, { whole }: ColumnTypes): Promise<void> {
  await db.schema.alterTable("iam_sessions").addColumn("end_time", whole).execute();
}
