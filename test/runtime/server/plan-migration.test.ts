/** `planMigration`: what a migration would do. */
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { EngineKind } from "../../../src/authz/engine/engine-kinds.ts";
import { DatabaseError } from "../../../src/database/database-error.ts";
import { relationshipsFile } from "../../../src/database/sqlite/sqlite-file.ts";
import { migrateDatabase } from "../../../src/runtime/server/migrate-database.ts";
import {
  type PlannedMigration,
  planMigration,
} from "../../../src/runtime/server/plan-migration.ts";
import { onBoth } from "../../database/service/targets.ts";
import { settingsOf } from "../../database/settings.ts";
import { vaultConfiguration } from "../support/vault-server.ts";

const step = (name: string) => ({ name, up: async () => undefined });
const tables = (...names: readonly string[]) => ({
  component: "notes",
  migrations: names.map(step),
});

test("of a file that cannot be looked at says so in one line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "plan-migration-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "vault.db");
  const { config } = vaultConfiguration("/nowhere", {}, { database: settingsOf({ file }) });
  for (const loop of [relationshipsFile(file), file]) {
    symlinkSync(loop, loop);
    const error = await planMigration(config).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseError);
    expect((error as Error).message).toBe(
      `the path of the store ${loop} cannot be used (ELOOP): name another file`,
    );
  }
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

  test.each([
    ["embedded", true],
    ["spicedb", false],
    ["iam", false],
  ] as const)("with the engine %s has the tables of relationships: %s", async (provider, has) => {
    const config = await configuration();
    const engineOf = (provider: EngineKind) => {
      const { security } = config;
      return { ...config, security: { ...security, authz: { ...security.authz, provider } } };
    };
    const components = (planned: readonly PlannedMigration[]) =>
      planned.map(({ component }) => component);
    const planned = await planMigration(engineOf(provider));
    expect(components(planned).includes("relationship")).toBe(has);
    await migrateDatabase(engineOf(provider));
    const missing = (await planMigration(engineOf("embedded"))).filter(({ from, to }) => from < to);
    expect(components(missing)).toEqual(has ? [] : ["relationship"]);
  });
});
