/** `generate --check` compares the committed files with what would be generated, and writes nothing. */
import { appendFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runSvcAccess } from "../support/svc-access.ts";
import { Workspace } from "../support/workspace.ts";

const NOTES = `syntax = "proto3";
package notes.v1;
import "svc/access/v1/policy.proto";
service NoteService {
  rpc Get(GetRequest) returns (GetResponse) {
    option (svc.access.v1.policy) = {exposure: PUBLIC rate_limit: {qps: 5}};
  }
}
message GetRequest {}
message GetResponse {}
`;

let workspace: Workspace;

beforeAll(() => {
  workspace = new Workspace({ "notes/v1/notes.proto": NOTES });
});

afterAll(() => workspace[Symbol.dispose]());

const run = (...flags: string[]) =>
  runSvcAccess(["generate", ".", "--out", "gen", ...flags], { cwd: workspace.folder });

test("without the folder all files are missing, and none is written", () => {
  const { status, stdout } = run("--check");
  expect(status).toBe(1);
  expect(stdout).toContain("gen/notes/v1/notes_server.ts is missing\n");
  expect(readdirSync(workspace.folder)).not.toContain("gen");
});

test("files that were just generated match; others in the folder do not matter", () => {
  expect(run().status).toBe(0);
  appendFileSync(join(workspace.folder, "gen/notes/v1/notes_pb.ts"), "export {};\n");
  const { status, stdout } = run("--check");
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^\d files in gen match\n$/),
  });
});

test("files that differ or are missing are listed, and stay as they are", () => {
  appendFileSync(join(workspace.folder, "gen/policies.json"), "\n");
  rmSync(join(workspace.folder, "gen/routes/notes.v1.json"));
  for (const _ of ["first", "again"]) {
    const { status, stdout, stderr } = run("--check");
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: "gen/policies.json differs\ngen/routes/notes.v1.json is missing\n",
    });
    expect(stderr).toMatch(/2 of \d files in gen do not match; generate again, and commit\n$/);
  }
});

test("an input that cannot be read is an error of usage", () => {
  const { status } = runSvcAccess(["generate", "nowhere.binpb", "--out", "gen", "--check"], {
    cwd: workspace.folder,
  });
  expect(status).toBe(2);
});

test("a folder in place of a file is an error of usage", () => {
  mkdirSync(join(workspace.folder, "other/policies.json"), { recursive: true });
  const { status, stderr } = run("--out", "other", "--check");
  expect(status).toBe(2);
  expect(stderr).toContain("other/policies.json cannot be compared");
});
