import type { ColumnTypes, Kysely, Selectable } from "svc-access/database";

/** The login of a browser at this service, with `iam.browser_login: self`. */
export interface BrowserSessionsTable {
  /** The SHA-256 hash of the token in its cookie. */
  readonly id: string;
  /** The hash of the state of the login that began it: a callback begins one session. */
  readonly login_id: string;
  readonly subject_type: string;
  readonly subject_id: string;
  /** The tokens of the identity provider in JSON, sealed. */
  readonly tokens: string;
  /** When the access token should be refreshed, in milliseconds since the epoch, as all times. */
  readonly refresh_time: number;
  /** Until when one process refreshes the tokens, and others wait for it. */
  readonly refreshing_until: number;
  readonly create_time: number;
  /** When it was last used, to within a minute. */
  readonly seen_time: number;
  /** When it ends if it is not used. */
  readonly expire_time: number;
}

/** The table of browser sessions. */
export interface BrowserSessionTables {
  readonly iam_browser_sessions: BrowserSessionsTable;
}

/** A row of `iam_browser_sessions`. */
export type BrowserSessionRow = Selectable<BrowserSessionsTable>;

/** What browser sessions need in PostgreSQL. */
export const BROWSER_SESSION_RIGHTS = {
  iam_browser_sessions: ["select", "insert", "update", "delete"],
} as const;

/** Creates the table of browser sessions. */
export async function createBrowserSessionTables(
  // biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
  db: Kysely<any>,
  { text, whole }: ColumnTypes,
): Promise<void> {
  await db.schema
    .createTable("iam_browser_sessions")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("login_id", text, (column) => column.notNull().unique())
    .addColumn("subject_type", text, (column) => column.notNull())
    .addColumn("subject_id", text, (column) => column.notNull())
    .addColumn("tokens", text, (column) => column.notNull())
    .addColumn("refresh_time", whole, (column) => column.notNull())
    .addColumn("refreshing_until", whole, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("seen_time", whole, (column) => column.notNull())
    .addColumn("expire_time", whole, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("iam_browser_sessions_expire_time")
    .on("iam_browser_sessions")
    .column("expire_time")
    .execute();
}
