import { existsSync } from "node:fs";
import type { RelationshipStore } from "../../authz/relationship-store.ts";
import { openPostgresStore } from "../../authz/store/open-postgres-store.ts";
import { openSqliteStore } from "../../authz/store/open-sqlite-store.ts";
import { relationshipsFile } from "../../database/relationships-file.ts";
import { OperatorError } from "../operator-error.ts";
import { placeOf, type StoreFlags } from "../store-flags.ts";
import { requirePostgresStore } from "./require-postgres-store.ts";

/**
 * Opens the store that the flags name, and holds it: the service must be stopped.
 *
 * @throws AuthzError that names the process which holds it
 */
export async function openStore(flags: StoreFlags): Promise<RelationshipStore> {
  const place = await placeOf(flags, relationshipsFile);
  const schema = flags.schema === undefined ? {} : { schema: flags.schema };
  if (place.driver === "postgres") {
    await requirePostgresStore(place.url, flags.schema);
    return openPostgresStore({ url: place.url, ...schema });
  }
  try {
    return await openSqliteStore({ file: place.file });
  } catch (error) {
    const beside = relationshipsFile(place.file);
    if (!/of another program/.test((error as Error).message) || !existsSync(beside)) throw error;
    throw new OperatorError(
      `${place.file} is the database of a service; its relationships are in ${beside}`,
    );
  }
}
