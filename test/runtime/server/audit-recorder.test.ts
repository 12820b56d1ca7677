/** Audit events that a service records outside of calls. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { openServiceDatabase } from "../../../src/database/service/index.ts";
import { formatEvent } from "../../../src/operator/audit/format-event.ts";
import {
  type AuditEvent,
  type AuditRecord,
  createLogger,
  openAuditLog,
  openAuditRecorder,
} from "../../../src/runtime/index.ts";
import { onPostgres } from "../../authz/on-postgres.ts";
import { startVault, vaultConfiguration } from "../support/vault-server.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-recorder-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const sqlite = () => ({ database: { driver: "sqlite", file: join(folder, `${++count}.db`) } });

async function openRecorder(section: object) {
  const configuration = vaultConfiguration(folder, {}, section);
  const { config } = configuration;
  const lines: string[] = [];
  const logger = createLogger({ destination: { write: (line: string) => void lines.push(line) } });
  const database = await openServiceDatabase(config, { component: "topics", migrations: [] });
  const recorder = await openAuditRecorder(config, { database, logger });
  return { config, database, recorder, logger, lines };
}

/** What another process reads. */
async function stored(config: Parameters<typeof openAuditRecorder>[0]): Promise<AuditEvent[]> {
  const log = await openAuditLog({ config });
  const { events } = await log.list();
  await log.close();
  return [...events];
}

describe("it refuses", () => {
  test.each<[string, object]>([
    ["an event without a name", {}],
    ["a name that is not one", { event: "Topics" }],
    ["an unknown member", { event: "topics.imported", who: "alice" }],
    ["a resource that is not an object", { event: "topics.imported", resource: "topics" }],
    ["a risk that is not one", { event: "topics.imported", riskLevel: "BAD" }],
    ["mustBeStored that is a text", { event: "topics.imported", mustBeStored: "yes" }],
    ["a detail that is not a short value", { event: "topics.imported", details: { of: {} } }],
  ])("%s", async (_, record) => {
    const { database, recorder } = await openRecorder(sqlite());
    onTestFinished(() => database.close());
    await expect(recorder.record(record as AuditRecord)).rejects.toThrow(TypeError);
  });

  test("an event after it was closed", async () => {
    const { config, database, recorder } = await openRecorder(sqlite());
    onTestFinished(() => database.close());
    await recorder.close();
    await recorder.close();
    await expect(recorder.record({ event: "topics.imported" })).rejects.toThrow(/too late/);
    expect(await stored(config)).toEqual([]);
  });

  test("a database of another making", async () => {
    const { config, database } = await openRecorder(sqlite());
    onTestFinished(() => database.close());
    const other = { ...database, name: "other" };
    await expect(openAuditRecorder(config, { database: other as never })).rejects.toThrow(
      /openServiceDatabase/,
    );
  });
});

const RECORD: AuditRecord = {
  event: "topics.imported",
  riskLevel: "HIGH",
  resource: "topic:t1",
  details: { count: 3, token: "very-secret" },
};

const contract = async (section: object) => {
  const { config, database, recorder, lines } = await openRecorder(section);
  await recorder.record(RECORD);
  const events = await stored(config);
  await recorder.close();
  await database.close();
  return { events, lines };
};

test("an event is stored and logged, without a call and without secrets", async () => {
  const { events, lines } = await contract(sqlite());
  expect(events).toMatchObject([
    {
      source: "/svc/vault",
      type: "topics.imported",
      subject: "topic:t1",
      data: {
        state: "completed",
        risk_level: "HIGH",
        rpc: "",
        request_id: "",
        client_address: "",
        decision: "none",
        code: "OK",
        details: { count: 3 },
      },
    },
  ]);
  expect(events[0]?.data).not.toHaveProperty("transport");
  expect(events[0]).not.toHaveProperty("traceparent");
  expect(JSON.stringify(events) + lines.join()).not.toContain("very-secret");
  expect(lines.map((line) => JSON.parse(line).audit)).toEqual(events);
  expect(formatEvent(events[0] as AuditEvent)).toMatch(
    /^\S+Z OK HIGH topics\.imported - topic:t1 none - -$/,
  );
});

test("an event that must be stored is refused while it cannot be, and not stored later", async () => {
  const { config, database, recorder, lines } = await openRecorder(sqlite());
  onTestFinished(() => database.close());
  const rename = (from: string, to: string) =>
    database.kysely.schema.alterTable(from).renameTo(to).execute();
  await rename("audit_events", "locked");
  const event = { event: "topics.imported", mustBeStored: true };
  await expect(recorder.record(event)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await recorder.record({ event: "topics.waits" });
  await rename("locked", "audit_events");
  await recorder.record(event);
  await recorder.close();
  const events = await stored(config);
  expect(events.map(({ type }) => type).sort()).toEqual(["topics.imported", "topics.waits"]);
  const logged = lines.map((line) => JSON.parse(line)).filter(({ audit }) => audit !== undefined);
  expect(logged.map(({ audit }) => audit.type)).toEqual(["topics.waits", "topics.imported"]);
});

await onPostgres("a recorder of audit events in PostgreSQL", ({ url, query }) => {
  test("stores them beside those of calls", async () => {
    await query("create database recorder");
    const own = Object.assign(new URL(url), { pathname: "/recorder" }).href;
    const database = { driver: "postgres", url: own, max_open_conns: 2, max_idle_conns: 2 };
    const { events } = await contract({ database });
    expect(events.map(({ type }) => type)).toEqual(["topics.imported"]);
  });
});

test("a server counts its events, has its name, and closes it after onClose", async () => {
  const section = sqlite();
  const { config, database, recorder, logger } = await openRecorder(section);
  let resolve = () => {};
  const hasRun = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  const vault = await startVault({
    config: section,
    database,
    auditRecorder: recorder,
    logger,
    jobs: [
      {
        name: "import",
        every: "100ms",
        run: () => recorder.record({ event: "topics.imported" }).then(() => resolve()),
      },
    ],
    onClose: () => recorder.record({ event: "topics.closed" }),
  });
  await hasRun;
  const metrics = await (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
  expect(metrics).toMatch(/svc_access_audit_events_total\{outcome="stored"\} [1-9]/);
  await vault.stop();
  await expect(recorder.record({ event: "topics.late" })).rejects.toThrow(/too late/);
  const events = await stored(config);
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["topics.imported", "topics.closed"]),
  );
  expect(new Set(events.map(({ data }) => data.instance)).size).toBe(1);
});

test("it names whom it was opened for", async () => {
  const { config, database, recorder, logger } = await openRecorder(sqlite());
  onTestFinished(() => database.close());
  const principal = { type: "operator", id: "deploy", source: "internal", organization: "acme" };
  const named = await openAuditRecorder(config, { database, logger, principal });
  for (const one of [recorder, named]) await one.record({ event: "topics.imported" });
  await recorder.close();
  await named.close();
  const principals = (await stored(config)).map(({ data }) => data.principal);
  expect(principals).toHaveLength(2);
  expect(principals).toEqual(expect.arrayContaining([undefined, principal]));
});
