import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import type { Database } from "../../../../src/database/database.ts";
import { openDatabase } from "../../../../src/database/service/open-database.ts";
import { ReadOnlySqlite } from "../../../../src/database/sqlite/read-only-sqlite.ts";
import { StoredAuditLog } from "../../../../src/runtime/audit/log/audit-log.ts";
import {
  AUDIT_COLUMNS,
  type AuditTables,
} from "../../../../src/runtime/audit/tables/audit-table.ts";
import { nextChange } from "../../../../src/runtime/audit/tables/change-order.ts";
import { openAuditLog } from "../../../../src/runtime/index.ts";
import { onPostgres } from "../../../authz/on-postgres.ts";
import { SILENT, settingsOf } from "../../../database/settings.ts";
import { callOf, methodOf } from "../../authorization/calls.ts";
import { auditOf } from "../audits.ts";
import { auditReadingContract } from "./audit-reading-contract.ts";

const write = methodOf({ audit: { event: "doc.write", riskLevel: "HIGH" } }, { isWrite: true });
const folder = mkdtempSync(join(tmpdir(), "svc-access-audit-reading-"));
const opened: Pick<Database<unknown>, "close">[] = [];
let count = 0;
afterAll(async () => {
  for (const database of opened) await database.close();
  rmSync(folder, { recursive: true, force: true });
});
async function keep<Kept extends Pick<Database<unknown>, "close">>(database: Promise<Kept>) {
  const kept = await database;
  opened.push(kept);
  return kept;
}

describe("reading the audit in SQLite", () => {
  auditReadingContract(async () => {
    const file = join(folder, `${++count}.db`);
    const open = () => keep(openDatabase<unknown>(settingsOf({ file }), { logger: SILENT }));
    return { first: await open(), again: open };
  });

  test("reading the log on another connection never blocks writes of the service [AUDIT-6]", async () => {
    const file = join(folder, `${++count}.db`);
    const database = await keep(openDatabase<unknown>(settingsOf({ file }), { logger: SILENT }));
    const { audit } = await auditOf(database, [write]);
    const complete = () => audit.trail.complete(callOf(write), undefined);
    for (let stored = 0; stored < 600; stored++) void complete();
    await complete();
    const log = await openAuditLog({ file }, { pollMs: 50 });
    let read = 0;
    for await (const _ of log.export()) {
      // Writes are acknowledged while the export is between two pages and within a page.
      if (read++ % 50 === 0) await audit.trail.begin(callOf(write));
    }
    expect(read).toBe(601);
    expect((await log.list({ state: "pending" })).events).not.toHaveLength(0);
    // The reader's connection cannot write.
    const names = Object.keys(log).sort();
    expect(names).toEqual(["close", "export", "follow", "list", "position"]);
    await log.close();
    await audit.close();
  });

  test.each<[what: string, make: (file: string) => Promise<void>, message: RegExp]>([
    ["a missing file", async () => undefined, /does not exist/],
    [
      "a database without audit",
      async (file) => {
        const database = await openDatabase(settingsOf({ file }), { logger: SILENT });
        await database.close();
      },
      /has no audit log: name the database of a service/,
    ],
    [
      "tables of an older version",
      (file) => withVersions(file, [2]),
      /has version 1 of the audit tables and this program reads \d: start the service/,
    ],
    [
      "tables of a newer version",
      (file) => withVersions(file, [], 99),
      /has version 99 of the audit tables .*: use the newer program/,
    ],
  ])("%s is refused, and nothing is made", async (_, make, message) => {
    const file = join(folder, `${++count}.db`);
    await make(file);
    await expect(openAuditLog({ file })).rejects.toThrow(message);
  });

  async function withVersions(file: string, without: readonly number[], further?: number) {
    const database = await openDatabase<{
      component_migrations: { component: string; version: number; time: string };
    }>(settingsOf({ file }), { logger: SILENT });
    const { audit } = await auditOf(database.as<unknown>(), [write]);
    await audit.close();
    for (const version of without) {
      await database.kysely
        .deleteFrom("component_migrations")
        .where("version", ">=", version)
        .execute();
    }
    if (further !== undefined) {
      const row = { component: "audit", version: further, time: "" };
      await database.kysely.insertInto("component_migrations").values(row).execute();
    }
    await database.close();
  }

  test.each([8, 14])(
    "an unwritable folder is explained without a request to write to it: error %s",
    async (errcode) => {
      const file = join(folder, `${++count}.db`);
      await (await openDatabase(settingsOf({ file }), { logger: SILENT })).close();
      const database = new ReadOnlySqlite(file);
      const { message } = database.explain(Object.assign(new Error(), { errcode }));
      await database.close();
      expect(message).toMatch(/user \d+ cannot read .*: run as the user of the service, or copy/);
    },
  );

  test("a configuration names the log; one without a database is refused", async () => {
    const file = join(folder, `${++count}.db`);
    const database = await keep(openDatabase<unknown>(settingsOf({ file }), { logger: SILENT }));
    const { audit } = await auditOf(database, [write]);
    const log = await openAuditLog({ config: { database: settingsOf({ file }) } });
    expect((await log.list()).events).toEqual([]);
    await log.close();
    await expect(openAuditLog({ config: {} })).rejects.toThrow("has no database");
    await audit.close();
  });
});

await onPostgres("reading the audit in PostgreSQL", ({ url }) => {
  const open = (schema: string) =>
    keep(
      openDatabase<unknown>(settingsOf({ driver: "postgres", url }), { logger: SILENT, schema }),
    );
  auditReadingContract(async () => {
    const schema = `Audit ${randomUUID()}`;
    return { first: await open(schema), again: () => open(schema) };
  });

  test("an event that commits after a later one is not missed", async () => {
    const schema = `Audit ${randomUUID()}`;
    const database = (await open(schema)).as<AuditTables>();
    const { audit } = await auditOf(database.as<unknown>(), [write]);
    const log = new StoredAuditLog(database, Date.now, 5);
    const after = await log.position();
    const end = new AbortController();
    const seen: string[] = [];
    let isStored: (() => void) | undefined;
    const stored = new Promise<void>((resolve) => {
      isStored = resolve;
    });
    // A replica with a long transaction has the smaller number.
    const slow = database.kysely.transaction().execute(async (transaction) => {
      const texts = Object.fromEntries(AUDIT_COLUMNS.map((column) => [column, ""]));
      const event = JSON.stringify({ data: { request_id: "slow" } });
      const row = { ...texts, id: randomUUID(), time: 1, expires: 1, state: "completed", event };
      await transaction
        .insertInto("audit_events")
        .values({ ...row, change: nextChange(database) } as never)
        .execute();
      await audit.trail.complete(callOf(write, { requestId: "fast" }), undefined);
      isStored?.();
      // Followers read while it is open.
      for (let looks = 0; looks < 5; looks++) {
        await sql`select 1`.execute(transaction);
        await log.position();
      }
    });
    const following = (async () => {
      await stored;
      for await (const { event } of log.follow({}, { after, signal: end.signal })) {
        seen.push(event.data.request_id);
        if (seen.length === 2) end.abort();
      }
    })();
    await slow;
    await following;
    expect(seen).toEqual(["slow", "fast"]);
    await audit.close();
  });
});
