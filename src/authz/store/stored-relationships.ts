import { existsSync } from "node:fs";
import type { ExpressionBuilder, SqlBool } from "kysely";
import { SILENT } from "../../common/logger.ts";
import { type Database, type DatabaseSettings, readingSettings } from "../../database/database.ts";
import { openDatabase } from "../../database/service/open-database.ts";
import { relationshipsFile } from "../../database/sqlite/sqlite-file.ts";
import { isOutdated } from "../../database/tables.ts";
import type { RelationshipFilter } from "../../model/relationship.ts";
import { tableVersion } from "./migrations.ts";
import type { Tables } from "./tables.ts";

/**
 * Whether a relationship that matches is in the store of the embedded engine. It only reads what was
 * committed, also while a service holds the store.
 *
 * @param settings - the database of the service
 * @throws DatabaseError with the fix, if the store cannot be read
 */
export async function hasStoredRelationship(
  settings: DatabaseSettings,
  filter: RelationshipFilter,
): Promise<boolean> {
  const database = await openStored(settings);
  if (database === undefined) return false;
  try {
    const version = await tableVersion(database, database.kysely);
    // Of a newer version it could say something else.
    isOutdated(version);
    if (version.made === 0) return false;
    const row = await database.kysely
      .selectFrom("relationships")
      .select("resource_type")
      .where((is) => matches(is, filter))
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

async function openStored(settings: DatabaseSettings): Promise<Database<Tables> | undefined> {
  switch (settings.driver) {
    case "sqlite": {
      const file = relationshipsFile(settings.file as string);
      if (!existsSync(file)) return undefined;
      const { ReadOnlySqlite } = await import("../../database/sqlite/read-only-sqlite.ts");
      return new ReadOnlySqlite<Tables>(file);
    }
    case "postgres":
      return openDatabase<Tables>(readingSettings(settings), { logger: SILENT });
  }
}

function matches(
  is: ExpressionBuilder<Tables, "relationships">,
  { resourceType, resourceId, relation, subject }: RelationshipFilter,
) {
  const columns = {
    resource_type: resourceType,
    resource_id: resourceId,
    relation,
    subject_type: subject?.type,
    subject_id: subject?.id,
    subject_relation: subject?.relation,
  };
  const given = Object.entries(columns).filter((entry) => entry[1] !== undefined);
  return is.and(
    given.map(([column, value]) =>
      is(column as keyof typeof columns, "=", value as string).$castTo<SqlBool>(),
    ),
  );
}
