import { type Kysely, sql } from "kysely";

/** The errors if another process has created the schema since the query. */
const EXISTS = new Set(["42P06", "23505"]);

/** Creates a schema. It queries first, since `if not exists` needs the create privilege even if the schema exists. */
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
