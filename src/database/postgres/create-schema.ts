import { type Kysely, sql } from "kysely";

/** What another process created in the moment since it was asked for. */
const EXISTS = new Set(["42P06", "23505"]);

/** Creates a schema; asks first, for `if not exists` needs the right to create also where it exists. */
export async function createSchema(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  kysely: Kysely<any>,
  schema: string,
): Promise<void> {
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(kysely);
  if (rows.length > 0) return;
  try {
    await sql`create schema ${sql.id(schema)}`.execute(kysely);
  } catch (error) {
    if (!EXISTS.has((error as { code?: string }).code ?? "")) throw error;
  }
}
