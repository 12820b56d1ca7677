/**
 * With any content of arguments, file names and stored values, the output of the program has no control
 * characters, and begins no command of a CI system. Its JSON keeps its meaning.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmbeddedEngine, openSqliteStore, parseModel } from "../../src/authz/index.ts";
import { openDatabase } from "../../src/database/service/open-database.ts";
import { expectHarmless } from "../common/hostile-text.ts";
import { SILENT, settingsOf } from "../database/settings.ts";
import { auditOf } from "../runtime/audit/audits.ts";
import { callOf, methodOf, principalOf } from "../runtime/authorization/calls.ts";
import type { Outcome } from "../support/programs.ts";
import { runSvcAccess } from "../support/svc-access.ts";
import { ROOT, Workspace } from "../support/workspace.ts";

const HOSTILE = "\u001b[31mx\u202e\n::stop-commands::y ##[add-mask]z\u0085\u2066";
/** The same, with the characters that object ids allow. */
const ID = "eve\u202e\u2066\u200b";

const folder = mkdtempSync(join(tmpdir(), "svc-access-hostile-names-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Outcome {
  const outcome = runSvcAccess(args, { cwd: folder, env });
  expectHarmless(outcome.stdout);
  expectHarmless(outcome.stderr);
  return outcome;
}

describe("usage errors", () => {
  const commands = [
    [],
    ["lint"],
    ["generate"],
    ["routes"],
    ["explain"],
    ["init"],
    ["model"],
    ...["check", "test", "diff", "merge", "explain"].map((name) => ["model", name]),
    ["audit"],
    ...["list", "export", "follow"].map((name) => ["audit", name]),
    ["relationship"],
    ...["list", "delete", "touch"].map((name) => ["relationship", name]),
    ["database"],
    ["database", "migrate"],
  ];
  test.each(commands.map((command) => [command.join(" ") || "the program", command] as const))(
    "of %s",
    (_, command) => {
      const failures = [
        [...command, `--${HOSTILE}`],
        [...command, "--format", HOSTILE],
        [...command, `--config=${HOSTILE}`, HOSTILE, HOSTILE, HOSTILE],
        [...command, `--store=${HOSTILE}`, `--model=${HOSTILE}`, HOSTILE],
      ];
      for (const args of failures) {
        const { status, stdout, stderr } = run(args);
        expect({ status, stdout }, args.join(" ")).toEqual({ status: 2, stdout: "" });
        expect(stderr).not.toBe("");
      }
    },
    120_000,
  );

  test("with the place of the error in the program", () => {
    for (const args of [
      ["audit", "list", "--principal", HOSTILE],
      ["relationship", "list", "--subject", HOSTILE, "--store", HOSTILE],
      ["lint", HOSTILE],
    ]) {
      const { status, stderr } = run(args, { SVC_ACCESS_DEBUG: "1" });
      expect(status).toBe(2);
      expect(stderr).toMatch(/^ +at /m);
    }
  });
});

describe("the compiler", () => {
  const PROTO = `syntax = "proto3"; package hub.v1;
import "google/api/annotations.proto";
import "svc/access/v1/policy.proto";
message R { string id = 1; }
service S {
rpc Get(R) returns (R) {
  option (google.api.http) = {get: "/v1/\u202e##[add-mask]/{id}"};
  option (svc.access.v1.policy) = {exposure: AUTHORIZED authz: {action: "\u202e##[x]" resource: "item:{id}"}};
}
rpc Set(R) returns (R) {
  option (svc.access.v1.policy) = {exposure: AUTHORIZED authz: {action: "\u202e##[x]" resource: "item:{id}"}};
} }`;

  test("routes and explain", () => {
    using workspace = new Workspace({ "hub/v1/hub.proto": PROTO });
    writeFileSync(join(folder, "image.binpb"), workspace.build());
    for (const format of ["text", "json"]) {
      expect(run(["routes", "--format", format, "image.binpb"]).stdout).toContain("hub.v1.S/Set");
      expect(run(["lint", "--format", format, "image.binpb"]).stdout).toContain("\\u202e");
    }
    for (const format of ["text", "json"]) {
      const { stdout, stderr } = run(["explain", "--format", format, "image.binpb", "Set"]);
      expect(stdout + stderr).toContain("\\u202e");
      expect(run(["explain", "--format", format, "image.binpb", HOSTILE]).status).toBe(2);
    }
  });

  test("the model commands, with hostile file names", () => {
    const model = `${HOSTILE}.zed`;
    const other = `other ${HOSTILE}.zed`;
    writeFileSync(join(folder, model), "definition user {}\n");
    writeFileSync(
      join(folder, other),
      "definition user {}\ndefinition doc { relation own: user\n}\n",
    );
    writeFileSync(join(folder, `wrong ${HOSTILE}.zed`), `definition ${HOSTILE} {}\n`);
    const failing = `schemaFile: ${JSON.stringify(other)}
relationships: "doc:a#own@user:x"
assertions: {assertFalse: ["doc:a#own@user:x"]}\n`;
    writeFileSync(join(folder, `test ${HOSTILE}.yaml`), failing);
    const formats = [
      ["--format", "text"],
      ["--format", "json"],
    ];
    for (const format of formats) {
      const merged = run(["model", "merge", ...format, model, other]);
      expect(merged.status).toBe(0);
      expect(merged.stdout).toContain("\\u202e");
      run(["model", "merge", ...format, model, other, "--output", `out ${HOSTILE}.zed`]);
      const conflict = `conflict ${HOSTILE}.zed`;
      writeFileSync(join(folder, conflict), "definition user { relation own: user\n}\n");
      const refused = run(["model", "merge", ...format, model, conflict]);
      expect(refused.status).toBe(1);
      expect(refused.stdout + refused.stderr).toContain("MODEL_MERGE_CONFLICT");
      expect(run(["model", "check", ...format, model]).status).toBe(0);
      expect(run(["model", "check", ...format, `wrong ${HOSTILE}.zed`]).status).toBe(1);
      expect(run(["model", "diff", ...format, other, model]).status).toBe(1);
      expect(run(["model", "test", ...format, `test ${HOSTILE}.yaml`]).status).toBe(1);
      expect(run(["model", "explain", ...format, other, HOSTILE, HOSTILE]).status).toBe(2);
    }
    const json = run(["model", "merge", "--format", "json", model, other]).stdout;
    expect(JSON.parse(json).model).toContain("definition doc {");
  });

  test("init, in a folder with a hostile name", () => {
    const inside = join(folder, "repository", HOSTILE.replaceAll("\n", " "));
    mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, "a.proto"), 'syntax = "proto3"; package a.v1;\n');
    const { stdout, stderr } = run(["init", join(folder, "repository")]);
    expect(stdout + stderr).not.toBe("");
  });
});

