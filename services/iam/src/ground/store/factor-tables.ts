import type { ColumnTypes, Kysely } from "svc-access/database";

/** A second factor of a user. */
export interface SecondFactorsTable {
  readonly id: string;
  readonly account_id: string;
  readonly kind: "totp" | "passkey";
  /** The secret of a TOTP app, sealed; null for a passkey. */
  readonly secret: string | null;
  /** The id that the authenticator has given a passkey; null for a TOTP app. */
  readonly credential_id: string | null;
  /** The COSE key of a passkey, in base64url; null for a TOTP app. */
  readonly public_key: string | null;
  /** The time step of the last code of an app, or the signature counter of a passkey. */
  readonly counter: number;
  /** Milliseconds since the epoch, as all times. */
  readonly create_time: number;
  readonly use_time: number | null;
}

/** A recovery code that was not used yet. */
export interface RecoveryCodesTable {
  readonly account_id: string;
  /** The SHA-256 hash of the account and the code. */
  readonly code_hash: string;
}

/** The tables of second factors. */
export interface FactorTables {
  readonly iam_second_factors: SecondFactorsTable;
  readonly iam_recovery_codes: RecoveryCodesTable;
}

/** What they need in PostgreSQL. */
export const FACTOR_RIGHTS = {
  iam_second_factors: ["select", "insert", "update", "delete"],
  iam_recovery_codes: ["select", "insert", "update", "delete"],
} as const;

/** The sealed column of the factors. */
export const SEALED_FACTORS = {
  table: "iam_second_factors",
  column: "secret",
  key: ["id"],
} as const;

/** Creates the tables of second factors. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createFactorTables(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_second_factors")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("account_id", text, (column) => column.notNull())
    .addColumn("kind", text, (column) => column.notNull())
    .addColumn("secret", text)
    .addColumn("credential_id", text, (column) => column.unique())
    .addColumn("public_key", text)
    .addColumn("counter", whole, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("use_time", whole)
    .execute();
  await db.schema
    .createIndex("iam_second_factors_account")
    .on("iam_second_factors")
    .column("account_id")
    .execute();
  await db.schema
    .createTable("iam_recovery_codes")
    .addColumn("account_id", text, (column) => column.notNull())
    .addColumn("code_hash", text, (column) => column.notNull())
    .addPrimaryKeyConstraint("iam_recovery_codes_key", ["account_id", "code_hash"])
    .execute();
}

/** Adds how many codes of an account were wrong. */
// biome-ignore lint/suspicious/noExplicitAny: a migration changes the tables that a type would name
export async function addFactorFailures(db: Kysely<any>, { whole }: ColumnTypes): Promise<void> {
  await db.schema
    .alterTable("iam_users")
    .addColumn("factor_failures", whole, (column) => column.notNull().defaultTo(0))
    .execute();
}
