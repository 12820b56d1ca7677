/** `planMigration`: what a migration would do. */
import { expect, test } from "vitest";
import { migrateDatabase } from "../../../src/runtime/server/migrate-database.ts";
import { planMigration } from "../../../src/runtime/server/plan-migration.ts";
import { onBoth } from "../../database/service/targets.ts";
import { vaultConfiguration } from "../support/vault-server.ts";

const step = (name: string) => ({ name, up: async () => undefined });
const tables = (...names: readonly string[]) => ({
  component: "notes",
  migrations: names.map(step),
});

await onBoth("what a migration would do", ({ fresh }) => {
  const configuration = async () => vaultConfiguration("/nowhere", {}, await fresh()).config;

  test("is refused without a database, and where a newer program made the tables", async () => {
    const config = await configuration();
    await expect(planMigration({ ...config, database: undefined })).rejects.toThrow(
      /database is missing/,
    );
    await migrateDatabase(config, tables("a", "b"));
    await expect(planMigration(config, tables("a"))).rejects.toThrow(/newer program/);
    await expect(planMigration(config, tables("a", "c"))).rejects.toThrow(/history|"b"/);
  });

  test("is reported for each part, and changes nothing", async () => {
    const config = await configuration();
    const planned = await planMigration(config, tables("a"));
    expect(planned.map(({ component }) => component).slice(0, 5)).toEqual([
      "audit",
      "jobs",
      "idempotency",
      "removals",
      "notes",
    ]);
    expect(planned.every(({ from, to }) => from === 0 && to > 0)).toBe(true);
    expect(await planMigration(config, tables("a"))).toEqual(planned);
    await migrateDatabase(config, tables("a"));
    const after = await planMigration(config, tables("a", "b"));
    expect(after.filter(({ from, to }) => from < to)).toEqual([
      { component: "notes", from: 1, to: 2 },
    ]);
  });
});
