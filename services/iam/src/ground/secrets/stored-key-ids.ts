import { databaseTime, type ServiceDatabase } from "svc-access/database";
import type { EncryptionKeyTables } from "../store/encryption-key-tables.ts";
import type { StoredKeyIds } from "./missing-key-log.ts";

/** Far more than are ever rotated. */
const MOST = 1000;

/** The ids of encryption keys in the database. */
export function storedKeyIds(database: ServiceDatabase<EncryptionKeyTables>): StoredKeyIds {
  const { kysely, kind } = database;
  return {
    async add(ids) {
      for (const id of ids) {
        await kysely
          .insertInto("iam_encryption_key_ids")
          .values({ id, create_time: databaseTime(kind) })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    },
    async read() {
      const rows = await kysely
        .selectFrom("iam_encryption_key_ids")
        .select("id")
        .orderBy("create_time", "desc")
        .limit(MOST)
        .execute();
      return rows.map(({ id }) => id);
    },
  };
}
