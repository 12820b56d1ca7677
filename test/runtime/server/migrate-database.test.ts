/** `migrateDatabase`: the tables of the runtime, of the relationships and of the service in one call. */
import { expect, test } from "vitest";
import { migrateDatabase } from "../../../src/runtime/server/migrate-database.ts";
import { onBoth } from "../../database/service/targets.ts";
import { vaultConfiguration } from "../support/vault-server.ts";

const step = (name: string) => ({ name, up: async () => undefined });
const tables = (...names: readonly string[]) => ({
  component: "notes",
  migrations: names.map(step),
});

await onBoth("a migration of all tables says what it did", ({ fresh }) => {
  const configuration = async () => vaultConfiguration("/nowhere", {}, await fresh()).config;

  test("to a new database, to one of this version, and to one of an earlier version", async () => {
    const config = await configuration();
    expect(await migrateDatabase(config, tables("a"))).toBe("created");
    expect(await migrateDatabase(config, tables("a"))).toBe("unchanged");
    expect(await migrateDatabase(config)).toBe("unchanged");
    expect(await migrateDatabase(config, tables("a", "b"))).toBe("migrated");
  });

  test("the first tables of a part beside existing ones are a migration", async () => {
    const config = await configuration();
    expect(await migrateDatabase(config)).toBe("created");
    expect(await migrateDatabase(config, tables("a"))).toBe("migrated");
  });
});