describe("the commands of an operator", () => {
  const notes = join(folder, "notes.db");
  const relationships = join(folder, "notes.relationships.db");

  beforeAll(async () => {
    const { model } = parseModel(
      "definition user {}\ndefinition doc { relation own: user\n}\n",
      "m",
    );
    const store = await openSqliteStore({ file: relationships });
    const engine = await createEmbeddedEngine({ model, store });
    const relationship = {
      resource: { type: "doc", id: ID },
      relation: "own",
      subject: { type: "user", id: ID },
    };
    await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
    await engine.close();

    const database = await openDatabase<unknown>(settingsOf({ file: notes }), { logger: SILENT });
    const method = methodOf(
      { audit: { event: "doc.write", riskLevel: "HIGH" } },
      { rpc: "a.v1.S/Write", isWrite: true },
    );
    const { audit } = await auditOf(database, [method]);
    const call = callOf(method, {
      principal: principalOf({ subjectId: "alice" }),
      requestId: "r0",
    });
    call.resource = "doc:MARK";
    await audit.trail.begin(call);
    await audit.trail.complete(call, undefined);
    await audit.close();
    await database.close();
    // As stored by a program that does not escape such characters.
    const sqlite = new DatabaseSync(notes);
    const columns = sqlite.prepare("select * from pragma_table_info('audit_events')").all();
    for (const { name, type } of columns) {
      if (`${type}`.toLowerCase() !== "text") continue;
      sqlite.exec(`update audit_events set "${name}" = replace("${name}", 'MARK', '${ID}')`);
    }
    sqlite.close();
  });

  test("relationship list and delete", () => {
    for (const format of ["text", "json", "ndjson"]) {
      const { status, stdout } = run([
        "relationship",
        "list",
        "--store",
        relationships,
        "--format",
        format,
      ]);
      expect(status).toBe(0);
      expect(stdout).toContain("\\u202e");
      if (format === "text") continue;
      const [found] = [JSON.parse(stdout)].flat();
      expect(found).toMatchObject({ resource: { id: ID }, subject: { id: ID } });
    }
    const dryRun = run(["relationship", "delete", "--store", relationships, "--all", "--dry-run"]);
    expect(dryRun.stdout).toContain("\\u202e");
  });

  test("relationship list --misfit", () => {
    writeFileSync(join(folder, `${HOSTILE}-new.zed`), "definition user {}\ndefinition doc {}\n");
    for (const format of ["text", "json", "ndjson"]) {
      const selection = ["--misfit", "--model", `${HOSTILE}-new.zed`, "--format", format];
      const { status } = run(["relationship", "list", "--store", relationships, ...selection]);
      expect(status).toBe(1);
    }
  });

  test("audit list and export", () => {
    for (const command of ["list", "export"]) {
      for (const format of ["text", "json", "ndjson"]) {
        const { status, stdout } = run(["audit", command, "--store", notes, "--format", format]);
        expect(status).toBe(0);
        expect(stdout).toContain("\\u202e");
        if (format === "ndjson") expect(JSON.parse(stdout).data.resource).toBe(`doc:${ID}`);
        if (format === "json") expect(stdout).toContain('"resource"');
      }
    }
  });

  test.each(["text", "ndjson"])("audit follow as %s", async (format) => {
    const args = ["audit", "follow", "--store", notes, "--from-start", "--format", format];
    const child = spawn(process.execPath, [join(ROOT, "bin/svc-access"), ...args]);
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.includes("\n")) child.kill("SIGTERM");
    });
    const [status] = await once(child, "close");
    expect(status).toBe(0);
    expect(stdout).toContain("\\u202e");
    expectHarmless(stdout);
  });
});
