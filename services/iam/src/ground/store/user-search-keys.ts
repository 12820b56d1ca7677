import type { ColumnTypes, Kysely } from "svc-access/database";

/** How many rows one statement of the migration reads. */
const BATCH = 1000;

/** Text as users are searched by it: the same in all letter cases, and however the characters are written. */
export function searchKey(text: string): string {
  return text.normalize("NFKC").toLowerCase().normalize("NFKC");
}

/** Adds the columns by which users are searched, with the values of the users there are. */
// biome-ignore lint/suspicious/noExplicitAny: a migration changes the tables that a type would name
export async function addUserSearchKeys(db: Kysely<any>, { text }: ColumnTypes): Promise<void> {
  for (const column of ["display_key", "email_key"]) {
    await db.schema
      .alterTable("iam_users")
      .addColumn(column, text, (one) => one.notNull().defaultTo(""))
      .execute();
  }
  let after = "";
  for (;;) {
    const rows = await db
      .selectFrom("iam_users")
      .select(["id", "display_name", "email"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(BATCH)
      .execute();
    for (const { id, display_name, email } of rows) {
      const keys = { display_key: searchKey(display_name), email_key: searchKey(email) };
      await db.updateTable("iam_users").set(keys).where("id", "=", id).execute();
    }
    if (rows.length < BATCH) break;
    after = rows.at(-1)?.id;
  }
  for (const column of ["display_key", "email_key"]) {
    await db.schema.createIndex(`iam_users_${column}`).on("iam_users").column(column).execute();
  }
}
