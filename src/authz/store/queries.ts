import { type Kysely, type Selectable, sql } from "kysely";
import {
  type ChangeTable,
  RELATIONSHIP_COLUMNS,
  type RelationshipTable,
  type Tables,
} from "./tables.ts";

const KEY = sql.join(RELATIONSHIP_COLUMNS.map((column) => sql.ref(column)));

/** Reads the changes after a number, oldest first. */
export function readChanges(
  connection: Kysely<Tables>,
  after: number,
  limit: number,
): Promise<readonly Pick<Selectable<ChangeTable>, "sequence" | "updates">[]> {
  return connection
    .selectFrom("changes")
    .select(["sequence", "updates"])
    .where("sequence", ">", after)
    .orderBy("sequence")
    .limit(limit)
    .execute();
}

/** Reads a page of the relationships, in the order of their key, after the last of the page before. */
export function readPage(
  connection: Kysely<Tables>,
  after: RelationshipTable | undefined,
  limit: number,
): Promise<readonly RelationshipTable[]> {
  let query = connection.selectFrom("relationships").select(RELATIONSHIP_COLUMNS);
  if (after !== undefined) {
    const last = sql.join(RELATIONSHIP_COLUMNS.map((column) => after[column]));
    query = query.where(sql<boolean>`(${KEY}) > (${last})`);
  }
  for (const column of RELATIONSHIP_COLUMNS) query = query.orderBy(column);
  return query.limit(limit).execute();
}
