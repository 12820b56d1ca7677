import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import type { AuditLog } from "../../../src/runtime/audit/log/audit-log.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { callOf, methodOf, principalOf } from "../authorization/calls.ts";
import { auditLogContract } from "./audit-log-contract.ts";
import { auditOf } from "./audits.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-audit-"));
let count = 0;
const freshFile = () => join(folder, `audit-${++count}.db`);
const open = (file: string) => openDatabase<unknown>(settingsOf({ file }), { logger: SILENT });
const opened: Database<unknown>[] = [];
const fresh = async (file = freshFile()) => {
  const database = await open(file);
  opened.push(database);
  return database;
};
afterAll(async () => {
  for (const database of opened) await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = methodOf({ audit: { event: "doc.write", riskLevel: "HIGH" } });

describe("audit in SQLite", () => {
  auditLogContract(fresh);

  test("with a full disk, audited writes are refused and other calls are served; with free space, writes work again [STORE-3]", async () => {
    const database = await fresh();
    const { audit } = await auditOf(database, [write]);
    const log = audit.log as AuditLog;
    await sql`pragma max_page_count = 60`.execute(database.kysely);
    let begun = 0;
    const fill = async () => {
      for (;;) {
        await audit.trail.begin(callOf(write, { principal: principalOf() }));
        begun++;
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: "UNAVAILABLE", status: 503 });
    expect(begun).toBeGreaterThan(10);
    const denied = callOf(write);
    denied.decision = "denied";
    await audit.trail.complete(denied, new ServiceError("FORBIDDEN"));
    await sql`pragma max_page_count = 100000`.execute(database.kysely);
    await expect
      .poll(async () => (await log.list({ decision: "denied" })).events.length, {
        message: "the denied call is audited",
      })
      .toBe(1);
    await audit.trail.begin(callOf(write));
    await audit.close();
  });

  test("a killed process loses no acknowledged event", async () => {
    const file = freshFile();
    const script = fileURLToPath(new URL("child-audit.ts", import.meta.url));
    const child = spawn(process.execPath, [script, file], { stdio: ["ignore", "pipe", "inherit"] });
    const said = { begun: new Set<string>(), completed: new Set<string>() };
    const exit = once(child, "exit");
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) {
      const [kind = "", id = ""] = line.split(" ");
      said[kind as keyof typeof said].add(id);
      if (said.completed.size === 100) child.kill("SIGKILL");
    }
    await exit;
    const { audit } = await auditOf(await fresh(file), [write]);
    const log = audit.log as AuditLog;
    const stored = new Map<string, string>();
    let cursor: string | undefined;
    do {
      const page = await log.list({}, cursor === undefined ? {} : { cursor });
      for (const { data } of page.events) stored.set(data.request_id, data.state);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    for (const id of said.begun) expect(stored.has(id), id).toBe(true);
    for (const id of said.completed) expect(stored.get(id), id).toBe("completed");
    expect(said.completed.size).toBeGreaterThanOrEqual(100);
    await audit.close();
  });
});
