import { openServiceDatabase } from "svc-access/database";
import { loadIamConfig } from "../../src/config/load-iam-config.ts";
import { readEncryptionKeys } from "../../src/ground/secrets/read-encryption-keys.ts";
import { SecretBox } from "../../src/ground/secrets/secret-box.ts";
import { ProviderDatabase } from "../../src/ground/store/provider-database.ts";
import type { KeyState, ProviderTables } from "../../src/ground/store/provider-tables.ts";
import { IAM_TABLES } from "../../src/ground/store/tables.ts";
import { SigningKeys } from "../../src/provider/embedded/keys/signing-keys.ts";
import type { Platform } from "./platform.ts";

/** The columns of a key's times. */
type TimeColumn = "create_time" | "current_time" | "retire_time";

/** The signing keys of a platform, as a third replica without a server has them. */
export async function openStoredKeys({ replicas, keyFile }: Platform) {
  const { config } = loadIamConfig(replicas[0].file);
  const database = await openServiceDatabase<ProviderTables>(config, IAM_TABLES);
  const box = new SecretBox(readEncryptionKeys({ file: keyFile, environment: "test" }));
  const events = { keyMade: () => undefined, keyRotated: () => undefined };
  const keys = new SigningKeys(new ProviderDatabase(database), box, events);
  return {
    keys,
    /** Lets time pass for the stored keys of a state: each replica sees it. */
    async pass(state: KeyState, column: TimeColumn, milliseconds: number): Promise<void> {
      await database.kysely
        .updateTable("iam_keys")
        .set((row) => ({ [column]: row(column, "-", milliseconds) }))
        .where("state", "=", state)
        .execute();
    },
    close: () => database.close(),
  };
}
