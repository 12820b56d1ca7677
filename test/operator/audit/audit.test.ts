import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import { formatEvent } from "../../../src/operator/audit/format-event.ts";
import type { AuditEvent } from "../../../src/runtime/audit/event/audit-event.ts";
import type { ServiceAudit } from "../../../src/runtime/audit/open-audit.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { auditOf } from "../../runtime/audit/audits.ts";
import { callOf, methodOf, principalOf } from "../../runtime/authorization/calls.ts";
import { runSvcAccess } from "../../support/svc-access.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/workspace.ts";

const write = methodOf(
  { audit: { event: "doc.write", riskLevel: "HIGH" } },
  { rpc: "a.v1.S/Write", isWrite: true },
);
const folder = mkdtempSync(join(tmpdir(), "svc-access-audit-command-"));
const file = join(folder, "notes.db");
let database: Database<unknown>;
let audit: ServiceAudit;

const command = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runSvcAccess(["audit", ...args], { env });
const lines = (text: string) => text.split("\n").filter((line) => line !== "");

/** The service runs the whole time, in this process. */
beforeAll(async () => {
  database = await openDatabase<unknown>(settingsOf({ file }), { logger: SILENT });
  ({ audit } = await auditOf(database, [write]));
  for (let count = 0; count < 3; count++) await store(`r${count}`, "alice", "allowed");
  await store("r3", "bob", "denied");
});
afterAll(async () => {
  await audit.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function store(requestId: string, subjectId: string, decision: "allowed" | "denied") {
  const call = callOf(write, { principal: principalOf({ subjectId }), requestId });
  call.resource = "doc:d1";
  call.decision = decision;
  if (decision === "allowed") await audit.trail.begin(call);
  await audit.trail.complete(
    call,
    decision === "allowed" ? undefined : new ServiceError("FORBIDDEN"),
  );
  // Events of the same millisecond have no certain order.
  const stored = Date.now();
  await until("the next millisecond", () => Date.now() > stored);
}

describe("svc-access audit, of a running service", () => {
  test("list prints the newest events first, with filters and page by page [AUDIT-6]", () => {
    const requests = (...flags: string[]) => {
      const { status, stdout } = command(["list", "--store", file, "--format", "ndjson", ...flags]);
      expect(status).toBe(0);
      return lines(stdout).map((line) => JSON.parse(line).data.request_id);
    };
    expect(requests()).toEqual(["r3", "r2", "r1", "r0"]);
    for (const [flags, found] of [
      [["--principal", "user:bob"], ["r3"]],
      [
        ["--principal-id", "alice"],
        ["r2", "r1", "r0"],
      ],
      [["--decision", "denied", "--risk-level", "HIGH", "--state", "completed"], ["r3"]],
      [
        ["--event", "doc.write", "--rpc", "a.v1.S/Write", "--resource", "doc:d1", "--code", "OK"],
        ["r2", "r1", "r0"],
      ],
      [["--request-id", "r1", "--organization", "acme", "--from", "1h"], ["r1"]],
      [["--to", "1d"], []],
      [["--from", "2001-01-01", "--to", "2001-01-02T10:00:00Z"], []],
    ] as const) {
      expect(requests(...flags), flags.join(" ")).toEqual(found);
    }
    const first = command(["list", "--store", file, "--limit", "3"]);
    expect(first.stdout).toMatch(
      /^\S+Z FORBIDDEN HIGH doc\.write user:bob doc:d1 denied a\.v1\.S\/Write \d+ms r3\n/,
    );
    const [, cursor = ""] = /--cursor (\S+)/.exec(first.stderr) ?? [];
    expect(requests("--limit", "3", "--cursor", cursor)).toEqual(["r0"]);
    const json = JSON.parse(
      command(["list", "--format", "json"], { SVC_ACCESS_STORE: file }).stdout,
    );
    expect(json.events).toHaveLength(4);
  });

  test("export writes all events, oldest first, as lines of JSON, JSON or text", () => {
    const { status, stdout, stderr } = command(["export", "--store", file]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "svc-access: 4 events\n" });
    const events = lines(stdout).map((line) => JSON.parse(line));
    expect(events.map(({ data }) => data.request_id)).toEqual(["r0", "r1", "r2", "r3"]);
    expect(events[0].specversion).toBe("1.0");
    const flags = ["export", "--store", file, "--order", "newest"];
    expect(JSON.parse(command([...flags, "--format", "json"]).stdout)).toEqual(events.reverse());
    expect(lines(command([...flags, "--format", "text", "--decision", "denied"]).stdout)).toEqual([
      expect.stringContaining("user:bob doc:d1 denied"),
    ]);
  });

  test("follow prints new events, ends on SIGTERM with 0, and continues from its position", async () => {
    const positions = join(folder, "archive.position");
    const follow = () =>
      spawn(
        process.execPath,
        [
          join(ROOT, "bin/svc-access"),
          "audit",
          "follow",
          "--store",
          file,
          "--position-file",
          positions,
          "--format",
          "ndjson",
          "--state",
          "completed",
        ],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
    const request = (line: string | undefined) => JSON.parse(line ?? "").data.request_id;
    // The position exists as soon as it follows.
    const first = follow();
    const output = createInterface({ input: first.stdout })[Symbol.asyncIterator]();
    await expect
      .poll(() => existsSync(positions), { message: "the file of positions exists" })
      .toBe(true);
    await store("f0", "alice", "allowed");
    await store("f1", "alice", "allowed");
    expect(request((await output.next()).value)).toBe("f0");
    expect(request((await output.next()).value)).toBe("f1");
    first.kill("SIGTERM");
    expect(await once(first, "exit")).toEqual([0, null]);
    await store("f2", "alice", "allowed");
    const second = follow();
    const more = createInterface({ input: second.stdout })[Symbol.asyncIterator]();
    expect(request((await more.next()).value)).toBe("f2");
    second.kill("SIGINT");
    expect(await once(second, "exit")).toEqual([0, null]);
    expect(readFileSync(positions, "utf8")).toMatch(/^[\w-]+\n$/);
  });

  test("follow --from starts with the events since then", async () => {
    const following = spawn(
      process.execPath,
      [join(ROOT, "bin/svc-access"), "audit", "follow", "--store", file, "--from", "1h"],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const output = createInterface({ input: following.stdout })[Symbol.asyncIterator]();
    expect((await output.next()).value).toMatch(/ r0$/);
    following.kill("SIGTERM");
    expect(await once(following, "exit")).toEqual([0, null]);
  });

  test("the text of an event for repeated denials has their number and the last time", () => {
    const repeats = {
      of: "a",
      count: 7,
      first: "",
      last: "2026-11-22T12:03:04Z",
      distinct_resources: 1,
      resources: [],
    };
    const data = { state: "completed", code: "FORBIDDEN", request_id: "r", repeats };
    const event = { time: "t", type: "doc.write", data } as unknown as AuditEvent;
    expect(formatEvent(event)).toContain("×7 until 2026-11-22T12:03:04Z");
  });

  test("follow ends, with an error that names the fix, if a backup replaces the file", async () => {
    const own = join(folder, "replaced.db");
    await backup(own);
    const positions = join(folder, "replaced.position");
    const following = spawn(
      process.execPath,
      [
        join(ROOT, "bin/svc-access"),
        "audit",
        "follow",
        "--store",
        own,
        "--position-file",
        positions,
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    await expect
      .poll(() => existsSync(positions), { message: "the file of positions exists" })
      .toBe(true);
    await backup(`${own}.restored`);
    renameSync(`${own}.restored`, own);
    let stderr = "";
    for await (const chunk of following.stderr) stderr += chunk;
    expect(stderr).toMatch(
      /replaced\.db was removed or replaced while it is open: restart the process/,
    );
    expect(following.exitCode ?? (await once(following, "exit"))[0]).toBe(2);
  });

  test("a code that only a service can define is noted, with the nearest of the platform", () => {
    const { status, stderr } = command(["list", "--store", file, "--code", "FORBIDEN"]);
    expect(status).toBe(0);
    expect(stderr).toMatch(/FORBIDEN is not a code of the platform.*did you mean "FORBIDDEN"/);
  });

  async function backup(to: string): Promise<void> {
    await sql`vacuum into ${to}`.execute(database.kysely);
  }

  test.each<[what: string, args: string[], message: RegExp]>([
    ["no store", ["list"], /--store <file or URL> or --config/],
    ["a missing file", ["list", "--store", join(folder, "no.db")], /does not exist/],
    [
      "a file that is not a database",
      ["export", "--store", join(ROOT, "README.md")],
      /not? .*SQLite database/,
    ],
    [
      "a URL of another kind",
      ["list", "--store", "mysql://root:s3cret@db/x"],
      /begins with postgres/,
    ],
    [
      "an unreachable server",
      ["follow", "--store", "postgres://root:s3cret@127.0.0.1:1/x"],
      /cannot be reached/,
    ],
    ["a missing configuration", ["list", "--config", join(folder, "no.yaml")], /no\.yaml/],
    [
      "a store and a configuration",
      ["list", "--store", file, "--config", "x.yaml"],
      /cannot be used with/,
    ],
    [
      "an invalid time",
      ["list", "--store", file, "--from", "yesterday"],
      /--from "yesterday" is not a time.*7d/,
    ],
    [
      "an RPC without its service",
      ["list", "--store", file, "--rpc", "SetItem"],
      /--rpc "SetItem" is not the full name of an RPC: write package\.Service\/Method/,
    ],
    ...(["event", "principal-id", "resource", "code", "request-id", "trace-id"].map((name) => [
      `an empty --${name}, as of an unset variable`,
      ["export", "--store", file, `--${name}`, ""],
      new RegExp(`--${name} is empty: write .*, or leave the flag out`),
    ]) as [string, string[], RegExp][]),
    [
      "a wildcard in an event",
      ["list", "--store", file, "--event", "doc.*"],
      /--event "doc\.\*" has a wildcard: write the whole type/,
    ],
    [
      "a code in another case",
      ["list", "--store", file, "--code", "Ok"],
      /--code "Ok" is not a code, which is upper case.*did you mean "OK"/,
    ],
    ["an invalid day", ["list", "--store", file, "--to", "2026-13-40"], /is not a time/],
    [
      "from after to",
      ["list", "--store", file, "--from", "1h", "--to", "2h"],
      /from is later than to/,
    ],
    ["a principal without a type", ["list", "--store", file, "--principal", "alice"], /type:id/],
    [
      "two principals",
      ["list", "--store", file, "--principal", "user:a", "--principal-id", "a"],
      /cannot be combined/,
    ],
    ["a page that is too large", ["list", "--store", file, "--limit", "501"], /1 to 500/],
    [
      "a cursor of another filter",
      ["list", "--store", file, "--cursor", "x"],
      /cursor is malformed/,
    ],
    [
      "an invalid decision",
      ["list", "--store", file, "--decision", "maybe"],
      /allowed, denied, none/,
    ],
    ["an unknown flag", ["export", "--store", file, "--form", "text"], /unknown option "--form"/],
    [
      "a position that is not valid",
      ["follow", "--store", file, "--position-file", join(folder, "bad.position")],
      /bad\.position: the position is malformed: delete the file/,
    ],
    [
      "a position file that was emptied",
      ["follow", "--store", file, "--position-file", join(folder, "empty.position")],
      /empty\.position is empty: delete the file and start again, with --from-start/,
    ],
    ...[
      "root:s3cret@db:1/x",
      "postgres:root:s3cret@db/x",
      "host=db password=s3cret",
      "root:s3cret",
      "postgres://root:12/s3cret@db/x",
      "postgres://root:12?s3cret@db/x",
      "postgres://root:12#s3cret@db/x",
      "postgresql:/root:s3cret@db/x",
      "s3cret@db",
    ].map((store): [string, string[], RegExp] => [
      `a store ${store}`,
      ["list", "--store", store],
      /write postgres:\/\/|begins with postgres:\/\//,
    ]),
  ])("wrong usage exits with 2 and names the fix: %s", (_, args, message) => {
    writeFileSync(join(folder, "bad.position"), "x\n");
    writeFileSync(join(folder, "empty.position"), "\n");
    const { status, stdout, stderr } = command(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/s3cret|internal error/);
  });

  test("help shows examples", () => {
    for (const args of [
      ["--help"],
      ["list", "--help"],
      ["export", "--help"],
      ["follow", "--help"],
    ]) {
      const { status, stdout } = command(args);
      expect({ status, has: stdout.includes("Examples:") }).toEqual({ status: 0, has: true });
    }
    expect(runSvcAccess(["--help"]).stdout).toContain("audit list|export|follow");
  });
});
