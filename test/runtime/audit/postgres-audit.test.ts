import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import type { AuditLog } from "../../../src/runtime/audit/log/audit-log.ts";
import { Retention } from "../../../src/runtime/audit/retention/retention.ts";
import type { AuditTables } from "../../../src/runtime/audit/tables/audit-table.ts";
import { visibleHead } from "../../../src/runtime/audit/tables/change-order.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { openPostgres } from "../../support/postgres.ts";
import { callOf, methodOf, principalOf } from "../authorization/calls.ts";
import { auditLogContract } from "./audit-log-contract.ts";
import { auditOf } from "./audits.ts";

const server = await openPostgres();
afterAll(() => server?.remove());

if (server === undefined) {
  const why = "PostgreSQL is not installed and POSTGRES_URL is not set";
  // In CI it must be available.
  if (process.env["CI"] === "true") test("PostgreSQL is available", () => expect.fail(why));
  else test.skip(`audit in PostgreSQL: ${why}`, () => undefined);
} else {
  const { url, stop, start } = server;
  const opened: Database<unknown>[] = [];
  const open = async (schema: string) => {
    const settings = settingsOf({ driver: "postgres", url });
    const database = await openDatabase<unknown>(settings, { logger: SILENT, schema });
    opened.push(database);
    return database;
  };
  const write = methodOf({ audit: { event: "doc.write", riskLevel: "HIGH" } });

  describe("audit in PostgreSQL [STORE-1]", () => {
    afterAll(async () => {
      for (const database of opened) await database.close();
    });
    auditLogContract(() => open(`Audit ${randomUUID()}`));

    test("replicas that start concurrently share one table", async () => {
      const schema = `Audit ${randomUUID()}`;
      const replicas = await Promise.all(
        Array.from({ length: 6 }, async () => auditOf(await open(schema), [write])),
      );
      for (const { audit } of replicas) {
        const call = callOf(write);
        await audit.trail.begin(call);
        await audit.trail.complete(call, undefined);
      }
      const [first] = replicas;
      expect((await first?.audit.log?.list())?.events).toHaveLength(6);
      for (const { audit } of replicas) await audit.close();
    });

    test("a replica with a wrong clock removes nothing, and logs nothing", async () => {
      const database = (await open(`Audit ${randomUUID()}`)).as<AuditTables>();
      const { audit } = await auditOf(database.as<unknown>(), [write]);
      await audit.trail.begin(callOf(write));
      const warnings: string[] = [];
      const logger = { ...SILENT, warn: (_: object, text: string) => void warnings.push(text) };
      let monotonic = 0;
      for (const days of [0, 40, -40, 4000]) {
        const now = () => Date.now() + days * 86_400_000;
        const clocks = { now, monotonic: () => monotonic };
        const retention = new Retention(86_400_000, database, logger, { clocks });
        for (let look = 0; look < 3; look++) {
          await retention.run();
          monotonic += 300_000;
        }
      }
      expect((await audit.log?.list())?.events).toHaveLength(1);
      expect(warnings).toEqual([]);
      await audit.close();
    });

    test("changes stay in order in a database that is restored on another server", async () => {
      const schema = `Audit ${randomUUID()}`;
      const database = (await open(schema)).as<AuditTables>();
      const first = await auditOf(database.as<unknown>(), [write]);
      await first.audit.trail.begin(callOf(write));
      // The counter of the original server was higher.
      await database.kysely
        .updateTable("audit_events")
        .set({ change: 10 ** 14 })
        .execute();
      await first.audit.close();
      const { audit } = await auditOf(database.as<unknown>(), [write]);
      await audit.trail.begin(callOf(write));
      const rows = await database.kysely
        .selectFrom("audit_events")
        .select(["change", "id"])
        .orderBy("change")
        .execute();
      expect(rows.map(({ change }) => Number(change) >= 10 ** 14)).toEqual([true, true]);
      expect(Number(rows[1]?.change)).toBeGreaterThan(10 ** 14);
      await expect
        .poll(() => visibleHead(database), {
          message: "the head passes the changes of the other server",
        })
        .toBeGreaterThanOrEqual(Number(rows[1]?.change));
      await audit.close();
    });

    test.skipIf(stop === undefined)(
      "a restart of the server under load loses no acknowledged event, and the audit recovers",
      async () => {
        const database = await open(`Audit ${randomUUID()}`);
        const { audit } = await auditOf(database, [write]);
        const log = audit.log as AuditLog;
        const begun: string[] = [];
        const completed: string[] = [];
        const refused: unknown[] = [];
        let isOver = false;
        const worker = async (name: number) => {
          for (let count = 0; !isOver; count++) {
            const requestId = `${name}-${count}`;
            const call = callOf(write, { principal: principalOf(), requestId });
            try {
              await audit.trail.begin(call);
              begun.push(requestId);
              await audit.trail.complete(call, undefined);
              completed.push(requestId);
            } catch (error) {
              refused.push(error);
              await audit.trail.complete(call, error as ServiceError);
              await new Promise((resolve) => setTimeout(resolve, 20));
            }
          }
        };
        const workers = Array.from({ length: 16 }, (_, name) => worker(name));
        await expect
          .poll(() => completed.length, {
            message: "two hundred events are completed before the restart",
          })
          .toBeGreaterThan(200);
        stop?.();
        await expect
          .poll(() => refused.length, { message: "sixteen writes are refused during the outage" })
          .toBeGreaterThan(16);
        const denied = callOf(write, { requestId: "denied" });
        await audit.trail.complete(denied, new ServiceError("FORBIDDEN"));
        expect(await database.ready()).toMatchObject({ ready: false });
        await expect(log.list()).rejects.toMatchObject({ code: "UNAVAILABLE" });
        const before = completed.length;
        start?.();
        await expect
          .poll(() => completed.length, {
            message: "two hundred events are completed after the restart",
          })
          .toBeGreaterThan(before + 200);
        isOver = true;
        await Promise.all(workers);
        for (const error of refused) expect(error).toMatchObject({ code: "UNAVAILABLE" });
        const states = async () => {
          const found = new Map<string, string>();
          let cursor: string | undefined;
          do {
            const page = await log.list(
              {},
              { pageSize: 500, ...(cursor === undefined ? {} : { cursor }) },
            );
            for (const { data } of page.events) found.set(data.request_id, data.state);
            cursor = page.nextCursor;
          } while (cursor !== undefined);
          return found;
        };
        // Events that waited while the server was down are stored in the background.
        const isComplete = async () => {
          const found = await states();
          return [...begun, "denied"].every((id) => found.get(id) === "completed");
        };
        await expect
          .poll(isComplete, { message: "all acknowledged events are in the log", interval: 200 })
          .toBe(true);
        expect(await database.ready()).toEqual({ ready: true });
        await audit.close();
      },
    );
  });
}
