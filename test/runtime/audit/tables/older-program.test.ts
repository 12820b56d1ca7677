/** Replicas of an older version, which run on after a newer one has changed the tables. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { migrate } from "../../../../src/database/service/migrate.ts";
import { openDatabase } from "../../../../src/database/service/open-database.ts";
import { AUDIT_MIGRATIONS } from "../../../../src/runtime/audit/tables/audit-table.ts";
import { SILENT, settingsOf } from "../../../database/settings.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-older-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { steps } = AUDIT_MIGRATIONS;
const older = steps.slice(1).map((_, index) => index + 1);

test.each(older)(
  "a program of version %i writes its events to the tables of this one",
  async (version) => {
    const settings = settingsOf({ driver: "sqlite", file: join(folder, `audit-${version}.db`) });
    const database = await openDatabase<{ audit_events: Record<string, unknown> }>(settings, {
      logger: SILENT,
    });
    await migrate(database, { component: "audit", steps: steps.slice(0, version) });
    const tables = await database.kysely.introspection.getTables();
    const columns = tables.find(({ name }) => name === "audit_events")?.columns ?? [];
    const row = Object.fromEntries(
      columns.map(({ name, dataType }) => [name, dataType === "integer" ? 0 : "x"]),
    );
    await migrate(database, AUDIT_MIGRATIONS);
    await database.kysely.insertInto("audit_events").values(row).execute();
    await database.kysely.updateTable("audit_events").set({ state: "completed" }).execute();
    const [stored] = await database.kysely.selectFrom("audit_events").selectAll().execute();
    expect(stored).toMatchObject({ ...row, state: "completed" });
    await database.close();
  },
);
